package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// liveDeal is a deal whose rows are written.
type liveDeal struct {
	id      int64
	version int32
	fresh   bool      // a new version: its rows go to history too
	kept    *keptDeal // nil: the spool has the deal
}

// keptDeal is the last version of a deal that keeps it.
type keptDeal struct {
	payload []byte
	base    api.Base // the payload's links are relative to it
}

// deals lists the deals whose rows are written, by deal_id: all of the snapshot, or, for a command without snapshots,
// those with a new version.
func (r *run) deals(ctx context.Context, f *feedRun) ([]liveDeal, error) {
	if !r.command.complete {
		var fresh []liveDeal
		for _, d := range f.decisions {
			if d.Change != "" {
				fresh = append(fresh, liveDeal{id: d.ID, version: d.Version, fresh: true})
			}
		}
		f.Deals = int64(len(f.decisions))
		return fresh, nil
	}
	kept, err := r.keptDeals(ctx, f)
	if err != nil {
		return nil, err
	}
	deals := slices.Grow(kept, len(f.decisions))
	for _, d := range f.decisions {
		if d.Reject == nil && d.Change != lake.Removed {
			deals = append(deals, liveDeal{id: d.ID, version: d.Version, fresh: d.Change != ""})
		}
	}
	slices.SortFunc(deals, func(a, b liveDeal) int { return cmp.Compare(a.id, b.id) })
	f.Deals = int64(len(deals))
	f.Unchanged += int64(len(f.kept))
	return deals, nil
}

// keptDeals reads the last version of the deals that keep it. Mostly there are none.
func (r *run) keptDeals(ctx context.Context, f *feedRun) ([]liveDeal, error) {
	if len(f.kept) == 0 {
		return nil, nil
	}
	known := r.latest[f.Feed]
	want := make(map[int64]int32, len(f.kept))
	for _, id := range f.kept {
		want[id] = known[id].Version
	}
	old, err := r.lake.Payloads(ctx, r.Memory, f.Feed, want)
	if err != nil {
		return nil, err
	}
	bases, err := r.lake.Bases(ctx, f.Feed)
	if err != nil {
		return nil, err
	}
	var deals []liveDeal
	for id, payload := range old {
		base, err := bases.Of(payload.RunID)
		if err != nil {
			return nil, fmt.Errorf("deal %d: %w", id, err)
		}
		deals = append(deals, liveDeal{id: id, version: want[id], kept: &keptDeal{payload.Bytes, base}})
	}
	return deals, nil
}

// feedRows writes the rows of a feed.
type feedRows struct {
	snapshot      *transform.Batches // nil: no snapshot is written
	history       *transform.Batches
	snapshotFiles *parquet.Tables
	historyFiles  *parquet.Tables
}

// newFeedRows begins the files of a feed. With shared, all rows of the snapshot are rows of history too, and are built
// once.
func (r *run) newFeedRows(feed api.Feed, shared bool) (*feedRows, error) {
	rows := &feedRows{history: transform.NewHistoryBatches(r.Memory, feed)}
	rows.historyFiles = parquet.NewTables(rows.history, func(t *lake.Table) (*parquet.Writer, error) { return r.session.History(t.Name, feed.Market) })
	if !r.command.complete {
		return rows, nil
	}
	var err error
	if rows.snapshot, err = transform.NewSnapshotBatches(r.Memory, feed, r.day); err != nil {
		return rows, errors.Join(err, rows.release())
	}
	rows.snapshotFiles = parquet.NewTables(rows.snapshot, func(t *lake.Table) (*parquet.Writer, error) { return r.session.Snapshot(t.Name, feed.Market, r.day) })
	if shared {
		rows.snapshotFiles.History = rows.historyFiles
	}
	return rows, nil
}

// append adds the staged rows of a deal. Rows of a new version go to history too.
func (w *feedRows) append(f *transform.Flattener, d liveDeal) error {
	if w.snapshot != nil {
		w.snapshot.Append(f, d.id, d.version)
		if err := w.snapshotFiles.Drain(); err != nil {
			return err
		}
	}
	if !d.fresh || w.snapshot != nil && w.snapshotFiles.History != nil {
		return nil
	}
	w.history.Append(f, d.id, d.version)
	return w.historyFiles.Drain()
}

// finish puts the files into the lake.
func (w *feedRows) finish(ctx context.Context) error {
	var err error
	if w.snapshot != nil {
		err = w.snapshotFiles.Finish(ctx)
	}
	return errors.Join(err, w.historyFiles.Finish(ctx))
}

// release frees memory, and deletes files that were not finished.
func (w *feedRows) release() error {
	var err error
	if w.snapshotFiles != nil {
		err = w.snapshotFiles.Release()
	}
	return errors.Join(err, w.historyFiles.Release())
}

// writeRows flattens every deal of the snapshot once, into the snapshot's files and, for a new version, into those of
// history.
func (r *run) writeRows(ctx context.Context, f *feedRun) (err error) {
	deals, err := r.deals(ctx, f)
	if err != nil {
		return err
	}
	// In a first run every row of the snapshot is one of history.
	shared := r.command.complete && !slices.ContainsFunc(deals, func(d liveDeal) bool { return !d.fresh })
	rows, err := r.newFeedRows(f.Feed, shared)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.release()) }()
	flattener := transform.NewFlattener(f.Feed, r.Base)
	var buf []byte
	for _, d := range deals {
		if err := ctx.Err(); err != nil {
			return err
		}
		if buf, err = r.readDeal(f, flattener, d, buf); err != nil {
			return fmt.Errorf("deal %d: %w", d.id, err)
		}
		if err := rows.append(flattener, d); err != nil {
			return err
		}
	}
	f.Drift = append(flattener.Drift(), f.spool.PageDrift()...)
	slices.SortFunc(f.Drift, lake.CompareDrift)
	return rows.finish(ctx)
}

// readDeal stages the rows of one deal. It returns the buffer for the next call.
func (r *run) readDeal(f *feedRun, flattener *transform.Flattener, d liveDeal, buf []byte) ([]byte, error) {
	base := r.Base
	var payload []byte
	if d.kept != nil {
		base, payload = d.kept.base, d.kept.payload
	} else {
		var err error
		if buf, err = f.spool.Payload(d.id, buf); err != nil {
			return buf, err
		}
		payload = buf
	}
	flattener.SetBase(base)
	id, err := flattener.Read(payload)
	if err == nil && id != d.id {
		err = fmt.Errorf("got the payload of deal %d, want deal %d", id, d.id)
	}
	if err != nil && d.kept != nil {
		err = fmt.Errorf("the lake's payload can no longer be read: %w; run `dealflow verify --read-data`", err)
	}
	return buf, err
}
