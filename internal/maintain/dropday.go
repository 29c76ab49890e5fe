package maintain

import (
	"context"
	"fmt"
	"time"

	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// dropDay takes back the snapshots of a day, as one commit: their files leave the lake, and the commit says so. Unlike an
// expired day, such a day counts as never taken. History stays as it is. If a run takes the day while it is being taken back, nothing is
// done: no one has seen what that run took.
func (w *work) dropDay(ctx context.Context, cfg ExpireConfig, result *ExpireResult) error {
	var drop lake.DroppedDay
	var remove []string
	if result.decided == 0 {
		result.decided = w.lake.Log().Number
	}
	plan := func() error { // again after a conflict: the other commit may have merged files
		w.tx.Discard()
		if err := notTakenAgain(w.lake.Log(), result.decided, cfg); err != nil {
			result.Expired = []ExpiredFeed{}
			return err
		}
		planned, days, err := planDrop(w.lake.Log(), cfg, result)
		if err != nil {
			return err
		}
		drop = planned
		remove, err = w.takeOut(ctx, days)
		return err
	}
	if err := plan(); err != nil {
		return err
	}
	return w.retryConflicts(ctx, func() error {
		return w.commitOnce(ctx, lake.Commit{Remove: remove, Corrections: lake.Corrections{DroppedDays: []lake.DroppedDay{drop}}}, &result.Result)
	}, plan)
}

// notTakenAgain returns an error if a commit after number decided took a snapshot of the day that is to be taken back.
func notTakenAgain(log *load.Log, decided int64, cfg ExpireConfig) error {
	for _, feed := range cfg.DropFeeds {
		for run := range log.FeedRuns(feed, lake.OutcomeDone) {
			if run.Number <= decided {
				break
			}
			if run.SnapshotDate == cfg.DropDay {
				return fmt.Errorf("drop day %s: commit %d took %s of that day after it was decided to take it back, so nothing was taken back: look at `dealflow runs show %d`; if it is wrong, too, take the day back again",
					cfg.DropDay, run.Number, feed, run.Number)
			}
		}
	}
	return nil
}

// planDrop lists the feeds that have a snapshot of the day, and its files. It sets result.Expired.
func planDrop(log *load.Log, cfg ExpireConfig, result *ExpireResult) (drop lake.DroppedDay, days []expiredDay, err error) {
	drop.Day = cfg.DropDay
	for _, feed := range cfg.DropFeeds {
		if !log.HasSnapshot(feed, drop.Day) && !log.Skipped(feed, drop.Day) {
			continue
		}
		drop.Feeds = append(drop.Feeds, feed)
		days = append(days, expiredDay{Feed: feed, Day: drop.Day, Files: log.Snapshot(feed, drop.Day)})
	}
	if len(days) == 0 {
		return drop, nil, fmt.Errorf("drop day %s: no run has a snapshot of it that was not taken back; `dealflow runs` lists the days", drop.Day)
	}
	result.Expired = []ExpiredFeed{}
	result.addDays(days)
	return drop, days, nil
}

// checkDrop checks which day to take back, and sets its feeds.
func (c *ExpireConfig) checkDrop() error {
	if _, err := time.Parse(time.DateOnly, c.DropDay); err != nil {
		return fmt.Errorf("drop day %q: want YYYY-MM-DD", c.DropDay)
	}
	if len(c.DropFeeds) == 0 {
		c.DropFeeds = api.Feeds()
	}
	return nil
}
