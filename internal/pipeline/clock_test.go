package pipeline_test

import (
	stdsql "database/sql"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dealflow/extract"
	"dealflow/internal/pipeline"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// wantEmpty checks that nothing lies in a folder, or that there is none.
func wantEmpty(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if len(entries) > 0 {
		t.Errorf("left in the folder: %v", entries)
	}
}

// machineClock runs by a machine's clock that is apart from the server's.
func machineClock(w *world, apart time.Duration) change {
	return func(c *pipeline.Config) {
		c.ServerClock = false
		c.Clock = func() time.Time { return w.clock.Now().Add(apart) }
	}
}

func acceptClock(c *pipeline.Config) { c.AcceptClock = true }

// TestClockApartFromTheServer refuses a clock that is more than ten minutes off the server's, before
// any work; whatever the clock, a commit is known later than all that was observed for it.
func TestClockApartFromTheServer(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 3, "")
	b.writeAll(expected, 1, 3, "")
	one := feeds(priced, expected)
	w.evening(0)
	for _, apart := range []time.Duration{-11 * time.Minute, 11 * time.Minute} {
		result, err := w.run(t, one, machineClock(w, apart))
		if !errors.Is(err, pipeline.ErrClock) || result != nil || !strings.Contains(err.Error(), "--accept-clock") {
			t.Errorf("%s apart: got %v, %v; want ErrClock and the way out", apart, result, err)
		}
	}
	wantEmpty(t, w.root)
	for i, apart := range []time.Duration{-9 * time.Minute, 9 * time.Minute, -10 * time.Minute} {
		b.write(priced, 1, `"message":"`+apart.String()+`"`)
		b.strike(expected, int64(i+1))
		w.mustRun(t, one, machineClock(w, apart))
		w.clock.Advance(10 * time.Minute)
	}
	b.write(priced, 1, `"message":"accepted"`)
	w.mustRun(t, one, machineClock(w, -11*time.Minute), acceptClock)
	w.ask(t, func(db *stdsql.DB) {
		wantLines(t, db, `SELECT "commit", known_at - started_at < INTERVAL 12 minutes FROM runs ORDER BY ALL`, "1 true", "2 true", "3 true", "4 true")
		wantInstants(t, db)
	})
}

// TestClockBehindTheLake refuses a clock that is more than ten minutes behind the last commit.
func TestClockBehindTheLake(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 3, "")
	one := feeds(priced)
	first := w.night(t, 0, one)
	w.clock.Advance(-11 * time.Minute)
	if _, err := w.run(t, one); !errors.Is(err, pipeline.ErrClock) || !strings.Contains(err.Error(), first.KnownAt.String()) {
		t.Errorf("11 minutes behind: got %v, want ErrClock and the last commit's instant", err)
	}
	if log := w.log(t); log.Number != 1 {
		t.Errorf("commit %d, want 1", log.Number)
	}
	b.write(priced, 1, `"message":"changed"`)
	second := w.mustRun(t, one, acceptClock)
	w.clock.Advance(2 * time.Minute)
	b.write(priced, 2, `"message":"changed"`)
	third := w.mustRun(t, one)
	if want := first.KnownAt.Add(time.Microsecond); !second.KnownAt.Equal(want) {
		t.Errorf("accepted: known at %s, want %s", second.KnownAt, want)
	}
	if want := second.KnownAt.Add(time.Microsecond); !third.KnownAt.Equal(want) {
		t.Errorf("9 minutes behind: known at %s, want %s", third.KnownAt, want)
	}
	w.ask(t, func(db *stdsql.DB) { wantInstants(t, db) })
}

// TestClockStepsBack lets the machine's clock be set back between a removal and the commit.
func TestClockStepsBack(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(expected, 1, 3, "")
	w.night(t, 0, feeds(expected))
	b.strike(expected, 1)
	w.evening(1)
	var ahead atomic.Bool
	w.interfere(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == expected.DealPath(1) {
			ahead.Store(true)
		}
		return false
	})
	result := w.mustRun(t, feeds(expected), func(c *pipeline.Config) {
		c.ServerClock = false
		c.Clock = func() time.Time {
			if ahead.Swap(false) {
				return w.clock.Now().Add(5 * time.Minute)
			}
			return w.clock.Now()
		}
	})
	wantCounts(t, result, expected, [6]int64{0, 0, 1, 0, 2, 0})
	w.ask(t, func(db *stdsql.DB) { wantInstants(t, db) })
}

// TestSnapshotDayNeverGoesBack refuses a snapshot of a day before the last one.
func TestSnapshotDayNeverGoesBack(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 3, "")
	day := func(day string) change { return func(c *pipeline.Config) { c.SnapshotDate = day } }
	if result := w.night(t, 0, feeds(priced), day("2026-01-07")); result.SnapshotDate != "2026-01-07" {
		t.Errorf("snapshot date %s, want the one asked for", result.SnapshotDate)
	}
	if _, err := w.run(t, feeds(priced), day("2026-01-06")); err == nil || !strings.Contains(err.Error(), "2026-01-07") {
		t.Errorf("the day before: got %v, want a refusal that names the last day", err)
	}
	if _, err := w.run(t, feeds(priced), day("7 January")); err == nil || !strings.Contains(err.Error(), "YYYY-MM-DD") {
		t.Errorf("no date: got %v, want a refusal that names the form", err)
	}
	if log := w.log(t); log.Number != 1 {
		t.Errorf("commit %d, want 1", log.Number)
	}
}

// TestWrongSecret ends before anything is written.
func TestWrongSecret(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 3, "")
	w.evening(0)
	cfg := w.config(t)
	cfg.Client, _ = w.client(t, "wrong")
	result, err := pipeline.Run(t.Context(), cfg)
	var refused *extract.AuthError
	if !errors.As(err, &refused) || result != nil {
		t.Errorf("got %v, %v; want an AuthError", result, err)
	}
	wantEmpty(t, w.root)
	wantEmpty(t, cfg.WorkDir)
	if _, err := load.Open(t.Context(), w.store); !errors.Is(err, load.ErrNoLake) {
		t.Errorf("open: got %v, want ErrNoLake", err)
	}
}

// TestRefusedOnTheWay ends a run whose credentials are refused in its middle, with nothing committed.
func TestRefusedOnTheWay(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 3, "")
	w.night(t, 0, feeds(priced, expected))
	w.evening(1)
	w.interfere(refuse(http.StatusUnauthorized, expected.Path()))
	result, err := w.run(t, feeds(priced, expected))
	var refused *extract.AuthError
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want an AuthError", err)
	}
	if f := feedRun(t, result, expected); f.Outcome != "failed" || f.Error == "" {
		t.Errorf("the refused feed: %s %q, want failed and why", f.Outcome, f.Error)
	}
	if log := w.log(t); log.Number != 1 || result.Commit != 0 {
		t.Errorf("commit %d, result %d; want 1, 0", log.Number, result.Commit)
	}
}

// TestTooOldToCommit refuses to commit after half the time that files without a commit are left alone.
func TestTooOldToCommit(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 3, "")
	w.evening(0)
	result, err := w.run(t, feeds(priced), quiet, func(c *pipeline.Config) {
		c.FeedDone = func(lake.FeedRun) { w.later(load.Grace/2 + time.Minute) }
	})
	if err == nil || !strings.Contains(err.Error(), "run it again") || result.Commit != 0 || w.log(t).Number != 0 {
		t.Errorf("got %v, commit %d; want it refused", err, result.Commit)
	}
}
