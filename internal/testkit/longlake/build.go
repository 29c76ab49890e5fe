package longlake

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// Report describes the lake that was built.
type Report struct {
	Nights   int
	Commits  int64 // nights and compactions
	Versions int64
	Files    int   // that are part of the lake
	Bytes    int64 // of these files
}

// builder executes the nights in order.
type builder struct {
	config Config
	base   api.Base
	clock  *sim.ManualClock
	market *sim.Market
	lake   *load.Lake
	work   string
	feeds  []*feed
}

// Build writes a lake into the folder dir, which must not contain one. After an error the folder must be thrown away.
// After a power failure, too: nothing is flushed to disk. It uses all processors, and its memory contains the deals of
// the market: in full size 1 to 2 GB.
func Build(ctx context.Context, dir string, config Config) (_ *Report, err error) {
	b := &builder{config: config.withDefaults()}
	if b.base, err = api.ParseBase(Base); err != nil {
		return nil, err
	}
	folder, err := dirstore.New(dir)
	if err != nil {
		return nil, err
	}
	if b.lake, err = load.Open(ctx, unsynced{folder}); err == nil {
		return nil, fmt.Errorf("build lake: %s holds a lake already", dir)
	} else if !errors.Is(err, load.ErrNoLake) {
		return nil, err
	}
	if b.work, err = os.MkdirTemp("", "dealflow-longlake-*"); err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.work)) }()
	b.clock = sim.NewManualClock(b.config.start())
	b.market = NewMarket(b.config, b.clock.Now)
	for _, name := range api.Feeds() {
		b.feeds = append(b.feeds, newFeed(name, b.base))
	}
	for _, night := range Nights(b.config) {
		if err := b.night(ctx, night); err != nil {
			return nil, fmt.Errorf("build lake: night of %s: %w", night.Day, err)
		}
	}
	return b.report(), nil
}

// night executes one run, and the compaction that may follow it.
func (b *builder) night(ctx context.Context, night Night) error {
	b.clock.Set(night.Observed)
	err := b.run(ctx, night.RunID, night.Observed, func(run *load.Transaction) error {
		if err := b.write(ctx, run, night); err != nil {
			return err
		}
		commit := lake.Commit{
			Command: "run", KnownAt: lake.At(night.KnownAt), StartedAt: lake.At(night.Observed), FinishedAt: lake.At(night.KnownAt),
			SnapshotDate: night.Day,
		}
		for _, f := range b.feeds {
			commit.Feeds = append(commit.Feeds, f.run)
		}
		return b.commit(ctx, run, commit)
	})
	if err != nil {
		return err
	}
	return b.compactIfNeeded(ctx, night.KnownAt)
}

// run executes work in a transaction of its own.
func (b *builder) run(ctx context.Context, id string, started time.Time, work func(*load.Transaction) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	run, err := b.lake.Begin(load.TransactionConfig{ID: id, Command: "run", Started: started, Clock: b.clock.Now, WorkDir: b.work, Memory: memory.DefaultAllocator})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close(ctx)) }()
	return work(run)
}

// write writes a night's files, several feeds at a time, then the versions, several markets at a time.
func (b *builder) write(ctx context.Context, run *load.Transaction, night Night) error {
	feeds, feedsCtx := errgroup.WithContext(ctx)
	feeds.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range b.feeds {
		feeds.Go(func() error {
			if err := f.night(feedsCtx, run, night, b.market.Deals(f.feed)); err != nil {
				return fmt.Errorf("%s: %w", f.feed, err)
			}
			return nil
		})
	}
	if err := feeds.Wait(); err != nil {
		return err
	}
	markets, marketsCtx := errgroup.WithContext(ctx)
	markets.SetLimit(runtime.GOMAXPROCS(0))
	for _, service := range api.Services() {
		for _, market := range api.Markets(service) {
			listed := slices.DeleteFunc(slices.Clone(b.feeds), func(f *feed) bool { return f.feed.Market != market })
			markets.Go(func() error { return writeVersions(marketsCtx, run, market, listed, night) })
		}
	}
	return markets.Wait()
}

// commit commits a run and writes what is derived from the commit.
func (b *builder) commit(ctx context.Context, run *load.Transaction, commit lake.Commit) error {
	commit.DealflowVersion, commit.Outcome, commit.Checks = "longlake", lake.OutcomeDone, []lake.Check{}
	commit.Remove = append([]string{}, commit.Remove...)
	commit.Feeds = append([]lake.FeedRun{}, commit.Feeds...)
	if _, err := run.Commit(ctx, commit); err != nil {
		return err
	}
	latest := map[api.Feed]lake.Latest{}
	for _, f := range b.feeds {
		latest[f.feed] = f.latest
	}
	return b.lake.WriteDerived(ctx, latest)
}

func (b *builder) report() *Report {
	log := b.lake.Log()
	r := &Report{Nights: len(Nights(b.config)), Commits: log.Number}
	for _, file := range log.AllFiles() {
		r.Files++
		r.Bytes += file.Bytes
		if file.Table == lake.HistoryTable(lake.DealVersions) {
			r.Versions += file.Rows
		}
	}
	return r
}
