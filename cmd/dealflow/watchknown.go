package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"dealflow/internal/attempts"
	"dealflow/internal/watch"
	"dealflow/internal/watch/schedule"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// attemptsLooked is the number of attempts of each command that a watch reads.
const attemptsLooked = 20

// known returns what earlier commands have done on the lake.
func (w *watcher) known(ctx context.Context) (k watch.Known, err error) {
	l, err := w.app.openToRead(ctx, w.store)
	if errors.Is(err, load.ErrNoLake) {
		return k, nil
	}
	if err != nil {
		return k, err
	}
	log := l.Log()
	for _, feed := range w.feeds {
		k.Has = k.Has || log.EverTaken(feed)
	}
	entries, err := attempts.List(ctx, l.Store())
	if err != nil {
		return k, err
	}
	counts := map[string]int{}
	entries = slices.DeleteFunc(entries, func(e attempts.Entry) bool {
		counts[e.Command]++
		return e.Command != "run" && !slices.Contains(w.maintenance, e.Command) || counts[e.Command] > attemptsLooked
	})
	made, err := w.app.resolve(ctx, l, entries)
	if err != nil {
		return k, err
	}
	rows := rowsOf(log.Commits, log, made)
	if len(log.Commits) > 0 && w.app.settings.clock != "server" {
		k.Maintain = log.Commits[0].StartedAt.Time // a lake that begins needs no maintenance
	}
	ran, maintained := false, false
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Command == "run" && !ran:
			k.Run, ran = w.ranAt(log, r)
		case !maintained && w.maintains(r):
			k.Maintain, maintained = r.Attempt.StartedAt.Time, true
		}
	}
	return k, nil
}

// ranAt returns when a run began, by the machine's clock, if it needs no other attempt.
func (w *watcher) ranAt(log *load.Log, r *runRow) (began time.Time, settled bool) {
	code := 1
	switch {
	case r.Attempt != nil && r.Attempt.ExitCode != nil:
		code = *r.Attempt.ExitCode
	case r.Number > 0 && r.Outcome == lake.OutcomeDone: // it was killed after its commit, or its attempt was not recorded
		code = 0
	}
	switch {
	case r.Attempt != nil:
		began = r.Attempt.StartedAt.Time
	case w.app.settings.clock != "server":
		began = r.StartedAt.Time
	}
	if began.IsZero() || !watch.Settled(schedule.Run, code) {
		return time.Time{}, false
	}
	if code == 0 || code == 9 { // a run of some feeds, by hand, is not that of the night
		for _, feed := range w.feeds {
			if !log.HasSnapshot(feed, r.SnapshotDate) && !log.Skipped(feed, r.SnapshotDate) {
				return time.Time{}, false
			}
		}
	}
	return began, true
}

// maintains says whether an attempt completed the maintenance, or found what a person must see first.
func (w *watcher) maintains(r *runRow) bool {
	if r.Attempt == nil || r.Attempt.ExitCode == nil || !slices.Contains(w.maintenance, r.Command) {
		return false
	}
	code := *r.Attempt.ExitCode
	last := r.Command == w.maintenance[len(w.maintenance)-1]
	return watch.Settled(schedule.Maintain, code) && (last || code == 7)
}
