package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"dealflow/extract"
	"dealflow/internal/attempts"
	"dealflow/internal/runlist"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// requestsLeft returns the number of requests that may still be sent today; 0 if there is no limit. If none may be sent,
// the error is extract.ErrBudget. What is counted is what commits and attempts of the day say. A command that was killed
// has not said what it sent.
func (a *app) requestsLeft(ctx context.Context, s store.Store, perDay int64) (int64, error) {
	if perDay == 0 {
		return 0, nil
	}
	l, err := a.openToRead(ctx, s)
	if errors.Is(err, load.ErrNoLake) {
		return perDay, nil
	}
	if err != nil {
		return 0, err
	}
	now := a.Now().UTC()
	sent, err := requestsOn(ctx, l, lake.DateOf(now))
	if err != nil {
		return 0, err
	}
	if sent >= perDay {
		tomorrow := now.Truncate(24*time.Hour).AddDate(0, 0, 1)
		return 0, fmt.Errorf("%w: %d requests were sent today, want %d at most (--requests-per-day); the next command may begin at %s", extract.ErrBudget, sent, perDay, tomorrow.Format(time.RFC3339))
	}
	return perDay - sent, nil
}

// requestsOn returns the number of requests that commands sent which began on a day (YYYY-MM-DD, UTC). The day of a
// command is that of its attempt, by the machine's clock; if that was not recorded, that of its commit, by the run's.
func requestsOn(ctx context.Context, l *load.Lake, day string) (int64, error) {
	entries, err := attempts.ListDay(ctx, l.Store(), day)
	if err != nil {
		return 0, err
	}
	made, err := attempts.Read(ctx, l.Store(), entries)
	if err != nil {
		return 0, err
	}
	var sum int64
	counted := map[string]bool{} // run ids
	for i := range made {
		if made[i].State == attempts.Ended {
			sum += made[i].Requests
			counted[made[i].RunID] = true
		}
	}
	commits, err := runsSince(ctx, l, day)
	if err != nil {
		return 0, err
	}
	for i := range commits {
		c := &commits[i]
		if counted[c.RunID] || lake.DateOf(c.StartedAt.Time) != day {
			continue
		}
		for j := range c.Feeds {
			sum += c.Feeds[j].Requests
		}
	}
	return sum, nil
}

// runsSince returns commits: at least those whose runs began on a day or later.
func runsSince(ctx context.Context, l *load.Lake, day string) ([]lake.Commit, error) {
	log := l.Log()
	held := slices.IndexFunc(log.Commits, func(c lake.Commit) bool { return log.Whole(c.Number) })
	if held >= 0 && lake.DateOf(log.Commits[held].StartedAt.Time) < day {
		return log.Commits[held:], nil // the usual case of a long log
	}
	return runlist.Last(ctx, l, 0)
}
