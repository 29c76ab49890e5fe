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

// Sync pulls what changed since the feeds were last pulled, as one commit, into history only. It reads lists in order
// of update from their saved updatedSince link, and bond expected lists completely. It removes no deal. If nothing is
// new, and no lost commit is to be recorded, it commits nothing (lake.OutcomeUnchanged). It skips feeds without a complete snapshot in the lake; without a
// lake the error is load.ErrNoLake. If another command holds the lease, it does nothing (lake.OutcomeSkipped). If
// another one commits first, the error is load.ErrConflict, and the next sync pulls the same changes again. Other
// errors are those of Run.
func Sync(ctx context.Context, cfg Config) (*Result, error) {
	all := func(_ context.Context, r *run) ([]api.Feed, error) { return r.Feeds, nil }
	return execute(ctx, cfg, command{name: lake.CommandSync, plan: all, read: readChanges})
}

// readChanges fills the spool with the deals that changed.
func readChanges(ctx context.Context, r *run, f *feedRun) error {
	log := r.lake.Log()
	if !log.EverTaken(f.Feed) {
		f.Outcome, f.Error = lake.OutcomeSkipped, "the lake has no snapshot of it; run `dealflow run` first"
		return nil
	}
	changes, err := r.Client.Changes(ctx, f.Feed, log.UpdatedSince(f.Feed), f.spool)
	if err != nil {
		return err
	}
	r.clock.Observe(changes.LastObserved)
	f.UpdatedSince = changes.UpdatedSince
	return nil
}

// syncedTo returns the instant up to which syncs have followed a feed's updatedSince links since its last complete
// snapshot; zero if there was no sync, or the feed has no such links.
func (r *run) syncedTo(feed api.Feed) time.Time {
	runs := r.lake.Log().SinceSnapshot(feed)
	if !r.command.complete || len(runs) < 2 {
		return time.Time{}
	}
	for _, run := range slices.Backward(runs[1:]) {
		if updated, ok := api.UpdatedSinceTime(run.Feed(feed).UpdatedSince); ok {
			return updated
		}
	}
	return time.Time{}
}

// countMissed counts a new version whose updatedSince link is older than synced: a sync should have pulled it, but the
// source did not list it then.
func (f *feedRun) countMissed(d *transform.Decision, synced time.Time) {
	if d.Change() == "" || d.Change() == lake.Removed || synced.IsZero() {
		return
	}
	entry, _ := f.spool.Entry(d.ID)
	updated, ok := api.UpdatedSinceTime(entry.UpdatedSince)
	if !ok || !updated.Before(synced) {
		return
	}
	f.SyncMissed++
	if len(f.SyncMissedIDs) < lake.SyncMissedListed {
		f.SyncMissedIDs = append(f.SyncMissedIDs, d.ID)
	}
}

// missedWarning returns the text of the warning about missed changes; "" for none.
func missedWarning(f *lake.FeedRun) string {
	if f.SyncMissed == 0 {
		return ""
	}
	return fmt.Sprintf("%s: this run found %d changes that syncs had missed: deals %s", f.Feed, f.SyncMissed, firstOf(f.SyncMissedIDs))
}

// firstOf writes the first ids for a message.
func firstOf(ids []int64) string {
	const most = 10
	if len(ids) <= most {
		return fmt.Sprint(ids)
	}
	return fmt.Sprintf("%v, …", ids[:most])
}
