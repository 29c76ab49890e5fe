package load

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
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
		if err := parquet.ScanDeals(ctx, l.store, memory.DefaultAllocator, &f, feed.Market, state.ObservedColumns(), ids, found.Adder(lake.Instant{})); err != nil {
			return nil, err
		}
	}
	return found[feed], nil
}
