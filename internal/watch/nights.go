package watch

import (
	"slices"
	"strings"
	"time"

	"dealflow/internal/exitcode"
	"dealflow/internal/logs"
	"dealflow/internal/watch/schedule"
	"dealflow/schemas/lake"
)

// Known is what a lake says of earlier commands. Instants are the machine's.
type Known struct {
	Has      bool      // it has a snapshot
	Day      string    // of the newest snapshot: no earlier one can be taken; "" for none, and if the days are not those of the plan
	Pulls    [][]Pull  // of each feed of the watch
	Maintain time.Time // start of the newest maintenance that needs no other attempt, or the lake's first commit
}

// Pull is what a run has done for a feed: it has a snapshot, or was held, or the account does not include it.
type Pull struct {
	Began time.Time // start of the run
	Day   string    // of the snapshot; "" if the days are not those of the plan
}

// each says whether each feed has a pull as wanted.
func (k *Known) each(wanted func(Pull) bool) bool {
	for _, pulls := range k.Pulls {
		if !slices.ContainsFunc(pulls, wanted) {
			return false
		}
	}
	return len(k.Pulls) > 0
}

// finished says whether a night needs no run: each feed was pulled since its time. A run of the future, which a clock that was
// wrong has left, does not count.
func (k *Known) finished(slot schedule.Slot, now time.Time) bool {
	return k.each(func(p Pull) bool {
		return !p.Began.Before(slot.At) && !p.Began.After(now.Add(time.Hour)) && (p.Day == "" || p.Day >= slot.Day)
	})
}

// took says whether each feed was pulled for a night. end is the time of the next one.
func (k *Known) took(slot schedule.Slot, end time.Time) bool {
	return k.each(func(p Pull) bool {
		return p.Day == slot.Day || p.Day == "" && !p.Began.Before(slot.At) && p.Began.Before(end)
	})
}

// pulled returns the newest instant since which each feed was pulled; zero for none.
func (k *Known) pulled() (since time.Time) {
	for n, pulls := range k.Pulls {
		var newest time.Time
		for _, p := range pulls {
			newest = latest(newest, p.Began)
		}
		if n == 0 || newest.Before(since) {
			since = newest
		}
	}
	return since
}

// inherit takes over what the watch before knew of nights. other is nil for none.
func (w *Watch) inherit(other *Presence, k *Known) {
	since := k.pulled()
	if other != nil {
		if last := other.settledRun(); last != nil {
			since = last.StartedAt.Time
			if last.ExitCode == exitcode.Late { // the lake does not say that the next night does the rest
				w.state.Run.Settled = since
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown.AccountedUntil.IsZero() {
		w.shown.AccountedUntil = lake.At(since)
	}
}

// settleNight settles a night that needs no run of this watch: another process has done it, or the lake has a snapshot of a later
// day, so that it cannot be taken any more.
func (w *Watch) settleNight(k *Known, slot schedule.Slot) {
	if !slot.At.After(w.state.Run.Settled) || !k.finished(slot, w.cfg.Clock()) && slot.Day >= k.Day {
		return
	}
	w.state.Run = schedule.Progress{Settled: slot.At}
	w.failures[schedule.Run] = 0
	w.account(k, slot, false)
}

// account says which nights have no snapshot, from the last one that was accounted for to a slot. If the slot's night was
// done by this watch, its run says what became of it.
func (w *Watch) account(k *Known, slot schedule.Slot, done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &w.shown
	nights := w.cfg.Plan.Between(p.AccountedUntil.Time, slot)
	if !done && !p.AccountedUntil.IsZero() && slot.At.After(p.AccountedUntil.Time) {
		nights = append(nights, slot)
	}
	p.AccountedUntil = lake.At(slot.At)
	var missed []string
	for n, night := range nights {
		end := w.cfg.Clock()
		if n+1 < len(nights) {
			end = nights[n+1].At
		} else if done {
			end = slot.At
		}
		if !k.took(night, end) && !slices.Contains(p.Missed, night.Day) {
			missed = append(missed, night.Day)
		}
	}
	failed, untried := SplitMissed(missed, p.Tried)
	p.Missed = newest(append(p.Missed, missed...))
	p.Tried = slices.DeleteFunc(slices.Clone(p.Tried), func(day string) bool { return day <= slot.Day && !slices.Contains(p.Missed, day) })
	if len(missed) > 0 {
		w.beaten = time.Time{} // the lake is told at once
	}
	w.warnMissed("every try failed", failed)
	w.warnMissed("no watch was at work, or the machine slept", untried)
}

func (w *Watch) warnMissed(why string, days []string) {
	if len(days) > 0 {
		w.cfg.Log.Warn("nights were missed", "days", strings.Join(days, ","), "why", why,
			logs.Text("%d nights have no complete snapshot: %s; %s; a snapshot of the past cannot be taken", len(days), strings.Join(days, ", "), why))
	}
}

// recordTry records that a night was tried, without success.
func (w *Watch) recordTry(day string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.shown.Tried, day) {
		w.shown.Tried = newest(append(slices.Clone(w.shown.Tried), day))
	}
}

// newest returns the last days of a list that are shown.
func newest(days []string) []string { return days[max(0, len(days)-mostMissed):] }
