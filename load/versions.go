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
	"dealflow/load/state"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Latest returns the newest known version of every deal of every feed. It reads the newest checkpoint's state and the
// versions committed since, or, without a readable state, all of history.
func (l *Lake) Latest(ctx context.Context, mem memory.Allocator) (map[api.Feed]lake.Latest, error) {
	files := l.log.Files(lake.HistoryTable(lake.DealVersions))
	if l.log.checkpoint == 0 {
		newest, err := l.newestIn(ctx, mem, files)
		return newest.Latest(), err
	}
	var known map[api.Feed]lake.Latest
	var stateErr error
	reading, readingCtx := errgroup.WithContext(ctx)
	reading.Go(func() error {
		known, stateErr = ReadState(readingCtx, l.store, l.log.checkpoint)
		return nil
	})
	var newest state.Newest
	reading.Go(func() (err error) { // side by side: mostly the state can be read
		newest, err = l.newestIn(readingCtx, mem, slices.DeleteFunc(slices.Clone(files), func(f lake.File) bool { return !l.log.addedSince[f.Path] }))
		return err
	})
	err := reading.Wait()
	if err == nil && stateErr != nil {
		if err = ctx.Err(); err == nil {
			newest, err = l.newestIn(ctx, mem, files)
		}
	}
	if err != nil {
		return nil, err
	}
	newest.Seed(known)
	return newest.Latest(), nil
}

// newestIn returns the newest versions in files of deal_versions.
func (l *Lake) newestIn(ctx context.Context, mem memory.Allocator, files []lake.File) (state.Newest, error) {
	newest := state.Newest{}
	columns := state.Columns()
	var mu sync.Mutex // of newest: the order of versions does not matter
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(32) // an open file takes some megabytes at most
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
	return newest, reading.Wait()
}

// ObservedAfter returns, for each deal with a version that became known after an instant, when the newest such version
// was observed.
func (l *Lake) ObservedAfter(ctx context.Context, mem memory.Allocator, after lake.Instant) (map[api.Feed]map[int64]time.Time, error) {
	found := state.Observed{}
	for _, f := range l.log.Files(lake.HistoryTable(lake.DealVersions)) {
		if err := parquet.Scan(ctx, l.store, mem, f.Path, state.ObservedColumns(), nil, found.Adder(after)); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// lastObserved returns when the newest version of each of some deals of a feed was observed. ids are sorted.
func (l *Lake) lastObserved(ctx context.Context, feed api.Feed, ids []int64) (map[int64]time.Time, error) {
	found := state.Observed{}
	for _, f := range l.log.Files(lake.HistoryTable(lake.DealVersions)) {
		if err := parquet.ScanDeals(ctx, l.store, memory.DefaultAllocator, &f, feed.Market, state.ObservedColumns(), ids, new(int), found.Adder(lake.Instant{})); err != nil {
			return nil, err
		}
	}
	return found[feed], nil
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
	files := slices.DeleteFunc(l.log.Files(lake.HistoryTable(lake.DealVersions)), func(f lake.File) bool { return !f.HasMarket(feed.Market) })
	slices.Reverse(files) // the newest first: most callers ask for each deal's last version
	for some := range slices.Chunk(files, payloadFiles) {
		parts := make([]map[int64]Payload, len(some))
		reading, readCtx := errgroup.WithContext(ctx)
		for i, f := range some {
			reading.Go(func() (err error) {
				parts[i], err = l.payloadsIn(readCtx, mem, f, feed, versions, found)
				return err
			})
		}
		if err := reading.Wait(); err != nil {
			return nil, err
		}
		for _, part := range parts {
			maps.Copy(found, part)
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

// payloadFiles is the number of files whose payloads are read side by side.
const payloadFiles = 8

// payloadsIn returns the payloads that one file contains, of those that are not in found. It reads the keys of the row groups that may contain a
// wanted version, then the payloads of those that do: payloads are nearly all of the file's bytes.
func (l *Lake) payloadsIn(ctx context.Context, mem memory.Allocator, f lake.File, feed api.Feed, versions map[int64]int32, found map[int64]Payload) (map[int64]Payload, error) {
	missing := slices.DeleteFunc(slices.Sorted(maps.Keys(versions)), func(id int64) bool {
		_, have := found[id]
		return have || id < f.MinDealID || id > f.MaxDealID
	})
	if len(missing) == 0 {
		return nil, nil
	}
	wanted := func(rec arrow.Record, row int) (int64, bool) {
		id := rec.Column(1).(*array.Int64).Value(row)
		version, ok := versions[id]
		return id, ok && rec.Column(0).(*array.String).Value(row) == string(feed.Kind) && rec.Column(2).(*array.Int32).Value(row) == version
	}
	file, err := parquet.Open(ctx, l.store, f.Path)
	if err != nil {
		return nil, err
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
		return nil, err
	}
	here := map[int64]Payload{}
	return here, file.Scan(ctx, mem, []string{"kind", "deal_id", "version", "payload", "run_id"}, parquet.OnlyGroups(groups), func(rec arrow.Record) error {
		for row := range int(rec.NumRows()) {
			if id, ok := wanted(rec, row); ok && rec.Column(3).IsValid(row) {
				here[id] = Payload{
					Bytes: []byte(rec.Column(3).(*array.String).Value(row)),
					RunID: strings.Clone(rec.Column(4).(*array.String).Value(row)),
				}
			}
		}
		return nil
	})
}
