package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/load"
	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// rebuilt is one partition of the tables of a feed, history's of a year or a day's snapshot, as it comes
// anew from the payloads.
type rebuilt struct {
	*replay
	feed      api.Feed
	where     string // the partition, for people
	tables    []rebuiltTable
	flattener *transform.Flattener
	bases     *load.Bases
	sets      []*tableFiles // one for each portion of the versions
}

// rebuiltTable is one table of it.
type rebuiltTable struct {
	name    string // as commits name it
	before  []lake.File
	compare *load.Comparison
}

// newRebuilt begins a partition; before gives what there is of a table: its name and files.
func (p *replay) newRebuilt(feed api.Feed, where string, before func(*lake.Table) (string, []lake.File)) *rebuilt {
	b := &rebuilt{replay: p, feed: feed, where: where, flattener: transform.NewFlattener(feed, api.Base{}), bases: load.NewBases(p.lake.Log().Runs, feed)}
	for _, table := range lake.FeedTables(feed) {
		name, files := before(table)
		b.tables = append(b.tables, rebuiltTable{name, files, load.NewComparison(table, files)})
	}
	return b
}

// beginHistory begins the files of a portion of a year's history.
func (b *rebuilt) beginHistory(year int) {
	b.beginFiles(transform.NewHistoryBatches(b.Memory, b.feed), func(t *lake.Table) (*parquet.Writer, error) {
		return b.load.HistoryOf(t, b.feed.Market, year)
	})
}

func (b *rebuilt) beginFiles(batches *transform.Batches, open func(*lake.Table) (*parquet.Writer, error)) {
	set := newTableFiles(batches, open)
	set.seen = func(table int, rows arrow.Record) { b.tables[table].compare.Wrote(rows) }
	b.sets = append(b.sets, set)
}

// append flattens a version. Its links are relative to the address that it came from.
func (b *rebuilt) append(v *load.StoredVersion) error {
	base, err := b.bases.Of(v.RunID)
	if err == nil {
		b.flattener.SetBase(base)
		var id int64
		if id, err = b.flattener.Read(v.Payload); err == nil && id != v.DealID {
			err = fmt.Errorf("the payload says that it is deal %d", id)
		}
	}
	if err != nil {
		return fmt.Errorf("%s deal %d version %d cannot be read any more: %w", b.feed, v.DealID, v.Version, err)
	}
	return b.sets[len(b.sets)-1].append(b.flattener, v.DealID, v.Version)
}

// flush writes what a portion has left to its files, which do not go into the lake yet.
func (b *rebuilt) flush() error {
	set := b.sets[len(b.sets)-1]
	for table := range set.writers {
		if err := set.flush(table); err != nil {
			return err
		}
	}
	return nil
}

// settle compares table by table, and puts the files of those into the lake that are to be replaced.
func (b *rebuilt) settle(ctx context.Context) error {
	for i := range b.tables {
		if err := b.settleTable(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (b *rebuilt) settleTable(ctx context.Context, i int) error {
	t := &b.tables[i]
	if err := t.compare.Had(ctx, b.load, t.before); err != nil {
		return err
	}
	different := t.compare.Different()
	outdated := slices.ContainsFunc(t.before, func(f lake.File) bool { return f.SchemaVersion < lake.SchemaVersion })
	replace := b.cfg.Force || outdated || different > 0
	for _, set := range b.sets {
		w := set.writers[i]
		if w == nil || !replace {
			continue // end drops what is not wanted
		}
		set.writers[i] = nil
		if err := w.Finish(ctx); err != nil {
			return err
		}
	}
	b.note(t, different, replace && len(t.before)+int(t.compare.Now) > 0)
	return nil
}

// note adds the table's partition to the report.
func (b *rebuilt) note(t *rebuiltTable, different int64, replaced bool) {
	if len(t.before) == 0 && t.compare.Now == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.table(t.name)
	of.FilesBefore += len(t.before)
	of.RowsBefore += t.compare.Before
	of.Rows += t.compare.Now
	of.Different += different
	of.Damaged += t.compare.Damaged
	of.Improved = append(of.Improved, t.compare.Improved()...)
	if different > 0 { // as it is where a file is damaged: its rows are missing
		of.Where = append(of.Where, b.where)
	}
	if replaced {
		b.replace(of, t.before)
	}
}

// end frees what is left, and drops the files that were not put into the lake.
func (b *rebuilt) end() error {
	var errs []error
	for _, set := range b.sets {
		errs = append(errs, set.end())
	}
	b.sets = nil
	return errors.Join(errs...)
}

// payloadChunk is how many payloads of a snapshot are held at once.
const payloadChunk = 1024

// snapshots rebuilds the snapshots of a market's feeds.
func (p *replay) snapshots(ctx context.Context, versions []lake.File, feeds []api.Feed) (err error) {
	days := p.lake.Log().SnapshotFiles()
	if !slices.ContainsFunc(feeds, func(f api.Feed) bool { return len(days[f]) > 0 }) {
		return nil
	}
	copies, err := p.load.Copies(ctx, versions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copies.Close()) }()
	for _, feed := range feeds {
		instants := p.lake.Log().SnapshotInstants(feed)
		for _, day := range slices.Sorted(maps.Keys(days[feed])) {
			at, taken := instants[day]
			if !taken {
				return fmt.Errorf("no commit says that it took the snapshot of %s of %s; run `dealflow verify`", feed, day)
			}
			if err := p.snapshot(ctx, copies, feed, day, at, days[feed][day]); err != nil {
				return fmt.Errorf("snapshot of %s of %s: %w", feed, day, err)
			}
		}
	}
	return nil
}

// snapshot rebuilds one day: the versions that stood as of the commit that took it.
func (p *replay) snapshot(ctx context.Context, copies *load.Copies, feed api.Feed, day string, at lake.Instant, files []lake.File) (err error) {
	standing, err := copies.Standing(ctx, feed, at)
	if err != nil {
		return err
	}
	batches, err := transform.NewSnapshotBatches(p.Memory, feed, day)
	if err != nil {
		return err
	}
	b := p.newRebuilt(feed, "market="+string(feed.Market)+"/snapshot_date="+day, func(table *lake.Table) (string, []lake.File) {
		name := lake.SnapshotTable(table.Name)
		return name, slices.DeleteFunc(slices.Clone(files), func(f lake.File) bool { return f.Table != name })
	})
	b.beginFiles(batches, func(t *lake.Table) (*parquet.Writer, error) { return p.load.Snapshot(t, feed.Market, day) })
	defer func() { err = errors.Join(err, b.end()) }()
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(standing)), payloadChunk) {
		if err := b.appendDeals(ctx, copies, ids, standing); err != nil {
			return err
		}
	}
	if err := b.flush(); err != nil {
		return err
	}
	return b.settle(ctx)
}

// appendDeals flattens the given versions of some deals.
func (b *rebuilt) appendDeals(ctx context.Context, copies *load.Copies, ids []int64, versions map[int64]int32) error {
	wanted := make(map[int64]int32, len(ids))
	for _, id := range ids {
		wanted[id] = versions[id]
	}
	payloads, err := copies.Payloads(ctx, b.feed, wanted)
	if err != nil {
		return err
	}
	for _, id := range ids {
		v := &load.StoredVersion{DealID: id, Version: versions[id], RunID: payloads[id].RunID, Payload: payloads[id].Bytes}
		if err := b.append(v); err != nil {
			return err
		}
	}
	return nil
}
