package catalog

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/schemas/lake"
	"dealflow/sql"
	"dealflow/transform"
)

// pairChunk is the number of pairs of versions of a feed that are compared at a time: all their payloads are in memory
// together, and so are those of another feed.
const pairChunk = 1024

// diff returns the function that compares the payloads of neighbouring versions of a state of the lake. It reads them through
// the mirror.
func (m *Maker) diff(s state, local *mirror.Mirror) sql.DiffFunc {
	return func(ctx context.Context, pairs []lake.VersionPair, emit func(*lake.VersionPair, []lake.FieldChange) error) error {
		feed := pairs[0].Feed
		files := slices.DeleteFunc(s.filesOf(pairs), func(f lake.File) bool { return !f.HasMarket(feed.Market) })
		near, err := local.Near(ctx, files)
		if err != nil {
			return err
		}
		var deals []int64 // sorted, as the pairs are
		for i := range pairs {
			deals = append(deals, pairs[i].DealID)
		}
		contents, err := m.Lake.Through(near).Contents(ctx, memory.DefaultAllocator, files, feed, deals)
		if err != nil {
			return err
		}
		bases, err := m.Lake.Bases(ctx, feed)
		if err != nil {
			return err
		}
		bases.AddRuns(s.pending, feed)
		d := pairDiffer{differ: transform.NewDiffer(feed), bases: bases}
		for chunk := range slices.Chunk(pairs, pairChunk) {
			var keys []load.VersionKey
			for i := range chunk {
				keys = append(keys, load.VersionKey{DealID: chunk[i].DealID, Version: chunk[i].Before}, load.VersionKey{DealID: chunk[i].DealID, Version: chunk[i].After})
			}
			payloads, err := contents.Read(ctx, keys)
			if err != nil {
				return err
			}
			for i := range chunk {
				if err := emit(&chunk[i], d.compare(&chunk[i], payloads)); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// filesOf lists the files of deal_versions that may contain the versions of pairs: those of the runs that added them,
// and those that maintenance has merged.
func (s state) filesOf(pairs []lake.VersionPair) []lake.File {
	wanted := map[string]bool{}
	for i := range pairs {
		wanted[pairs[i].BeforeRun], wanted[pairs[i].AfterRun] = true, true
	}
	pulled := map[string]bool{}
	for i := range s.commits {
		if len(s.commits[i].Feeds) > 0 {
			pulled[s.commits[i].RunID] = true
		}
	}
	table := lake.HistoryTable(lake.DealVersions)
	var files []lake.File
	for i := range s.files {
		if f := &s.files[i]; f.Table == table && (wanted[f.RunID()] || !pulled[f.RunID()]) {
			files = append(files, *f)
		}
	}
	return files
}

// pairDiffer compares the pairs of one feed.
type pairDiffer struct {
	differ *transform.Differ
	bases  *lake.Bases
}

// unreadable is the result for a pair of which a payload is absent or cannot be read any more.
var unreadable = []lake.FieldChange{{Change: lake.ChangeUnreadable}}

// compare returns what changed between the two versions of a pair.
func (d *pairDiffer) compare(p *lake.VersionPair, payloads map[load.VersionKey]load.Payload) []lake.FieldChange {
	before, ok := d.content(payloads, load.VersionKey{DealID: p.DealID, Version: p.Before}, p.BeforeTranches)
	if !ok {
		return unreadable
	}
	after, ok := d.content(payloads, load.VersionKey{DealID: p.DealID, Version: p.After}, p.AfterTranches)
	if !ok {
		return unreadable
	}
	changes, err := d.differ.Diff(before, after)
	if err != nil {
		return unreadable
	}
	return changes
}

func (d *pairDiffer) content(payloads map[load.VersionKey]load.Payload, key load.VersionKey, tranches []int32) (transform.Content, bool) {
	payload, ok := payloads[key]
	if !ok {
		return transform.Content{}, false
	}
	base, err := d.bases.Of(payload.RunID)
	if err != nil {
		return transform.Content{}, false
	}
	return transform.Content{Payload: payload.Bytes, Base: base, Tranches: tranches}, true
}
