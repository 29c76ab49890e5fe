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

// writeRows flattens deals in the order of their ids: those with new versions into history, and all of them into the
// night's snapshot, if it has one.
func (f *feed) writeRows(ctx context.Context, run *load.Transaction, night Night) (err error) {
	market := f.feed.Market
	rows := &nightRows{history: transform.NewHistoryBatches(memory.DefaultAllocator, f.feed)}
	rows.historyFiles = parquet.NewTables(rows.history, func(t *lake.Table) (*parquet.Writer, error) { return run.History(t.Name, market) })
	defer func() { err = errors.Join(err, rows.historyFiles.Release()) }()
	if night.Snapshot {
		if rows.snapshot, err = transform.NewSnapshotBatches(memory.DefaultAllocator, f.feed, night.Day); err != nil {
			return err
		}
		rows.snapshotFiles = parquet.NewTables(rows.snapshot, func(t *lake.Table) (*parquet.Writer, error) { return run.Snapshot(t.Name, market, night.Day) })
		defer func() { err = errors.Join(err, rows.snapshotFiles.Release()) }()
	}
	if err := f.flatten(ctx, rows); err != nil {
		return err
	}
	if rows.snapshot != nil {
		err = rows.snapshotFiles.Finish(ctx)
	}
	return errors.Join(rows.historyFiles.Finish(ctx), err)
}

// nightRows are the rows of a feed's night before they are written to files.
type nightRows struct {
	history, snapshot           *transform.Batches // snapshot is nil if the night has none
	historyFiles, snapshotFiles *parquet.Tables
}

// flatten flattens the deals that have rows to write.
func (f *feed) flatten(ctx context.Context, rows *nightRows) error {
	fresh := map[int64]bool{}
	for _, n := range f.added {
		fresh[n.id] = n.change != lake.Removed
	}
	var payload []byte
	history, snapshot := parquet.Stretches{Tables: rows.historyFiles}, parquet.Stretches{Tables: rows.snapshotFiles}
	for _, id := range f.deals.ids {
		if !fresh[id] && rows.snapshot == nil {
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
		version := f.latest[id].Version
		if rows.snapshot != nil {
			if err := snapshot.Begin(id); err != nil {
				return err
			}
			rows.snapshot.Append(f.flattener, id, version)
			if err := rows.snapshotFiles.Drain(); err != nil {
				return err
			}
		}
		if fresh[id] {
			if err := history.Begin(id); err != nil {
				return err
			}
			rows.history.Append(f.flattener, id, version)
			if err := rows.historyFiles.Drain(); err != nil {
				return err
			}
		}
	}
	return nil
}

// read stages the rows of a deal. It records the drift of a new version.
func (f *feed) read(id int64, payload []byte, fresh bool) error {
	if !fresh {
		_, err := f.flattener.Read(payload)
		return err
	}
	f.flattener.TakeDrift() // that of the deals before
	if _, err := f.flattener.Read(payload); err != nil {
		return err
	}
	return f.recordDrift(id, payload, len(f.flattener.TakeDrift()) > 0)
}
