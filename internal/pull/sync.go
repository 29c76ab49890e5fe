package pull

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// Sync pulls what changed since the feeds were pulled last, into history alone, as one commit: lists in
// order of update from their saved updatedSince link on, bond expected lists whole. It declares no
// removal, and commits nothing where nothing is new (lake.OutcomeUnchanged). Feeds of which the lake holds
// no complete snapshot are skipped; without any lake the error is load.ErrNoLake. Where another run
// holds the lease, nothing is done (lake.OutcomeSkipped); where another one commits first, the error
// is load.ErrConflict, and the next sync brings the same again. Other errors are those of Run.
func Sync(ctx context.Context, cfg Config) (*Result, error) {
	all := func(_ context.Context, r *run) ([]api.Feed, error) { return r.Feeds, nil }
	return execute(ctx, cfg, command{name: "sync", plan: all, read: readChanges})
}

// readChanges fills the spool with what changed.
func readChanges(ctx context.Context, r *run, f *feedRun) error {
	log := r.lake.Log()
	if !log.Held(f.Feed) {
		f.Outcome, f.Error = lake.OutcomeSkipped, "the lake holds no snapshot of it; `dealflow run` takes the first"
		return nil
	}
	changes, err := r.Client.Changes(ctx, f.Feed, log.UpdatedSince(f.Feed), f.spool)
	if err != nil {
		return err
	}
	r.clock.observe(changes.LastObserved)
	f.UpdatedSince = changes.UpdatedSince
	return nil
}

// syncedTo is the instant up to which syncs have followed a feed's updatedSince links since its last
// complete snapshot, and before this one; zero where there was no sync, or the feed has no such links.
func (r *run) syncedTo(feed api.Feed) time.Time {
	runs := r.lake.Log().SinceSnapshot(feed)
	if !r.command.complete || len(runs) < 2 {
		return time.Time{}
	}
	for _, run := range slices.Backward(runs[1:]) {
		if at, ok := api.UpdatedSinceTime(run.Feed(feed).UpdatedSince); ok {
			return at
		}
	}
	return time.Time{}
}

// countMissed counts a new version whose updatedSince link is older than what syncs have followed: they
// should have brought it, and the source did not show it to them.
func (f *feedRun) countMissed(d transform.Decision, synced time.Time) {
	if d.Change == "" || d.Change == lake.Removed || synced.IsZero() {
		return
	}
	entry, _ := f.spool.Entry(d.ID)
	at, ok := api.UpdatedSinceTime(entry.UpdatedSince)
	if !ok || !at.Before(synced) {
		return
	}
	f.SyncMissed++
	if len(f.SyncMissedIDs) < lake.SyncMissedListed {
		f.SyncMissedIDs = append(f.SyncMissedIDs, d.ID)
	}
}

// missedWarning says in words what syncs had missed; "" for nothing.
func missedWarning(f *lake.FeedRun) string {
	if f.SyncMissed == 0 {
		return ""
	}
	ids := f.SyncMissedIDs[:min(len(f.SyncMissedIDs), 10)]
	more := ""
	if int64(len(ids)) < f.SyncMissed {
		more = ", …"
	}
	return fmt.Sprintf("%s: this run found %d changes that syncs had missed: deals %v%s", f.Feed, f.SyncMissed, slices.Clone(ids), more)
}
