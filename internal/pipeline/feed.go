package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"dealflow/extract"
	"dealflow/load"
	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// feedResult is a feed on its way through a run.
type feedResult struct {
	lake.FeedRun
	spool        *extract.Spool
	err          error // what Error says
	unidentified bool  // some records had no readable id: any deal may be among them
	decided
}

// decided is what a run makes of a feed, against what was known of it.
type decided struct {
	decisions  []transform.Decision
	removals   []removal
	kept       []int64        // known deals that keep their last version although this run has no payload of them
	superseded map[int64]bool // deals of which another run has committed a later observation
	heads      lake.Heads     // of the deals that the run knows anew
	news       int            // versions, and records newly put into quarantine
}

func newFeedResult(r *run, feed api.Feed) *feedResult {
	f := &feedResult{FeedRun: lake.FeedRun{
		Feed: feed, BaseURL: r.Base.String(), Outcome: lake.OutcomeDone, StartedAt: lake.At(r.now()), Drift: []lake.Drift{},
	}}
	f.forget()
	return f
}

// forget goes back to before anything was decided.
func (f *feedResult) forget() {
	f.decided = decided{superseded: map[int64]bool{}}
	f.Deals, f.Added, f.Changed, f.Removed, f.NotEntitled, f.Reappeared, f.Unchanged, f.Quarantined = 0, 0, 0, 0, 0, 0, 0, 0
	f.SyncMissed, f.SyncMissedIDs = 0, nil
}

func (f *feedResult) hasNews() bool { return f.news > 0 }

func (f *feedResult) observations() observations { return observations{f.spool, f.superseded} }

func (f *feedResult) close() error {
	if f.spool == nil {
		return nil
	}
	return f.spool.Close()
}

// observations is the spool as transform sees it, without the superseded deals.
type observations struct {
	spool   *extract.Spool
	without map[int64]bool
}

// IDs implements transform.Payloads.
func (o observations) IDs() []int64 {
	return slices.DeleteFunc(o.spool.IDs(), func(id int64) bool { return o.without[id] })
}

// PayloadHash implements transform.Payloads.
func (o observations) PayloadHash(id int64) lake.Digest {
	entry, _ := o.spool.Entry(id)
	return entry.PayloadHash
}

// Payload implements transform.Payloads.
func (o observations) Payload(id int64, buf []byte) ([]byte, error) { return o.spool.Payload(id, buf) }

// feed pulls one feed and writes its files. The error is one that ends the run; a failure of the feed
// alone is its outcome.
func (r *run) feed(ctx context.Context, feed api.Feed) (*feedResult, error) {
	f := newFeedResult(r, feed)
	var err error
	if f.spool, err = extract.NewSpool(r.work, feed, sameContent(r.Base)); err != nil {
		return f, err
	}
	began := r.Clock()
	bounded, cancel := r.bounded(ctx)
	defer cancel()
	err = r.read(bounded, f)
	f.ExtractMS = r.Clock().Sub(began).Milliseconds()
	if err != nil || f.Outcome != lake.OutcomeDone {
		return f, r.outcome(ctx, f, err)
	}
	return f, r.decideAndWrite(ctx, f)
}

// sameContent compares payloads as versions are compared: a server may spell the same deal in
// different ways from answer to answer. Two of a deal that cannot be read are alike, too: both would go
// into quarantine.
func sameContent(base api.Base) func(a, b []byte) bool {
	canonical := transform.NewCanonicalizer(base)
	return func(a, b []byte) bool {
		one, oneErr := canonical.Hash(a)
		other, otherErr := canonical.Hash(b)
		return one == other && (oneErr == nil) == (otherErr == nil)
	}
}

// readSnapshot fills the spool with a complete snapshot and finds out what became of absent deals.
func (r *run) readSnapshot(ctx context.Context, f *feedResult) error {
	snapshot, err := r.Client.Snapshot(ctx, f.Feed, f.spool)
	if err != nil {
		return err
	}
	r.observed(snapshot.LastObserved)
	f.UpdatedSince, f.unidentified = snapshot.UpdatedSince, snapshot.Unidentified > 0
	return r.settleAbsent(ctx, f)
}

// outcome turns a feed's error into its outcome, or gives it back where it ends the run.
func (r *run) outcome(ctx context.Context, f *feedResult, err error) error {
	var auth *extract.AuthError
	if ctx.Err() != nil || errors.As(err, &auth) {
		return err
	}
	r.count(f)
	if err == nil {
		return nil
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
	f.err = r.late(err)
	f.Error = f.err.Error()
	return nil
}

// count copies the client's figures into the feed's.
func (r *run) count(f *feedResult) {
	c := r.Client.Counts(f.Feed)
	f.Pages, f.Requests, f.Bytes = int64(c.Pages), int64(c.Requests), c.Bytes
	f.Retries, f.Waits, f.WaitedMS = int64(c.Retries), int64(c.Waits), c.Waited.Milliseconds()
	f.Sweeps, f.Restarts, f.Confirmations = int64(c.Sweeps), int64(c.Restarts), int64(c.Confirmations)
	f.FinishedAt = lake.At(r.now())
}

// decideAndWrite waits for its turn, decides the feed's versions, and writes its files.
func (r *run) decideAndWrite(ctx context.Context, f *feedResult) error {
	if err := r.workers.Acquire(ctx, 1); err != nil {
		return err
	}
	defer r.workers.Release(1)
	began := r.Clock()
	if err := r.decide(f); err != nil {
		return fmt.Errorf("%s: %w", f.Feed, err)
	}
	if err := errors.Join(r.quarantine(ctx, f), r.writeRows(ctx, f)); err != nil {
		return fmt.Errorf("%s: %w", f.Feed, err)
	}
	f.WriteMS = r.Clock().Sub(began).Milliseconds()
	r.count(f)
	return nil
}

// decide numbers the feed's new versions.
func (r *run) decide(f *feedResult) (err error) {
	known := r.heads[f.Feed]
	f.decisions, err = transform.Decide(known, f.observations(), transform.NewCanonicalizer(r.Base), r.sameBase(f.Feed))
	if err != nil {
		return err
	}
	f.heads = lake.Heads{}
	synced := r.syncedTo(f.Feed)
	for _, d := range f.decisions {
		if d.Reject == nil && d.Head != known[d.ID] {
			f.heads[d.ID] = d.Head
		}
		f.tally(d)
		f.noteMissed(d, synced)
	}
	for _, gone := range f.removals {
		f.heads[gone.id] = transform.Removal(known[gone.id])
		f.news++
		f.Removed++
		if gone.reason == lake.ReasonOutOfEntitlement {
			f.NotEntitled++
		}
	}
	return nil
}

// sameBase says whether all that is known of a feed was last seen under this run's base URL.
func (r *run) sameBase(feed api.Feed) bool {
	for _, run := range r.lake.Log().SinceSnapshot(feed) {
		if run.Feed(feed).BaseURL != r.Base.String() {
			return false
		}
	}
	return true
}

// tally counts one decision.
func (f *feedResult) tally(d transform.Decision) {
	if d.Change != "" {
		f.news++
	}
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

// liveDeal is a deal of the snapshot.
type liveDeal struct {
	id      int64
	version int32
	fresh   bool          // a new version: its rows go to history too
	old     *load.Payload // of a kept deal: its last version; nil: the spool has it
	base    api.Base      // of old: its links are relative to it
}

// deals lists by deal_id the deals whose rows are written: all of the snapshot, or, where none is
// written, those with a new version.
func (r *run) deals(ctx context.Context, f *feedResult) ([]liveDeal, error) {
	if !r.complete {
		var fresh []liveDeal
		for _, d := range f.decisions {
			if d.Change != "" {
				fresh = append(fresh, liveDeal{id: d.ID, version: d.Version, fresh: true})
			}
		}
		f.Deals = int64(len(f.decisions))
		return fresh, nil
	}
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
	var bases *load.Bases
	if len(old) > 0 {
		bases = load.NewBases(r.lake.Log().Runs, f.Feed)
	}
	for id, payload := range old {
		base, err := bases.Of(payload.RunID)
		if err != nil {
			return nil, fmt.Errorf("deal %d: %w", id, err)
		}
		deals = append(deals, liveDeal{id: id, version: want[id], old: &payload, base: base})
	}
	slices.SortFunc(deals, func(a, b liveDeal) int { return cmp.Compare(a.id, b.id) })
	f.Deals = int64(len(deals))
	f.Unchanged += int64(len(f.kept))
	return deals, nil
}

// writeRows flattens every deal of the snapshot once, into the snapshot's files and, for a new
// version, into those of history.
func (r *run) writeRows(ctx context.Context, f *feedResult) (err error) {
	deals, err := r.deals(ctx, f)
	if err != nil {
		return err
	}
	snapshot, err := r.snapshotFiles(f.Feed)
	if err != nil {
		return err
	}
	history := newTableFiles(transform.NewHistoryBatches(r.Memory, f.Feed), func(t *lake.Table) (*parquet.Writer, error) { return r.load.History(t, f.Feed.Market) })
	defer func() { err = errors.Join(err, snapshot.end(), history.end()) }()

	// On a first night every row of the snapshot is one of history: they are built once.
	shared := r.complete && !slices.ContainsFunc(deals, func(d liveDeal) bool { return !d.fresh })
	if shared {
		snapshot.history = history
	}
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
		if d.fresh && !shared {
			if err := history.append(flattener, d.id, d.version); err != nil {
				return err
			}
		}
	}
	f.Drift = flattener.Drift()
	return errors.Join(snapshot.finish(ctx), history.finish(ctx))
}

// snapshotFiles opens the files of a feed's snapshot; a run that reads changes alone writes none.
func (r *run) snapshotFiles(feed api.Feed) (*tableFiles, error) {
	if !r.complete {
		return nil, nil
	}
	batches, err := transform.NewSnapshotBatches(r.Memory, feed, r.day)
	if err != nil {
		return nil, err
	}
	return newTableFiles(batches, func(t *lake.Table) (*parquet.Writer, error) { return r.load.Snapshot(t, feed.Market, r.day) }), nil
}

// readDeal stages the rows of one deal. A kept deal's links are relative to the address it came from.
func (r *run) readDeal(f *feedResult, flattener *transform.Flattener, d liveDeal, buf []byte) ([]byte, error) {
	base := r.Base
	var payload []byte
	if d.old != nil {
		base, payload = d.base, d.old.Bytes
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
