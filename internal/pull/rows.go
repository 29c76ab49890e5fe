package pull

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"

	"dealflow/internal/pull/rows"
	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// keptDeal is the last version of a deal that keeps it: the spool does not have it.
type keptDeal struct {
	payload []byte
	base    api.Base // the payload's links are relative to it
}

// deals lists the deals whose rows are written, by deal_id: all of the snapshot, or, for a command without snapshots,
// those with a new version.
func (r *run) deals(f *feedRun) []rows.Deal {
	if !r.command.complete {
		var fresh []rows.Deal
		for i := range f.decisions.Deals {
			if d := &f.decisions.Deals[i]; d.Change() != "" {
				fresh = append(fresh, rows.Deal{ID: d.ID, Version: d.Latest.Version, Fresh: true})
			}
		}
		f.Deals = int64(len(f.decisions.Deals))
		return fresh
	}
	deals := make([]rows.Deal, 0, len(f.kept)+len(f.decisions.Deals))
	for _, id := range f.kept {
		deals = append(deals, rows.Deal{ID: id, Version: r.latest[f.Feed][id].Version, Exact: true})
	}
	for i := range f.decisions.Deals {
		d := &f.decisions.Deals[i]
		if !d.Rejected && d.Change() != lake.Removed {
			read, _ := f.spool.Entry(d.ID)
			deals = append(deals, rows.Deal{ID: d.ID, Version: d.Latest.Version, Fresh: d.Change() != "", Exact: read.PayloadHash == d.Latest.PayloadHash})
		}
	}
	slices.SortFunc(deals, func(a, b rows.Deal) int { return cmp.Compare(a.ID, b.ID) })
	f.Deals = int64(len(deals))
	f.Unchanged += int64(len(f.kept))
	return deals
}

// keptDeals reads the last version of the deals that keep it, by deal_id. Mostly there are none.
func (r *run) keptDeals(ctx context.Context, f *feedRun) (map[int64]keptDeal, error) {
	if !r.command.complete || len(f.kept) == 0 {
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
	kept := make(map[int64]keptDeal, len(old))
	for id, payload := range old {
		base, err := bases.Of(payload.RunID)
		if err != nil {
			return nil, fmt.Errorf("deal %d: %w", id, err)
		}
		kept[id] = keptDeal{payload.Bytes, base}
	}
	return kept, nil
}

// writeRows writes the files of a feed: those of the snapshot, and those of history with the rows of new versions.
func (r *run) writeRows(ctx context.Context, f *feedRun) (err error) {
	kept, err := r.keptDeals(ctx, f)
	if err != nil {
		return err
	}
	var buf []byte
	cfg := rows.Config{
		Feed: f.Feed, Base: r.Base, Day: r.day, Stretch: r.Stretch, Memory: r.Memory,
		Snapshot: func(table string) (*parquet.Writer, error) { return r.session.Snapshot(table, f.Feed.Market, r.day) },
		History:  func(table string) (*parquet.Writer, error) { return r.session.History(table, f.Feed.Market) },
		Read: func(flattener *transform.Flattener, d rows.Deal) (err error) {
			if buf, err = r.readDeal(f, flattener, d.ID, kept, buf); err != nil {
				err = fmt.Errorf("deal %d: %w", d.ID, err)
			}
			return err
		},
	}
	deals := r.deals(f)
	written, err := r.writeAfter(ctx, f, cfg, deals)
	if errors.Is(err, rows.ErrEarlier) && ctx.Err() == nil {
		r.Log.Warn("the last snapshot cannot be read: all deals are flattened again", "feed", f.Feed.String(), "error", err, "next", "dealflow verify --read-data")
		written, err = rows.Write(ctx, cfg, deals)
	}
	if err != nil {
		return err
	}
	f.Drift = written.Drift
	f.Drift = append(f.Drift, f.spool.PageDrift()...)
	slices.SortFunc(f.Drift, lake.CompareDrift)
	return nil
}

// writeAfter is rows.Write, with what can be taken over from the feed's last snapshot.
func (r *run) writeAfter(ctx context.Context, f *feedRun, cfg rows.Config, deals []rows.Deal) (*rows.Written, error) {
	var err error
	if files := r.takeable(f.Feed); len(files) > 0 {
		if err := f.earlier.wait(); err != nil {
			return nil, fmt.Errorf("%w: %w", rows.ErrEarlier, err)
		}
		lakeFiles := rows.Lake{Store: r.Store, Cache: r.Cache, WorkDir: r.session.WorkDir()}
		if cfg.Earlier, err = rows.OpenEarlier(ctx, lakeFiles, r.Memory, f.Feed, files); err != nil {
			return nil, err
		}
		defer func() {
			if err := cfg.Earlier.Close(); err != nil {
				r.Log.Warn("the work folder could not be removed", "error", err)
			}
		}()
	}
	written, err := rows.Write(ctx, cfg, deals)
	if err == nil && written.TakenOver > 0 {
		r.Log.Debug("rows of the last snapshot were taken over", "feed", f.Feed.String(), "deals", written.TakenOver)
	}
	return written, err
}

// fetching is the work of getting files of a lake that is no local folder into the cache, while something else is done. A nil one gets
// nothing.
type fetching struct {
	group  errgroup.Group
	folder io.Closer // the files stay at least until it is closed
}

// fetchEarlier fetches what can be taken over from a feed's last snapshot while the feed is read: a machine that begins each night with
// an empty cache would flatten all deals again, which takes longer. It ends when the context does; the caller closes it.
func (r *run) fetchEarlier(ctx context.Context, feed api.Feed) *fetching {
	if r.Cache == nil {
		return nil
	}
	files := r.takeable(feed)
	if len(files) == 0 {
		return nil
	}
	f := new(fetching)
	f.group.Go(func() (err error) {
		f.folder, err = r.Cache.FetchAhead(ctx, r.Store, files)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // it is not the files' fault
		}
		return err
	})
	return f
}

// wait waits until the files are in the cache, as far as there is time for that. It may be called more than once.
func (f *fetching) wait() error {
	if f == nil {
		return nil
	}
	return f.group.Wait()
}

// close waits, too, and releases the files.
func (f *fetching) close() error {
	if f == nil {
		return nil
	}
	_ = f.wait() // its error is told where the files are wanted
	return f.folder.Close()
}

// takeable returns the files of a feed's last snapshot if their rows are those that this run would write for the same versions:
// this program wrote them, as its version tells, from the same base URL. Otherwise it returns nil.
func (r *run) takeable(feed api.Feed) []lake.File {
	log := r.lake.Log()
	last := log.LastSnapshot(feed)
	if !r.command.complete || r.Ambiguous || last == nil || last.DealflowVersion != r.Version || last.Feed(feed).BaseURL != r.Base.String() {
		return nil
	}
	files := log.Snapshot(feed, last.SnapshotDate)
	for _, file := range files {
		if file.RunID() != last.RunID || file.IsShared() || file.SchemaVersion != lake.SchemaVersion {
			return nil // replayed or merged since
		}
	}
	return files
}

// readDeal stages the rows of one deal. It returns the buffer for the next call.
func (r *run) readDeal(f *feedRun, flattener *transform.Flattener, id int64, kept map[int64]keptDeal, buf []byte) ([]byte, error) {
	from, keeps := kept[id]
	if !keeps {
		var err error
		if buf, err = f.spool.Payload(id, buf); err != nil {
			return buf, err
		}
		from = keptDeal{buf, r.Base}
	}
	flattener.SetBase(from.base)
	read, err := flattener.Read(from.payload)
	if err == nil && read != id {
		err = fmt.Errorf("got the payload of deal %d, want deal %d", read, id)
	}
	if err != nil && keeps {
		err = fmt.Errorf("the lake's payload can no longer be read: %w; run `dealflow verify --read-data`", err)
	}
	return buf, err
}
