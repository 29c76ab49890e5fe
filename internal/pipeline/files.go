package pipeline

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"

	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// tableFiles writes the tables of one feed, each into a file that is begun with its first row group. A
// nil one writes nothing.
type tableFiles struct {
	batches *transform.Batches
	open    func(*lake.Table) (*parquet.Writer, error)
	writers []*parquet.Writer
	seen    func(table int, rows arrow.Record) // called before rows are written; nil: nobody looks
	history *tableFiles                        // of a snapshot: takes the same rows; nil: it has rows of its own
}

func newTableFiles(batches *transform.Batches, open func(*lake.Table) (*parquet.Writer, error)) *tableFiles {
	return &tableFiles{batches: batches, open: open, writers: make([]*parquet.Writer, batches.Tables())}
}

// append adds the staged rows, and writes the tables whose row group is full.
func (t *tableFiles) append(f *transform.Flattener, id int64, version int32) error {
	if t == nil {
		return nil
	}
	t.batches.Append(f, id, version)
	for table := range t.writers {
		if t.batches.Bytes(table) >= parquet.RowGroupBytes {
			if err := t.flush(table); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes a table's collected rows as one row group.
func (t *tableFiles) flush(table int) error {
	if t.batches.Rows(table) == 0 {
		return nil
	}
	batch := t.batches.Take(table)
	defer batch.Record.Release()
	if t.history != nil {
		history := batch.History()
		defer history.Record.Release()
		if err := t.history.write(table, history); err != nil {
			return err
		}
	}
	return t.write(table, batch)
}

// write writes one row group of a table.
func (t *tableFiles) write(table int, batch lake.Batch) (err error) {
	if t.writers[table] == nil {
		if t.writers[table], err = t.open(batch.Table); err != nil {
			return err
		}
	}
	if t.seen != nil {
		t.seen(table, batch.Record)
	}
	return t.writers[table].Write(batch.Record, batch.MinDealID, batch.MaxDealID)
}

// finish writes what is left and puts the files into the lake.
func (t *tableFiles) finish(ctx context.Context) error {
	if t == nil {
		return nil
	}
	for table := range t.writers {
		if err := t.flush(table); err != nil {
			return err
		}
		if w := t.writers[table]; w != nil {
			t.writers[table] = nil
			if err := w.Finish(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// end frees what finish has not.
func (t *tableFiles) end() error {
	if t == nil {
		return nil
	}
	var errs []error
	for _, w := range t.writers {
		if w != nil {
			errs = append(errs, w.Abort())
		}
	}
	t.batches.Release()
	return errors.Join(errs...)
}

// writeVersions writes history/deal_versions: a file a market, with the new versions of its feeds; as many
// at once as feeds are flattened.
func (r *run) writeVersions(ctx context.Context, feeds []*feedResult, known lake.Instant) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.Workers)
	for _, service := range api.Services() {
		for _, market := range api.Markets(service) {
			of := slices.DeleteFunc(slices.Clone(feeds), func(f *feedResult) bool { return f.Feed.Market != market })
			group.Go(func() error { return r.writeMarketVersions(ctx, market, of, known) })
		}
	}
	return group.Wait()
}

func (r *run) writeMarketVersions(ctx context.Context, market api.Market, feeds []*feedResult, known lake.Instant) (err error) {
	batches := transform.NewVersionBatches(r.Memory)
	defer batches.Release()
	var w *parquet.Writer
	defer func() {
		if w != nil {
			err = errors.Join(err, w.Abort())
		}
	}()
	flush := func() error {
		if batches.Rows() == 0 {
			return nil
		}
		if w == nil {
			if w, err = r.load.DealVersions(market); err != nil {
				return err
			}
		}
		batch := batches.Take()
		defer batch.Record.Release()
		return w.Write(batch.Record, batch.MinDealID, batch.MaxDealID)
	}
	for _, f := range feeds {
		err := r.feedVersions(ctx, f, known, func(v *transform.DealVersion) error {
			batches.Append(v)
			if batches.Bytes() < parquet.RowGroupBytes {
				return nil
			}
			return flush()
		})
		if err != nil {
			return err
		}
	}
	if err := flush(); err != nil || w == nil {
		return err
	}
	finished := w
	w = nil
	return finished.Finish(ctx)
}

// feedVersions yields the new versions of a feed in deal_id order. What it yields is good during the
// call only.
func (r *run) feedVersions(ctx context.Context, f *feedResult, known lake.Instant, yield func(*transform.DealVersion) error) error {
	removals := f.removals
	var buf []byte
	for _, d := range f.decisions {
		if d.Change == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for len(removals) > 0 && removals[0].id < d.ID {
			if err := yield(r.removalVersion(f, removals[0], known)); err != nil {
				return err
			}
			removals = removals[1:]
		}
		var err error
		if buf, err = f.spool.Payload(d.ID, buf); err != nil {
			return err
		}
		entry, _ := f.spool.Entry(d.ID)
		updated, _ := api.UpdatedSinceTime(entry.UpdatedSince)
		err = yield(&transform.DealVersion{
			Feed: f.Feed, DealID: d.ID, Version: d.Version, Change: d.Change, KnownAt: known.Time, ObservedAt: entry.ObservedAt,
			RunID: r.RunID, ContentHash: d.Head.ContentHash, PayloadHash: d.Head.PayloadHash,
			SourceUpdatedAt: updated, UpdatedSince: r.Base.Relative(entry.UpdatedSince), Payload: buf,
		})
		if err != nil {
			return err
		}
	}
	for _, gone := range removals {
		if err := yield(r.removalVersion(f, gone, known)); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) removalVersion(f *feedResult, gone removal, known lake.Instant) *transform.DealVersion {
	return &transform.DealVersion{
		Feed: f.Feed, DealID: gone.id, Version: f.heads[gone.id].Version, Change: lake.Removed, Reason: gone.reason,
		KnownAt: known.Time, ObservedAt: gone.observed, RunID: r.RunID,
	}
}
