package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Hold says that the removal guard holds a feed. It begins with the first run that held the feed, and ends with a
// complete snapshot of the feed. A run that commits something remembers it in the commit (lake.OutcomeHeld); any other
// run remembers it in the object lake.HeldKey, which is this type as JSON.
type Hold struct {
	Feed   api.Feed     `json:"feed"`
	Since  lake.Instant `json:"since"`
	Reason string       `json:"reason"` // of the newest run that held it
	Commit int64        `json:"commit"` // the lake's newest commit by then: a later complete snapshot ends the hold
	RunID  string       `json:"run_id"`
	Listed int64        `json:"listed"` // deals that the list showed
	Known  int64        `json:"known"`  // deals that the lake knew as current
	Absent int64        `json:"absent"` // of them those that the list did not show, for the first time
}

// Hold returns the hold of a feed; nil if there is none.
func (l *Lake) Hold(ctx context.Context, feed api.Feed) (*Hold, error) {
	committed, ended := l.log.hold(feed)
	data, err := store.Read(ctx, l.store, lake.HeldKey(feed))
	if errors.Is(err, store.ErrNotFound) {
		return committed, nil
	}
	if err != nil {
		return nil, fmt.Errorf("hold of %s: %w", feed, err)
	}
	var apart Hold
	if err := json.Unmarshal(data, &apart); err != nil || apart.Feed != feed {
		return nil, fmt.Errorf("%s: got no hold of %s; look at the feed, then delete the object", lake.HeldKey(feed), feed)
	}
	switch {
	case apart.Commit < ended:
		return committed, nil
	case committed == nil:
		return &apart, nil
	}
	if apart.Since.Before(committed.Since.Time) {
		committed.Since = apart.Since
	}
	if apart.Commit >= committed.Commit {
		committed.Reason, committed.RunID = apart.Reason, apart.RunID
	}
	return committed, nil
}

// Holds returns the holds of all feeds, in the order of api.Feeds.
func (l *Lake) Holds(ctx context.Context) ([]Hold, error) {
	feeds := api.Feeds()
	found := make([]*Hold, len(feeds))
	reading, ctx := errgroup.WithContext(ctx)
	for i, feed := range feeds {
		reading.Go(func() (err error) {
			found[i], err = l.Hold(ctx, feed)
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	var all []Hold
	for _, hold := range found {
		if hold != nil {
			all = append(all, *hold)
		}
	}
	return all, nil
}

// RememberHold writes a hold that no commit remembers. If the feed was held already, the hold keeps its beginning.
func (l *Lake) RememberHold(ctx context.Context, hold Hold) error {
	before, err := l.Hold(ctx, hold.Feed)
	if err != nil {
		return err
	}
	if before != nil && before.Since.Before(hold.Since.Time) {
		hold.Since = before.Since
	}
	hold.Commit = l.log.Number
	data, err := json.Marshal(hold)
	if err == nil {
		err = l.store.Put(ctx, lake.HeldKey(hold.Feed), bytes.NewReader(append(data, '\n')), store.Replace)
	}
	if err != nil {
		return fmt.Errorf("hold of %s: %w", hold.Feed, err)
	}
	return nil
}

// hold returns the hold that commits remember, nil for none, and the number of the feed's last complete snapshot.
func (g *Log) hold(feed api.Feed) (hold *Hold, ended int64) {
	for i := len(g.Commits) - 1; i >= 0; i-- {
		run := &g.Commits[i]
		f := run.Feed(feed)
		switch {
		case f == nil || run.SnapshotDate == "":
		case f.Outcome == lake.OutcomeDone:
			return hold, run.Number
		case f.Outcome == lake.OutcomeHeld && hold == nil:
			hold = &Hold{Feed: feed, Since: run.KnownAt, Reason: f.Error, Commit: run.Number, RunID: run.RunID}
		case f.Outcome == lake.OutcomeHeld:
			hold.Since = run.KnownAt
		}
	}
	return hold, 0
}

// Absent returns the deals of a feed that its last complete snapshot kept although the list did not show them: unproved ones,
// without evidence that they are gone, and standing ones, which answered by id. A snapshot that was taken back counts as well: its day is gone, and
// what the API said is still known. Both are sorted; the slices are shared.
func (g *Log) Absent(feed api.Feed) (unproved, standing []int64) {
	for run := range g.pulls(feed, lake.OutcomeDone) {
		if run.SnapshotDate != "" {
			return run.Feed(feed).UnprovedAbsent, run.Feed(feed).StandingAbsent
		}
	}
	return nil, nil
}

// Snapshots returns the number of the feed's complete snapshots.
func (g *Log) Snapshots(feed api.Feed) int {
	n := 0
	for range g.FeedRuns(feed, lake.OutcomeDone) {
		n++
	}
	return n
}
