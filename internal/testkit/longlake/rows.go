package longlake

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load"
	"dealflow/load/parquet"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// writeRows flattens deals in the order of their ids: those with new versions into history, and all of
// them into the night's snapshot, where it has one.
func (f *feed) writeRows(ctx context.Context, run *load.Run, night Night) (err error) {
	market := f.feed.Market
	history := newTables(transform.NewHistoryBatches(memory.DefaultAllocator, f.feed), func(t *lake.Table) (*parquet.Writer, error) { return run.History(t, market) })
	defer func() { err = errors.Join(err, history.close()) }()
	var snapshot *tables
	if night.Snapshot {
		batches, err := transform.NewSnapshotBatches(memory.DefaultAllocator, f.feed, night.Day)
		if err != nil {
			return err
		}
		snapshot = newTables(batches, func(t *lake.Table) (*parquet.Writer, error) { return run.Snapshot(t, market, night.Day) })
		defer func() { err = errors.Join(err, snapshot.close()) }()
	}
	if err := f.flatten(ctx, history, snapshot); err != nil {
		return err
	}
	return errors.Join(history.finish(ctx), snapshot.finish(ctx))
}

// flatten reads the deals that have rows to write; snapshot is nil where there is none.
func (f *feed) flatten(ctx context.Context, history, snapshot *tables) error {
	fresh := map[int64]bool{}
	for _, n := range f.news {
		fresh[n.id] = n.change != lake.Removed
	}
	var payload []byte
	for _, id := range f.deals.ids {
		if !fresh[id] && snapshot == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if payload, err = f.deals.Payload(id, payload); err != nil {
			return err
		}
		if err := f.read(id, payload, fresh[id]); err != nil {
			return fmt.Errorf("deal %d: %w", id, err)
		}
		if err := snapshot.append(f.flattener, id, f.heads[id].Version); err != nil {
			return err
		}
		if !fresh[id] {
			continue
		}
		if err := history.append(f.flattener, id, f.heads[id].Version); err != nil {
			return err
		}
	}
	return nil
}

// read stages the rows of a deal. The drift of a new version is noted.
func (f *feed) read(id int64, payload []byte, fresh bool) error {
	if !fresh {
		_, err := f.flattener.Read(payload)
		return err
	}
	before := departures(f.flattener)
	if _, err := f.flattener.Read(payload); err != nil {
		return err
	}
	return f.noteDrift(id, payload, departures(f.flattener) > before)
}

// tables are the files of a feed's tables. A nil one takes nothing.
type tables struct {
	batches *transform.Batches
	files   []file
}

func newTables(batches *transform.Batches, open func(*lake.Table) (*parquet.Writer, error)) *tables {
	t := &tables{batches: batches}
	for i := range batches.Tables() {
		t.files = append(t.files, file{open: func() (*parquet.Writer, error) { return open(batches.Table(i)) }})
	}
	return t
}

// append adds the staged rows, and writes full row groups.
func (t *tables) append(f *transform.Flattener, id int64, version int32) error {
	if t == nil {
		return nil
	}
	t.batches.Append(f, id, version)
	for i := range t.files {
		if t.batches.Bytes(i) >= parquet.RowGroupBytes {
			if err := t.files[i].write(t.batches.Take(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish writes what is left and puts the files into the lake.
func (t *tables) finish(ctx context.Context) error {
	if t == nil {
		return nil
	}
	for i := range t.files {
		if err := t.files[i].write(t.batches.Take(i)); err != nil {
			return err
		}
		if err := t.files[i].finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

// close frees what finish has not.
func (t *tables) close() error {
	var errs []error
	for i := range t.files {
		errs = append(errs, t.files[i].abort())
	}
	t.batches.Release()
	return errors.Join(errs...)
}
