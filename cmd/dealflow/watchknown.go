package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"dealflow/internal/attempts"
	"dealflow/internal/exitcode"
	"dealflow/internal/runlist"
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
		return e.Command != lake.CommandRun && !slices.Contains(w.maintenance, e.Command) || counts[e.Command] > attemptsLooked
	})
	made, err := w.app.attemptsOn(l).Resolve(ctx, entries)
	if err != nil {
		return k, err
	}
	if w.app.settings.clock != "server" {
		k.Day = log.SnapshotDay()
	}
	rows := runlist.Merge(log.Commits, log, made)
	k.Pulls, k.Maintain = w.pulls(log, rows), w.maintained(log, rows)
	return k, nil
}

// pulls returns what runs have done for each feed of the watch.
func (w *watcher) pulls(log *load.Log, rows []runlist.Row) [][]watch.Pull {
	found := make([][]watch.Pull, len(w.feeds))
	for n, feed := range w.feeds {
		taken := log.SnapshotInstants(feed)
		for i := range rows {
			r := &rows[i]
			f, began := r.Feed(feed), w.began(r)
			if r.Command != lake.CommandRun || f == nil || began.IsZero() {
				continue
			}
			code := exitcode.Error
			if r.Attempt != nil && r.Attempt.ExitCode != nil {
				code = *r.Attempt.ExitCode
			}
			_, kept := taken[r.SnapshotDate] // else the day was taken back
			switch {
			case f.Outcome == lake.OutcomeHeld:
			case f.Outcome == lake.OutcomeSkipped && (r.Number > 0 || exitcode.IsHeld(code)):
			case f.Outcome == lake.OutcomeDone && (r.Number > 0 && kept || r.Number == 0 && code == exitcode.Hold): // a check held it
			default:
				continue
			}
			pull := watch.Pull{Began: began, Day: r.SnapshotDate}
			if w.app.settings.clock == "server" {
				pull.Day = ""
			}
			found[n] = append(found[n], pull)
		}
	}
	return found
}

// began returns when a command began, by the machine's clock; the zero time if that is not known.
func (w *watcher) began(r *runlist.Row) time.Time {
	switch {
	case r.Attempt != nil:
		return r.Attempt.StartedAt.Time
	case w.app.settings.clock != "server":
		return r.StartedAt.Time
	}
	return time.Time{}
}

// maintained returns the newest instant since which each command of the maintenance was completed, or one of them found what a
// person must see first.
func (w *watcher) maintained(log *load.Log, rows []runlist.Row) time.Time {
	var first time.Time
	if len(log.Commits) > 0 && w.app.settings.clock != "server" {
		first = log.Commits[0].StartedAt.Time // a lake that begins needs no maintenance
	}
	done, stopped := map[string][]time.Time{}, []time.Time{first}
	for i := range rows {
		t := rows[i].Attempt
		if t == nil || t.ExitCode == nil || !slices.Contains(w.maintenance, t.Command) || !watch.Settled(schedule.Maintain, *t.ExitCode) {
			continue
		}
		if began := t.StartedAt.Time; *t.ExitCode == exitcode.Damage {
			stopped = append(stopped, began)
		} else {
			done[t.Command] = append(done[t.Command], began)
		}
	}
	var newest []time.Time // of each command; zero for one that was never completed
	for _, name := range w.maintenance {
		newest = append(newest, slices.MaxFunc(append(done[name], time.Time{}), time.Time.Compare))
	}
	if len(newest) > 0 {
		stopped = append(stopped, slices.MinFunc(newest, time.Time.Compare))
	}
	return slices.MaxFunc(stopped, time.Time.Compare)
}
