package known

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/parquet"
	"dealflow/load/runs"
	"dealflow/schemas/lake"
)

// feedKey identifies a feed: a market belongs to one service.
type feedKey struct{ market, kind string }

// knownVersion is a version of a deal, and the commits from and until which it was current.
type knownVersion struct {
	deal    int64
	version int32
	from    int32
	to      int32 // the commit that replaced or removed it; 0 for none
}

// Versions are those of each feed, sorted by deal and version.
type Versions map[feedKey][]knownVersion

// How many files of deal_versions are read side by side: of many rows, all of which are read, and others.
const (
	largeAtOnce = 4
	filesAtOnce = 32
	manyRows    = 100_000
)

// readAtOnce returns how many of some files may be read side by side, of all their rows.
func readAtOnce(files []lake.File) int {
	var rows int64
	for i := range files {
		rows += files[i].Rows
	}
	if rows > manyRows {
		return largeAtOnce
	}
	return filesAtOnce
}

// Reader reads when versions became known. It is safe for concurrent use.
type Reader struct {
	lake   *load.Lake
	mem    memory.Allocator
	names  []runs.Name      // of all runs; that of commit n is at n-1
	adders map[string]int64 // number of the commit of each run
}

// New reads the names of all commits of a lake. mem is where columns are read to.
func New(ctx context.Context, l *load.Lake, mem memory.Allocator) (*Reader, error) {
	names, err := l.Names(ctx)
	if err != nil {
		return nil, fmt.Errorf("names of the runs: %w", err)
	}
	r := &Reader{lake: l, mem: mem, names: names, adders: map[string]int64{}}
	for i := range names {
		r.adders[names[i].RunID] = names[i].Number
	}
	return r, nil
}

// Names names all runs: that of commit n is at n-1. The caller must not change the slice.
func (r *Reader) Names() []runs.Name { return r.names }

// AdderOf returns the number of the commit that added a file; 0 if the lake has none of the file's run.
func (r *Reader) AdderOf(file *lake.File) int64 { return r.adders[file.RunID()] }

// HashOf returns the SHA-256 of a commit's bytes.
func (r *Reader) HashOf(number int64) string { return r.names[number-1].SHA256 }

// KnownAt returns the instant of a commit.
func (r *Reader) KnownAt(number int64) lake.Instant { return r.names[number-1].KnownAt }

// commitOf returns the number of the commit at which an instant was known.
func (r *Reader) commitOf(instant int64) (int32, error) {
	i, found := slices.BinarySearchFunc(r.names, instant, func(n runs.Name, instant int64) int { return cmp.Compare(n.KnownAt.UnixMicro(), instant) })
	if !found {
		return 0, fmt.Errorf("deal_versions names the instant %s, which no commit has; run `dealflow verify`", lake.At(microTime(instant)))
	}
	return int32(i + 1), nil
}

// Since returns the versions of all feeds that became known after a commit, 0 for all. Of later versions of the same deal,
// each says until when the one before was current.
func (r *Reader) Since(ctx context.Context, after int64) (Versions, error) {
	files := slices.DeleteFunc(r.lake.Log().Files(lake.HistoryTable(lake.DealVersions)), func(file lake.File) bool {
		adder, ok := r.adders[file.RunID()]
		return ok && adder <= after // its rows were known before
	})
	parts := make([]Versions, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readAtOnce(files))
	for i := range files {
		group.Go(func() (err error) {
			parts[i], err = r.sinceIn(ctx, &files[i], after)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	known := Versions{}
	for _, part := range parts {
		for feed, versions := range part {
			known[feed] = append(known[feed], versions...)
		}
	}
	for _, versions := range known {
		slices.SortFunc(versions, compareVersions)
		for i := range len(versions) - 1 {
			if versions[i+1].deal == versions[i].deal {
				versions[i].to = versions[i+1].from
			}
		}
	}
	return known, nil
}

// sinceIn returns the versions in a file of deal_versions that became known after a commit, in the order of its rows.
func (r *Reader) sinceIn(ctx context.Context, file *lake.File, after int64) (Versions, error) {
	known := Versions{}
	var last feedKey // the rows are sorted by market and kind
	err := parquet.Scan(ctx, r.lake.Store(), r.mem, file.Path, []string{"kind", "deal_id", "version", "known_at", "market"}, nil, func(rec arrow.Record) error {
		kinds, ids, versions := rec.Column(0).(*array.String), rec.Column(1).(*array.Int64), rec.Column(2).(*array.Int32)
		instants, markets := rec.Column(3).(*array.Timestamp), rec.Column(4).(*array.String)
		for row := range int(rec.NumRows()) {
			commit, err := r.commitOf(int64(instants.Value(row)))
			if err != nil {
				return err
			}
			if int64(commit) <= after {
				continue
			}
			if kind, market := kinds.Value(row), markets.Value(row); kind != last.kind || market != last.market {
				last = feedKey{strings.Clone(market), strings.Clone(kind)}
			}
			known[last] = append(known[last], knownVersion{deal: ids.Value(row), version: versions.Value(row), from: commit})
		}
		return nil
	})
	return known, err
}

func compareVersions(a, b knownVersion) int {
	return cmp.Or(cmp.Compare(a.deal, b.deal), cmp.Compare(a.version, b.version))
}

// Closed returns the versions that others of k, known after a commit, have replaced or removed, with the commits from and until
// which they were current.
func (r *Reader) Closed(ctx context.Context, k Versions, after int64) (Versions, error) {
	closed := Versions{}
	for feed, versions := range k {
		for _, v := range versions {
			if v.version > 1 && int64(v.from) > after {
				closed[feed] = append(closed[feed], knownVersion{deal: v.deal, version: v.version - 1, to: v.from})
			}
		}
	}
	files := r.lake.Log().Files(lake.HistoryTable(lake.DealVersions))
	parts := make([][]beginning, len(files))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(filesAtOnce)
	for i := range files {
		group.Go(func() (err error) {
			parts[i], err = r.beginningsIn(ctx, &files[i], closed)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, part := range parts {
		for _, b := range part {
			b.version.from = b.commit
		}
	}
	return closed, nil
}

// beginning says at which commit a version became known.
type beginning struct {
	version *knownVersion
	commit  int32
}

// beginningsIn finds those of versions that a file of deal_versions has.
func (r *Reader) beginningsIn(ctx context.Context, file *lake.File, versions Versions) (found []beginning, err error) {
	var open parquet.Once
	defer open.Close()
	for _, market := range file.Markets() {
		var deals []int64
		for feed, all := range versions {
			if feed.market == string(market) {
				deals = append(deals, dealsOf(within(all, file))...)
			}
		}
		if len(deals) == 0 {
			continue
		}
		slices.Sort(deals)
		f, err := open.Get(ctx, r.lake.Store(), file.Path)
		if err != nil {
			return nil, err
		}
		err = f.ScanAt(ctx, r.mem, file, market, []string{"kind", "deal_id", "version", "known_at"}, deals, func(rec arrow.Record, _ int64) error {
			kinds, ids, numbers, instants := rec.Column(0).(*array.String), rec.Column(1).(*array.Int64), rec.Column(2).(*array.Int32), rec.Column(3).(*array.Timestamp)
			for row := range int(rec.NumRows()) {
				same := versions[feedKey{string(market), kinds.Value(row)}]
				at, ok := slices.BinarySearchFunc(same, knownVersion{deal: ids.Value(row), version: numbers.Value(row)}, compareVersions)
				if !ok {
					continue
				}
				commit, err := r.commitOf(int64(instants.Value(row)))
				if err != nil {
					return err
				}
				found = append(found, beginning{&same[at], commit})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// within returns those of sorted versions whose deals a file may have.
func within(versions []knownVersion, file *lake.File) []knownVersion {
	from, _ := slices.BinarySearchFunc(versions, knownVersion{deal: file.MinDealID}, compareVersions)
	to, _ := slices.BinarySearchFunc(versions, file.MaxDealID, func(v knownVersion, greatest int64) int {
		if v.deal <= greatest {
			return -1
		}
		return 1
	})
	return versions[from:max(from, to)]
}

// dealsOf returns the deals of sorted versions.
func dealsOf(versions []knownVersion) []int64 {
	deals := make([]int64, len(versions))
	for i := range versions {
		deals[i] = versions[i].deal
	}
	return slices.Compact(deals)
}

// mayHave returns those of sorted versions whose rows a file of history may have. first is a commit at or before the one at
// which its first row became known.
func (r *Reader) mayHave(versions []knownVersion, file *lake.File, first int64) (found []knownVersion) {
	last := r.adders[file.RunID()]
	if r.IsPull(last) {
		first = last
	}
	for _, v := range within(versions, file) {
		// Of a version that no file of deal_versions has, nothing is known.
		if from := int64(v.from); from == 0 || from >= first && (last == 0 || from <= last) {
			found = append(found, v)
		}
	}
	return found
}

// finder finds versions of a feed in the order of a file's rows: mostly the next one or the same.
type finder struct {
	versions []knownVersion
	at       int
}

func (f *finder) find(deal int64, version int32) (knownVersion, bool) {
	want := knownVersion{deal: deal, version: version}
	for range 2 {
		if f.at < len(f.versions) && compareVersions(f.versions[f.at], want) == 0 {
			return f.versions[f.at], true
		}
		f.at++
	}
	i, ok := slices.BinarySearchFunc(f.versions, want, compareVersions)
	f.at = i
	if !ok {
		return want, false
	}
	return f.versions[i], true
}
