package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"dealflow/extract"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// feedResult is a feed on its way through a run.
type feedResult struct {
	lake.FeedRun
	spool     *extract.Spool
	decisions []transform.Decision
	removals  []removal
	kept      []int64    // known deals that keep their last version although this run has no payload of them
	heads     lake.Heads // after the run
}

func (f *feedResult) close() error {
	if f.spool == nil {
		return nil
	}
	return f.spool.Close()
}

// feed pulls one feed and writes its files. The error is one that ends the run; a failure of the feed
// alone is its outcome.
func (r *run) feed(ctx context.Context, feed api.Feed) (*feedResult, error) {
	f := &feedResult{FeedRun: lake.FeedRun{
		Feed: feed, BaseURL: r.Base.String(), Outcome: lake.OutcomeDone, StartedAt: lake.At(r.now()), Drift: []lake.Drift{},
	}}
	var err error
	if f.spool, err = extract.NewSpool(r.work, feed); err != nil {
		return f, err
	}
	if err := r.extract(ctx, f); err != nil {
		return f, r.outcome(ctx, f, err)
	}
	if err := r.workers.Acquire(ctx, 1); err != nil {
		return f, err
	}
	defer r.workers.Release(1)
	if err := r.write(ctx, f); err != nil {
		return f, fmt.Errorf("%s: %w", feed, err)
	}
	r.count(f)
	return f, nil
}

// extract fills the spool with a complete snapshot and finds out what became of absent deals.
func (r *run) extract(ctx context.Context, f *feedResult) error {
	snapshot, err := r.Client.Snapshot(ctx, f.Feed, f.spool)
	if err != nil {
		return err
	}
	r.observed(snapshot.LastObserved)
	f.UpdatedSince = snapshot.UpdatedSince
	return r.settleAbsent(ctx, f, snapshot.Unidentified > 0)
}

// outcome turns a feed's error into its outcome, or gives it back where it ends the run.
func (r *run) outcome(ctx context.Context, f *feedResult, err error) error {
	var auth *extract.AuthError
	if ctx.Err() != nil || errors.As(err, &auth) {
		return err
	}
	var held *heldError
	switch {
	case errors.As(err, &held):
		f.Outcome = lake.OutcomeHeld
	case extract.IsForbiddenOrMissing(err) && !r.lake.Log().Held(f.Feed):
		f.Outcome = lake.OutcomeSkipped
		r.Log.Warn("feed is not part of the account", "feed", f.Feed.String(), "err", err)
	default:
		f.Outcome = lake.OutcomeFailed
	}
	f.Error = err.Error()
	r.count(f)
	return nil
}

// count copies the client's figures into the feed's.
func (r *run) count(f *feedResult) {
	c := r.Client.Counts(f.Feed)
	f.Pages, f.Requests, f.Bytes = int64(c.Pages), int64(c.Requests), c.Bytes
	f.Retries, f.WaitedMS = int64(c.Retries), c.Waited.Milliseconds()
	f.Sweeps, f.Confirmations = int64(c.Sweeps), int64(c.Confirmations)
	f.FinishedAt = lake.At(r.now())
}

// observations is the spool as transform sees it.
type observations struct{ *extract.Spool }

func (o observations) PayloadHash(id int64) lake.Digest {
	entry, _ := o.Entry(id)
	return entry.PayloadHash
}

// write decides the feed's versions and writes its snapshot, the history of its new versions, and its
// quarantine.
func (r *run) write(ctx context.Context, f *feedResult) error {
	known := r.heads[f.Feed]
	var err error
	f.decisions, err = transform.Decide(known, observations{f.spool}, transform.NewCanonicalizer(r.Base), r.lake.Log().BaseURL(f.Feed) == f.BaseURL)
	if err != nil {
		return err
	}
	if err := r.quarantine(ctx, f); err != nil {
		return err
	}
	f.heads = maps.Clone(known)
	if f.heads == nil {
		f.heads = lake.Heads{}
	}
	for _, d := range f.decisions {
		if d.Reject == nil {
			f.heads[d.ID] = d.Head
		}
		f.tally(d)
	}
	for _, gone := range f.removals {
		f.heads[gone.id] = transform.Removal(known[gone.id])
		f.Removed++
	}
	return r.writeRows(ctx, f)
}

// tally counts one decision.
func (f *feedResult) tally(d transform.Decision) {
	switch {
	case d.Reject != nil && d.Kept:
		f.kept = append(f.kept, d.ID)
	case d.Reject != nil:
	case d.Change == lake.Added:
		f.Added++
	case d.Change == lake.Changed:
		f.Changed++
	case d.Change == lake.Reappeared:
		f.Reappeared++
	default:
		f.Unchanged++
	}
}

// quarantine puts aside what cannot be read as a deal.
func (r *run) quarantine(ctx context.Context, f *feedResult) error {
	var records []load.Quarantined
	for _, q := range f.spool.Rejects() {
		records = append(records, load.Quarantined{
			Reject: q.Reject, DealID: q.ID, HasID: q.HasID, Raw: q.Raw, Page: r.Base.Relative(q.URL), ObservedAt: q.ObservedAt,
		})
	}
	for _, d := range f.decisions {
		if d.Reject == nil {
			continue
		}
		raw, err := f.spool.Payload(d.ID, nil)
		if err != nil {
			return err
		}
		entry, _ := f.spool.Entry(d.ID)
		records = append(records, load.Quarantined{Reject: d.Reject, DealID: d.ID, HasID: true, Raw: raw, ObservedAt: entry.ObservedAt})
	}
	f.Quarantined = int64(len(records))
	return r.load.Quarantine(ctx, f.Feed, records)
}

// liveDeal is a deal of the snapshot.
type liveDeal struct {
	id      int64
	version int32
	fresh   bool          // a new version: its rows go to history too
	old     *load.Payload // of a kept deal: its last version; nil: the spool has it
}

// liveDeals lists the snapshot's deals by deal_id.
func (r *run) liveDeals(ctx context.Context, f *feedResult) ([]liveDeal, error) {
	known := r.heads[f.Feed]
	want := make(map[int64]int32, len(f.kept))
	for _, id := range f.kept {
		want[id] = known[id].Version
	}
	old, err := r.lake.Payloads(ctx, r.Memory, f.Feed, want)
	if err != nil {
		return nil, err
	}
	deals := make([]liveDeal, 0, len(f.decisions)+len(f.kept))
	for _, d := range f.decisions {
		if d.Reject == nil {
			deals = append(deals, liveDeal{id: d.ID, version: d.Version, fresh: d.Change != ""})
		}
	}
	for id, payload := range old {
		deals = append(deals, liveDeal{id: id, version: want[id], old: &payload})
	}
	slices.SortFunc(deals, func(a, b liveDeal) int { return cmp.Compare(a.id, b.id) })
	f.Deals = int64(len(deals))
	f.Unchanged += int64(len(f.kept))
	return deals, nil
}

// writeRows flattens every deal of the snapshot once, into the snapshot's files and, for a new
// version, into those of history.
func (r *run) writeRows(ctx context.Context, f *feedResult) (err error) {
	deals, err := r.liveDeals(ctx, f)
	if err != nil {
		return err
	}
	batches, err := transform.NewSnapshotBatches(r.Memory, f.Feed, r.day)
	if err != nil {
		return err
	}
	snapshot := newTableFiles(batches, func(t *lake.Table) (*load.Writer, error) { return r.load.Snapshot(t, f.Feed.Market, r.day) })
	history := newTableFiles(transform.NewHistoryBatches(r.Memory, f.Feed), func(t *lake.Table) (*load.Writer, error) { return r.load.History(t, f.Feed.Market) })
	defer func() { err = errors.Join(err, snapshot.end(), history.end()) }()

	flattener := transform.NewFlattener(f.Feed, r.Base)
	var buf []byte
	for _, d := range deals {
		if err := ctx.Err(); err != nil {
			return err
		}
		if buf, err = r.readDeal(f, flattener, d, buf); err != nil {
			return fmt.Errorf("deal %d: %w", d.id, err)
		}
		if err := snapshot.append(flattener, d.id, d.version); err != nil {
			return err
		}
		if d.fresh {
			if err := history.append(flattener, d.id, d.version); err != nil {
				return err
			}
		}
	}
	f.Drift = flattener.Drift()
	return errors.Join(snapshot.finish(ctx), history.finish(ctx))
}

// readDeal stages the rows of one deal. A kept deal's links are relative to the address it came from.
func (r *run) readDeal(f *feedResult, flattener *transform.Flattener, d liveDeal, buf []byte) ([]byte, error) {
	base := r.Base
	var payload []byte
	if d.old != nil {
		payload = d.old.Bytes
		var err error
		if base, err = r.baseOf(d.old.RunID, f.Feed); err != nil {
			return buf, err
		}
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
		err = fmt.Errorf("the payload says it is deal %d", id)
	}
	return buf, err
}

// baseOf is the address that a run pulled a feed from.
func (r *run) baseOf(runID string, feed api.Feed) (api.Base, error) {
	for i := range r.lake.Log().Runs {
		c := &r.lake.Log().Runs[i]
		if f := c.Feed(feed); c.RunID == runID && f != nil {
			return api.ParseBase(f.BaseURL)
		}
	}
	return api.Base{}, fmt.Errorf("the log lacks run %s, which brought the deal's last version", runID)
}
