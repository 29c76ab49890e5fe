package load

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"dealflow/load/parquet"
	"dealflow/load/runs"
	"dealflow/load/state"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Latest returns the newest known version of every deal of every feed. It reads the newest checkpoint's state and the
// versions committed since, or, without a readable state, all of history.
func (l *Lake) Latest(ctx context.Context, mem memory.Allocator) (map[api.Feed]lake.Latest, error) {
	newest := state.Newest{}
	files := l.log.Files(lake.HistoryTable(lake.DealVersions))
	if n := l.log.checkpoint; n > 0 {
		if known, err := ReadState(ctx, l.store, n); err == nil {
			newest.Seed(known)
			files = slices.DeleteFunc(files, func(f lake.File) bool { return !l.log.addedSince[f.Path] })
		} else if ctx.Err() != nil {
			return nil, err
		}
	}
	columns := state.Columns()
	var mu sync.Mutex // of newest: the order of versions does not matter
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(runs.SideBySide / 2) // an open file takes some megabytes
	for _, f := range files {
		reading.Go(func() error {
			return parquet.Scan(ctx, l.store, mem, f.Path, columns, nil, func(rec arrow.Record) error {
				mu.Lock()
				defer mu.Unlock()
				newest.Add(rec)
				return nil
			})
		})
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	return newest.Latest(), nil
}

// ObservedAfter returns, for each deal with a version that became known after an instant, when the newest such version
// was observed.
func (l *Lake) ObservedAfter(ctx context.Context, mem memory.Allocator, after lake.Instant) (map[api.Feed]map[int64]time.Time, error) {
	found := map[api.Feed]map[int64]time.Time{}
	columns := []string{"service", "market", "kind", "deal_id", "known_at", "observed_at"}
	for _, f := range l.log.Files(lake.HistoryTable(lake.DealVersions)) {
		err := parquet.Scan(ctx, l.store, mem, f.Path, columns, nil, func(rec arrow.Record) error {
			text := func(i, row int) string { return strings.Clone(rec.Column(i).(*array.String).Value(row)) }
			micros := func(i, row int) int64 { return int64(rec.Column(i).(*array.Timestamp).Value(row)) }
			for row := range int(rec.NumRows()) {
				if micros(4, row) <= after.UnixMicro() {
					continue
				}
				feed := api.Feed{Service: api.Service(text(0, row)), Market: api.Market(text(1, row)), Kind: api.Kind(text(2, row))}
				if found[feed] == nil {
					found[feed] = map[int64]time.Time{}
				}
				id, observed := rec.Column(3).(*array.Int64).Value(row), time.UnixMicro(micros(5, row)).UTC()
				if observed.After(found[feed][id]) {
					found[feed][id] = observed
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Payload is the payload of a version in history: its bytes, and the id of the run that pulled it.
type Payload struct {
	Bytes []byte
	RunID string
}

// Payloads reads the payloads of given versions of a feed's deals; versions maps deal_id to version. A version that
// history lacks is an error.
func (l *Lake) Payloads(ctx context.Context, mem memory.Allocator, feed api.Feed, versions map[int64]int32) (map[int64]Payload, error) {
	found := make(map[int64]Payload, len(versions))
	if len(versions) == 0 {
		return found, nil
	}
	// The newest file first: most callers ask for each deal's last version.
	for _, f := range slices.Backward(l.log.Files(lake.HistoryTable(lake.DealVersions))) {
		if !f.HasMarket(feed.Market) {
			continue
		}
		if err := l.payloadsIn(ctx, mem, f, feed, versions, found); err != nil {
			return nil, err
		}
		if len(found) == len(versions) {
			break
		}
	}
	for id, version := range versions {
		if _, ok := found[id]; !ok {
			return nil, fmt.Errorf("history lacks the payload of %s deal %d version %d; run `dealflow verify`", feed, id, version)
		}
	}
	return found, nil
}

// payloadsIn adds the payloads that one file contains to found. It reads the keys of the row groups that may contain a
// wanted version, then the payloads of those that do: payloads are nearly all of the file's bytes.
func (l *Lake) payloadsIn(ctx context.Context, mem memory.Allocator, f lake.File, feed api.Feed, versions map[int64]int32, found map[int64]Payload) error {
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(versions)), func(id int64) bool {
		_, have := found[id]
		return have || id < f.MinDealID || id > f.MaxDealID
	})
	if len(missing) == 0 {
		return nil
	}
	wanted := func(rec arrow.Record, row int) (int64, bool) {
		id := rec.Column(1).(*array.Int64).Value(row)
		version, ok := versions[id]
		return id, ok && rec.Column(0).(*array.String).Value(row) == string(feed.Kind) && rec.Column(2).(*array.Int32).Value(row) == version
	}
	file, err := parquet.Open(ctx, l.store, f.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	groups := []int{} // not nil: nil means all
	group := -1
	err = file.Scan(ctx, mem, []string{"kind", "deal_id", "version"}, parquet.GroupsOf(&f, feed.Market, parquet.GroupsWith(missing, &group)), func(rec arrow.Record) error {
		for row := range int(rec.NumRows()) {
			if _, ok := wanted(rec, row); ok && !slices.Contains(groups, group) {
				groups = append(groups, group)
			}
		}
		return nil
	})
	if err != nil || len(groups) == 0 {
		return err
	}
	return file.Scan(ctx, mem, []string{"kind", "deal_id", "version", "payload", "run_id"}, parquet.OnlyGroups(groups), func(rec arrow.Record) error {
		for row := range int(rec.NumRows()) {
			if id, ok := wanted(rec, row); ok && rec.Column(3).IsValid(row) {
				found[id] = Payload{
					Bytes: []byte(rec.Column(3).(*array.String).Value(row)),
					RunID: strings.Clone(rec.Column(4).(*array.String).Value(row)),
				}
			}
		}
		return nil
	})
}
