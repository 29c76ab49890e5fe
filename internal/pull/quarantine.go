package pull

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"dealflow/extract"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// quarantine puts unreadable records into the lake: all of them after a complete snapshot, otherwise only those that
// are not there yet, so that syncs do not repeat a record every few minutes.
func (r *run) quarantine(ctx context.Context, f *feedRun) error {
	records, err := r.unreadable(f)
	if err != nil {
		return err
	}
	f.Quarantined = int64(len(records))
	if len(records) > 0 && !r.command.complete {
		open, err := OpenQuarantine(ctx, r.lake, f.Feed)
		if err != nil {
			return err
		}
		records = slices.DeleteFunc(records, func(q load.Quarantined) bool {
			return slices.ContainsFunc(open, func(o load.Quarantined) bool { return bytes.Equal(o.Raw, q.Raw) })
		})
	}
	f.news += len(records)
	return r.session.Quarantine(ctx, f.Feed, records)
}

// unreadable lists the records of a feed that cannot be read as deals.
func (r *run) unreadable(f *feedRun) ([]load.Quarantined, error) {
	var records []load.Quarantined
	for _, q := range f.spool.Rejects() {
		records = append(records, load.Quarantined{
			Feed: f.Feed, Reject: q.Reject, DealID: q.ID, HasID: q.HasID, Raw: q.Raw, Page: r.Base.Relative(q.URL), ObservedAt: lake.At(q.ObservedAt),
		})
	}
	for _, id := range slices.Sorted(maps.Keys(f.decisions.Rejects)) {
		raw, err := f.spool.Payload(id, nil)
		if err != nil {
			return nil, err
		}
		entry, _ := f.spool.Entry(id)
		records = append(records, load.Quarantined{Feed: f.Feed, Reject: f.decisions.Rejects[id], DealID: id, HasID: true, Raw: raw, ObservedAt: lake.At(entry.ObservedAt)})
	}
	return records, nil
}

// RetryQuarantined asks the API by id for the deals whose records are in open quarantine (OpenQuarantine). It commits
// those that it can read now: history only, one commit. Records without a readable id wait for the next run, which
// reads the complete list. If there are no others, it does nothing (lake.OutcomeUnchanged), and the result has no feeds. Errors
// are those of Sync.
func RetryQuarantined(ctx context.Context, cfg Config) (*Result, error) {
	ids := map[api.Feed][]int64{}
	plan := func(ctx context.Context, r *run) ([]api.Feed, error) {
		for _, feed := range r.Feeds {
			open, err := OpenQuarantine(ctx, r.lake, feed)
			if err != nil {
				return nil, err
			}
			for _, q := range open {
				if q.HasID {
					ids[feed] = append(ids[feed], q.DealID)
				}
			}
			slices.Sort(ids[feed])
			ids[feed] = slices.Compact(ids[feed])
		}
		return slices.DeleteFunc(slices.Clone(r.Feeds), func(f api.Feed) bool { return len(ids[f]) == 0 }), nil
	}
	read := func(ctx context.Context, r *run, f *feedRun) error { return r.readByID(ctx, f, ids[f.Feed]) }
	return execute(ctx, cfg, command{name: lake.CommandQuarantine, byID: true, plan: plan, read: read})
}

// readByID fills the spool with deals that the API returns by id.
func (r *run) readByID(ctx context.Context, f *feedRun, ids []int64) error {
	confirmed, err := r.Client.Confirm(ctx, f.Feed, extract.Question{IDs: ids}, f.spool)
	if err != nil {
		return err
	}
	for id, answer := range confirmed.Answers {
		if answer.Says != extract.Present {
			r.Log.Warn("the API no longer returns a deal in quarantine; the next run decides whether it was removed", "feed", f.Feed.String(), "deal", id, "answer", string(answer.Says))
		}
	}
	for _, id := range f.spool.IDs() {
		entry, _ := f.spool.Entry(id)
		r.clock.Observe(entry.ObservedAt)
	}
	return nil
}

// OpenQuarantine lists the records of a feed that were put into quarantine since its last complete snapshot
// (load.Log.SinceSnapshot), and whose deal could not be read since.
func OpenQuarantine(ctx context.Context, l *load.Lake, feed api.Feed) ([]load.Quarantined, error) {
	records, err := l.Quarantined(ctx, feed, l.Log().RunsSinceSnapshot(feed))
	if err != nil {
		return nil, err
	}
	return l.Unread(ctx, feed, records)
}
