package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// rebuilt is one partition of a feed's tables as it is rebuilt from payloads: a year of history, or a day's snapshot.
type rebuilt struct {
	*replay
	feed      api.Feed
	where     string // the partition, for the report
	tables    []rebuiltTable
	flattener *transform.Flattener
	lifter    *transform.Lifter // of rows of older schema versions; nil if there are none
	bases     *lake.Bases
	rows      *transform.Batches // of the last element of files
	files     []*parquet.Tables  // one per portion of the versions
	stretches parquet.Stretches  // of the last element of files
}

// rebuiltTable is one table of a rebuilt partition.
type rebuiltTable struct {
	name    string // as in commits: "history.bond_priced_deals"
	before  []lake.File
	compare *comparison
}

// newRebuilt begins a partition. before returns a table's name, as in commits, and its previous files.
func (p *replay) newRebuilt(ctx context.Context, feed api.Feed, where string, before func(*lake.Table) (string, []lake.File)) (*rebuilt, error) {
	bases, err := p.lake.Bases(ctx, feed)
	if err != nil {
		return nil, err
	}
	b := &rebuilt{replay: p, feed: feed, where: where, flattener: transform.NewFlattener(feed, api.Base{}), bases: bases}
	for _, table := range lake.FeedTables(feed) {
		name, files := before(table)
		if b.lifter == nil && slices.ContainsFunc(files, isOutdated) {
			b.lifter = transform.NewLifter(b.Memory, feed)
		}
		t := rebuiltTable{name: name, before: files, compare: newComparison(table, feed.Market, nil)}
		if slices.ContainsFunc(files, isOutdated) || table.Since > 1 {
			t.compare.lifter = b.lifter
		}
		b.tables = append(b.tables, t)
	}
	return b, nil
}

// isOutdated reports whether a file has an older schema version.
func isOutdated(f lake.File) bool { return f.SchemaVersion < lake.SchemaVersion }

// beginHistory begins the files of a portion of a year's history.
func (b *rebuilt) beginHistory(year int) {
	b.beginFiles(transform.NewHistoryBatches(b.Memory, b.feed), func(t *lake.Table) (*parquet.Writer, error) {
		return b.tx.HistoryOf(t.Name, b.feed.Market, year)
	}, nil)
}

// beginFiles begins files. drift is as in parquet.Stretches.
func (b *rebuilt) beginFiles(rows *transform.Batches, create func(*lake.Table) (*parquet.Writer, error), drift func() []lake.Drift) {
	files := parquet.NewTables(rows, create)
	files.Seen = func(table int, rows arrow.Record) { b.tables[table].compare.addWritten(rows) }
	b.rows, b.files, b.stretches = rows, append(b.files, files), parquet.Stretches{Tables: files, Drift: drift}
}

// append flattens a version. Its links are relative to the base URL of its run.
func (b *rebuilt) append(v *storedVersion) error {
	if err := b.stretches.Begin(v.DealID); err != nil {
		return err
	}
	base, err := b.bases.Of(v.RunID)
	if err == nil {
		b.flattener.SetBase(base)
		var id int64
		if id, err = b.flattener.Read(v.Payload); err == nil && id != v.DealID {
			err = fmt.Errorf("got the payload of deal %d, want deal %d", id, v.DealID)
		}
	}
	if err != nil {
		return fmt.Errorf("%s deal %d version %d: the payload can no longer be read: %w; run `dealflow verify --read-data`", b.feed, v.DealID, v.Version, err)
	}
	if b.lifter != nil {
		b.lifter.RememberRows(b.flattener, v.DealID, v.Version)
	}
	b.rows.Append(b.flattener, v.DealID, v.Version)
	return b.files[len(b.files)-1].Drain()
}

// compareTables compares each table with its previous files, and puts the files that replace them into the lake.
func (b *rebuilt) compareTables(ctx context.Context) error {
	for i := range b.tables {
		if err := b.compareTable(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (b *rebuilt) compareTable(ctx context.Context, i int) error {
	t := &b.tables[i]
	for _, f := range t.before {
		if err := t.compare.addBefore(ctx, b.replay, f); err != nil {
			return err
		}
	}
	t.compare.addLater(b.tables[0].compare)
	different := t.compare.different()
	outdated := slices.ContainsFunc(t.before, isOutdated) || t.compare.later > 0
	replace := b.cfg.Force || outdated || different > 0 || t.compare.damaged > 0
	if replace { // otherwise end deletes the files
		for _, files := range b.files {
			if err := files.FinishTable(ctx, i); err != nil {
				return err
			}
		}
	}
	b.record(t, different, replace && len(t.before)+int(t.compare.now) > 0)
	return nil
}

// record adds the table's partition to the report.
func (b *rebuilt) record(t *rebuiltTable, different int64, replaced bool) {
	if len(t.before) == 0 && t.compare.now == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	report := b.table(t.name)
	report.FilesBefore += len(t.before)
	report.RowsBefore += t.compare.before
	report.Rows += t.compare.now
	report.Different += different
	report.Damaged += t.compare.damaged
	report.Improved = append(report.Improved, t.compare.improved()...)
	if different > 0 { // also if a file is damaged: its rows are missing
		report.Where = append(report.Where, b.where)
	}
	if replaced {
		b.replace(report, b.feed.Market, t.before)
	}
}

// end frees memory, and deletes the files that were not put into the lake.
func (b *rebuilt) end() error {
	var errs []error
	for _, files := range b.files {
		errs = append(errs, files.Release())
	}
	b.files = nil
	if b.lifter != nil {
		b.lifter.Release()
	}
	return errors.Join(errs...)
}

// payloadChunk is the number of payloads of a snapshot that are in memory at once.
const payloadChunk = 1024

// snapshots rebuilds the snapshots of a market's feeds.
func (p *replay) snapshots(ctx context.Context, versions []lake.File, feeds []api.Feed) (err error) {
	days := p.lake.Log().SnapshotFiles()
	if !slices.ContainsFunc(feeds, func(f api.Feed) bool { return len(days[f]) > 0 }) {
		return nil
	}
	copied, err := copyFiles(ctx, p.lake, p.tx, cmp.Or(p.Cache, p.stored), versions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.close()) }()
	for _, feed := range feeds {
		instants := p.lake.Log().SnapshotInstants(feed)
		for _, day := range slices.Sorted(maps.Keys(days[feed])) {
			instant, taken := instants[day]
			if !taken {
				return fmt.Errorf("no commit names the snapshot of %s on %s; run `dealflow verify`", feed, day)
			}
			if err := p.snapshot(ctx, copied, feed, day, instant, days[feed][day]); err != nil {
				return fmt.Errorf("snapshot of %s on %s: %w", feed, day, err)
			}
		}
	}
	return nil
}

// snapshot rebuilds a day's snapshot: the versions that were current as of its commit's instant.
func (p *replay) snapshot(ctx context.Context, copied *copies, feed api.Feed, day string, instant lake.Instant, files []lake.File) (err error) {
	current, err := copied.currentVersions(ctx, feed, instant)
	if err != nil {
		return err
	}
	batches, err := transform.NewSnapshotBatches(p.Memory, feed, day)
	if err != nil {
		return err
	}
	b, err := p.newRebuilt(ctx, feed, "market="+string(feed.Market)+"/snapshot_date="+day, func(table *lake.Table) (string, []lake.File) {
		name := lake.SnapshotTable(table.Name)
		return name, slices.DeleteFunc(slices.Clone(files), func(f lake.File) bool { return f.Table != name })
	})
	if err != nil {
		return err
	}
	b.beginFiles(batches, func(t *lake.Table) (*parquet.Writer, error) { return p.tx.Snapshot(t.Name, feed.Market, day) }, b.flattener.TakeDrift)
	defer func() { err = errors.Join(err, b.end()) }()
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(current)), payloadChunk) {
		if err := b.appendDeals(ctx, copied, ids, current); err != nil {
			return err
		}
	}
	if err := b.stretches.End(); err != nil {
		return err
	}
	return b.compareTables(ctx)
}

// appendDeals flattens the given versions of some deals.
func (b *rebuilt) appendDeals(ctx context.Context, copied *copies, ids []int64, versions map[int64]int32) error {
	wanted := make(map[int64]int32, len(ids))
	for _, id := range ids {
		wanted[id] = versions[id]
	}
	payloads, err := copied.payloads(ctx, b.feed, wanted)
	if err != nil {
		return err
	}
	for _, id := range ids {
		v := &storedVersion{DealID: id, Version: versions[id], RunID: payloads[id].RunID, Payload: payloads[id].Bytes}
		if err := b.append(v); err != nil {
			return err
		}
	}
	return nil
}
