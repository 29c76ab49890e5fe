package pull

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"dealflow/extract"
	"dealflow/load"
	"dealflow/load/state"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// feedRun is the state of one feed in a run. Extraction, resolved and decided follow one another; deciding again begins
// after extraction (begin).
type feedRun struct {
	lake.FeedRun
	failure error      // the error of which FeedRun.Error is the text
	hold    *load.Hold // why the removal guard holds the feed; nil if it does not

	earlier *fetching // of the files of the feed's last snapshot; nil for none

	// Set by extraction.
	spool     *extract.Spool
	listed    int          // number of deals that the list shows, readable or not
	probes    []int64      // some of them
	extracted lake.FeedRun // FeedRun at the end of extraction

	byID map[int64]time.Time // when the API returned a deal by id that the list lacks: it is in the spool, or cannot be read

	resolved
	decided
}

// resolved says what became of known deals that the feed's snapshot lacks. Only complete runs resolve.
type resolved struct {
	superseded map[int64]bool      // deals with a later observation that another run has committed
	kept       []int64             // known deals without a payload in this run that keep their last version
	removals   []transform.Removal // by deal_id
	warnings   []string
}

// decided is the feed's new versions, compared with the latest ones in the lake.
type decided struct {
	decisions transform.Decisions // none once the files are written
	came      state.Records       // the new versions among them, from then on
	news      int                 // number of new versions and of records newly put into quarantine
}

// begin resets the feed to the end of extraction.
func (f *feedRun) begin(superseded map[int64]bool) {
	f.FeedRun, f.resolved, f.decided = f.extracted, resolved{superseded: superseded}, decided{}
}

// spill writes the new versions among the feed's decisions to a file in a folder, and drops the decisions.
func (f *feedRun) spill(folder string) (err error) {
	f.came, err = state.WriteRecords(folder, func(yield func(int64, *lake.LatestVersion) bool) {
		for i := range f.decisions.Deals {
			if d := &f.decisions.Deals[i]; d.Change() != "" && !yield(d.ID, &d.Latest) {
				return
			}
		}
	})
	f.decisions = transform.Decisions{}
	return err
}

func (f *feedRun) hasNews() bool { return f.news > 0 }

func (f *feedRun) observations() observations { return observations{f.spool, f.superseded} }

func (f *feedRun) close() error {
	err := f.earlier.close()
	if f.spool == nil {
		return err
	}
	return errors.Join(err, f.spool.Close())
}

// observations is the spool without the superseded deals. It implements transform.Payloads.
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

// feed pulls one feed and writes its files. It returns only errors that end the run; the feed's own failure is in its
// outcome.
func (r *run) feed(ctx context.Context, feed api.Feed) (*feedRun, error) {
	f := &feedRun{byID: map[int64]time.Time{}, FeedRun: lake.FeedRun{
		Feed: feed, BaseURL: r.Base.String(), Outcome: lake.OutcomeDone, StartedAt: lake.At(r.clock.Now()), Drift: []lake.Drift{},
	}}
	var err error
	if f.spool, err = extract.NewSpool(r.spools, feed, transform.NewCanonicalizer(r.Base).Hash); err != nil {
		r.show(f, err)
		return f, err
	}
	began := r.Clock()
	bounded, cancel := r.bounded(ctx)
	defer cancel()
	f.earlier = r.fetchEarlier(bounded, feed)
	err = r.command.read(bounded, r, f)
	f.extracted = f.FeedRun
	r.show(f, err)
	if err == nil && f.Outcome == lake.OutcomeDone && r.command.complete {
		err = r.resolveAbsent(bounded, f)
	}
	f.ExtractMS = r.Clock().Sub(began).Milliseconds()
	f.extracted.ExtractMS = f.ExtractMS
	if err != nil || f.Outcome != lake.OutcomeDone {
		return f, r.outcome(ctx, f, err)
	}
	return f, r.decideAndWrite(ctx, f)
}

// readSnapshot fills the spool with a complete snapshot.
func readSnapshot(ctx context.Context, r *run, f *feedRun) error {
	snapshot, err := r.Client.Snapshot(ctx, f.Feed, f.spool)
	if err != nil {
		return err
	}
	r.clock.Observe(snapshot.LastObserved)
	f.UpdatedSince = snapshot.UpdatedSince
	listed := listedIDs(f.spool)
	f.listed, f.probes = len(listed), probes(listed)
	return nil
}

// outcome turns a feed's error into its outcome, or returns it if it ends the run.
func (r *run) outcome(ctx context.Context, f *feedRun, err error) error {
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
		f.Outcome, f.hold = lake.OutcomeHeld, &held.hold
	case extract.IsForbiddenOrMissing(err) && !r.lake.Log().EverTaken(f.Feed):
		f.Outcome = lake.OutcomeSkipped
		r.Log.Warn("feed is not part of the account", "feed", f.Feed.String(), "error", err)
	default:
		f.Outcome = lake.OutcomeFailed
	}
	f.failure = r.late(err)
	f.Error = withoutFeed(f.Feed, f.failure)
	return nil
}

// withoutFeed returns the text of a feed's error without the feed, which is next to it wherever it is shown.
func withoutFeed(feed api.Feed, err error) string {
	return strings.TrimPrefix(err.Error(), feed.String()+": ")
}

// count copies the client's counts into the feed's.
func (r *run) count(f *feedRun) {
	c := r.Client.Counts(f.Feed)
	f.Pages, f.Requests, f.Bytes = int64(c.Pages), int64(c.Requests), c.Bytes
	f.Retries, f.Waits, f.WaitedMS = int64(c.Retries), int64(c.Waits), c.Waited.Milliseconds()
	f.Sweeps, f.Restarts, f.Confirmations = int64(c.Sweeps), int64(c.Restarts), int64(c.Confirmations)
	f.FinishedAt = lake.At(r.clock.Now())
}

// decideAndWrite waits for a free worker, decides the feed's versions, and writes its files.
func (r *run) decideAndWrite(ctx context.Context, f *feedRun) (err error) {
	if err := r.workers.Acquire(ctx, 1); err != nil {
		return err
	}
	defer r.workers.Release(1)
	defer func() { err = load.OfFeed(f.Feed, err) }()
	began := r.Clock()
	undecided, absent := f.FeedRun, f.resolved
	absent.kept = slices.Clip(absent.kept)
	if err := r.decide(f); err != nil {
		return err
	}
	if again, err := r.rereadBroken(ctx, f); err != nil {
		return err
	} else if again {
		f.FeedRun, f.resolved, f.decided = undecided, absent, decided{}
		if err := r.decide(f); err != nil {
			return err
		}
	}
	if err := errors.Join(r.quarantine(ctx, f), r.writeRows(ctx, f)); err != nil {
		return err
	}
	f.WriteMS = r.Clock().Sub(began).Milliseconds()
	r.count(f)
	return nil
}

// decide numbers the feed's new versions, and counts them.
func (r *run) decide(f *feedRun) (err error) {
	f.decisions, err = transform.Decide(r.latest[f.Feed], f.observations(), f.removals, transform.NewCanonicalizer(r.Base), r.sameBase(f.Feed))
	if err != nil {
		return err
	}
	synced := r.syncedTo(f.Feed)
	for i := range f.decisions.Deals {
		d := &f.decisions.Deals[i]
		f.tally(d)
		f.countMissed(d, synced)
	}
	return nil
}

// mostReread is how many broken records of a feed are asked for again. More of them are no accident on the way.
const mostReread = 100

// rereadBroken asks by id for the deals whose records are no JSON or no UTF-8, before they go into the quarantine: the
// records may have been damaged on the way. (The client itself sees only damage to a record's outermost level.) It returns
// true if the feed must be decided again. A deal that cannot be read again stays as it is.
func (r *run) rereadBroken(ctx context.Context, f *feedRun) (again bool, err error) {
	var ids []int64
	for id, reject := range f.decisions.Rejects {
		if reject.MayBeDamage() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if len(ids) == 0 || len(ids) > mostReread || r.command.byID {
		return false, nil
	}
	bounded, cancel := r.bounded(ctx)
	defer cancel()
	r.Log.Info("records that cannot be read are requested again", "feed", f.Feed.String(), "deals", len(ids))
	err = r.readByID(bounded, f, ids)
	if err != nil && ctx.Err() == nil {
		r.Log.Warn("records that cannot be read could not be requested again, and go into the quarantine", "feed", f.Feed.String(), "error", err)
		err = nil
	}
	return true, err
}

// sameBase says whether all runs that pulled the feed used this run's base URL. Those since the last complete snapshot are
// not enough: a deal that was removed or in quarantine then has a version from before it. The log has a run of each base URL.
func (r *run) sameBase(feed api.Feed) bool {
	commits := r.lake.Log().Commits
	for i := range commits {
		if run := commits[i].Feed(feed); run != nil && run.BaseURL != r.Base.String() {
			return false
		}
	}
	return true
}

// tally counts one decision.
func (f *feedRun) tally(d *transform.Decision) {
	change := d.Change()
	if change != "" {
		f.news++
	}
	switch {
	case d.Kept():
		f.kept = append(f.kept, d.ID)
	case d.Rejected:
	case change == lake.Added:
		f.Added++
	case change == lake.Changed:
		f.Changed++
	case change == lake.Reappeared:
		f.Reappeared++
	case change == lake.Removed:
		f.Removed++
		if f.decisions.Removals[d.ID].Reason == lake.ReasonOutOfEntitlement {
			f.NotEntitled++
		}
	default:
		f.Unchanged++
	}
}
