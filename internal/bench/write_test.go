package bench_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/parquet"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

const day = "2026-01-05"

// output is one data file: how to open it, and its row groups.
type output struct {
	open      func() (*parquet.Writer, error)
	rowGroups []lake.Batch
}

func (o *output) write(ctx context.Context) error {
	w, err := o.open()
	if err != nil {
		return err
	}
	for _, group := range o.rowGroups {
		if err := w.Write(group.Record, group.MinDealID, group.MaxDealID); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	return w.Finish(ctx)
}

func (o *output) release() {
	for _, group := range o.rowGroups {
		group.Record.Release()
	}
}

// newRun begins a run of a new lake in a folder.
func newRun(b *testing.B) *load.Transaction {
	b.Helper()
	store, err := dirstore.New(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	l, err := load.Open(b.Context(), store)
	if err != nil && !errors.Is(err, load.ErrNoLake) {
		b.Fatal(err)
	}
	run, err := l.Begin(load.TransactionConfig{ID: uuid.Must(uuid.NewV7()).String(), Command: "run", Clock: time.Now, Started: epoch, WorkDir: b.TempDir(), Memory: memory.DefaultAllocator})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := run.Close(b.Context()); err != nil {
			b.Error(err)
		}
	})
	return run
}

// writeAll writes row groups that are already built: everything that a first night writes.
func writeAll(b *testing.B, all []*feedPayloads) usage {
	b.Helper()
	b.StopTimer()
	run := newRun(b)
	var mu sync.Mutex
	var outputs []*output
	err := inTwos(all, func(f *feedPayloads) error {
		made, err := build(run, f)
		mu.Lock()
		defer mu.Unlock()
		outputs = append(outputs, made...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		for _, o := range outputs {
			o.release()
		}
	}()
	b.StartTimer()
	return measure(b, func() error {
		group, ctx := errgroup.WithContext(b.Context())
		group.SetLimit(2)
		for _, o := range outputs {
			group.Go(func() error { return o.write(ctx) })
		}
		return group.Wait()
	})
}

// build makes the row groups of a list: of its snapshot, its history and its versions.
func build(run *load.Transaction, f *feedPayloads) ([]*output, error) {
	snapshot, err := transform.NewSnapshotBatches(memory.DefaultAllocator, f.feed, day)
	if err != nil {
		return nil, err
	}
	defer snapshot.Release()
	history := transform.NewHistoryBatches(memory.DefaultAllocator, f.feed)
	defer history.Release()
	versions := transform.NewVersionBatches(memory.DefaultAllocator)
	defer versions.Release()

	market := f.feed.Market
	snapshots := outputsOf(snapshot, func(t *lake.Table) (*parquet.Writer, error) { return run.Snapshot(t.Name, market, day) })
	histories := outputsOf(history, func(t *lake.Table) (*parquet.Writer, error) { return run.History(t.Name, market) })
	kept := &output{open: func() (*parquet.Writer, error) { return run.History(lake.DealVersions, market) }}
	flattener := transform.NewFlattener(f.feed, f.base)
	var stretch parquet.Stretch
	for _, payload := range f.payloads {
		id, err := flattener.Read(payload)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.feed, err)
		}
		if stretch.EndsBefore(id) {
			take(snapshot, snapshots, 0)
			take(history, histories, 0)
		}
		snapshot.Append(flattener, id, 1)
		history.Append(flattener, id, 1)
		versions.Append(&transform.DealVersion{
			Feed: f.feed, DealID: id, Version: 1, Change: lake.Added, KnownAt: epoch, ObservedAt: epoch,
			RunID: "019b8f6e-0000-7000-8000-000000000000", ContentHash: sha256.Sum256(payload), PayloadHash: sha256.Sum256(payload),
			SourceUpdatedAt: epoch.Add(-time.Duration(id) * time.Second), Payload: payload,
		})
		take(snapshot, snapshots, parquet.RowGroupBytes)
		take(history, histories, parquet.RowGroupBytes)
		if versions.Bytes() >= parquet.RowGroupBytes {
			kept.rowGroups = append(kept.rowGroups, versions.Take())
		}
	}
	take(snapshot, snapshots, 0)
	take(history, histories, 0)
	kept.rowGroups = append(kept.rowGroups, versions.Take())
	return append(append(snapshots, histories...), kept), nil
}

func outputsOf(batches *transform.Batches, open func(*lake.Table) (*parquet.Writer, error)) []*output {
	outputs := make([]*output, batches.Tables())
	for i := range outputs {
		outputs[i] = &output{open: func() (*parquet.Writer, error) { return open(batches.Table(i)) }}
	}
	return outputs
}

// take moves the rows of tables that contain at least the given number of bytes.
func take(batches *transform.Batches, outputs []*output, atLeast int) {
	for i, o := range outputs {
		if batches.Bytes(i) >= atLeast && batches.Rows(i) > 0 {
			o.rowGroups = append(o.rowGroups, batches.Take(i))
		}
	}
}

// flattenAndWrite flattens payloads in memory into one Parquet file per table and list, as the other tools do.
func flattenAndWrite(b *testing.B, all []*feedPayloads) usage {
	b.Helper()
	run := newRun(b)
	return measure(b, func() error {
		return inTwos(all, func(f *feedPayloads) error { return writeHistory(b.Context(), run, f) })
	})
}

// writeHistory writes the flattened tables of a list.
func writeHistory(ctx context.Context, run *load.Transaction, f *feedPayloads) error {
	writers := map[string]*parquet.Writer{}
	err := flattenTo(f, func(group lake.Batch) (err error) {
		w := writers[group.Table.Name]
		if w == nil {
			if w, err = run.History(group.Table.Name, f.feed.Market); err != nil {
				return err
			}
			writers[group.Table.Name] = w
		}
		return w.Write(group.Record, group.MinDealID, group.MaxDealID)
	})
	for _, w := range writers {
		if err != nil {
			err = errors.Join(err, w.Abort())
		} else {
			err = w.Finish(ctx)
		}
	}
	return err
}

// flatten takes the deals into Arrow rows, and drops those.
func flatten(f *feedPayloads) error {
	return flattenTo(f, func(lake.Batch) error { return nil })
}

// flattenTo takes the deals into the row groups of their tables' history; use must not keep one.
func flattenTo(f *feedPayloads, use func(lake.Batch) error) error {
	history := transform.NewHistoryBatches(memory.DefaultAllocator, f.feed)
	defer history.Release()
	pass := func(atLeast int) error {
		for i := range history.Tables() {
			if history.Rows(i) == 0 || history.Bytes(i) < atLeast {
				continue
			}
			group := history.Take(i)
			err := use(group)
			group.Record.Release()
			if err != nil {
				return err
			}
		}
		return nil
	}
	flattener := transform.NewFlattener(f.feed, f.base)
	for _, payload := range f.payloads {
		id, err := flattener.Read(payload)
		if err != nil {
			return fmt.Errorf("%s: %w", f.feed, err)
		}
		history.Append(flattener, id, 1)
		if err := pass(parquet.RowGroupBytes); err != nil {
			return err
		}
	}
	return pass(0)
}
