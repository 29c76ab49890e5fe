package pull_test

import (
	stdsql "database/sql"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dealflow/extract"
	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// machineClock pulls with a machine's clock that differs from the server's.
func machineClock(w *world.World, apart time.Duration) world.Change {
	return func(c *pull.Config) {
		c.ServerClock = false
		c.Clock = func() time.Time { return w.Clock.Now().Add(apart) }
	}
}

func acceptClock(c *pull.Config) { c.AcceptClock = true }

// TestClockApartFromTheServer checks that a clock that differs by more than ten minutes from the server's is refused
// before any work. With any clock a commit's known_at is later than everything observed for it.
func TestClockApartFromTheServer(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	b.WriteAll(world.Expected, 1, 3, "")
	one := world.Feeds(world.Priced, world.Expected)
	w.Evening(0)
	for _, apart := range []time.Duration{-11 * time.Minute, 11 * time.Minute} {
		result, err := w.Run(t, one, machineClock(w, apart))
		if !errors.Is(err, pull.ErrClock) || result != nil || !strings.Contains(err.Error(), "--accept-clock") {
			t.Errorf("%s apart: got %v, %v; want ErrClock and the way out", apart, result, err)
		}
	}
	world.WantEmpty(t, w.Root)
	for i, apart := range []time.Duration{-9 * time.Minute, 9 * time.Minute, -10 * time.Minute} {
		b.Write(world.Priced, 1, `"message":"`+apart.String()+`"`)
		b.Strike(world.Expected, int64(i+1))
		w.MustRun(t, one, machineClock(w, apart))
		w.Clock.Advance(10 * time.Minute)
	}
	b.Write(world.Priced, 1, `"message":"accepted"`)
	w.MustRun(t, one, machineClock(w, -11*time.Minute), acceptClock)
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, `SELECT "commit", known_at - started_at < INTERVAL 12 minutes FROM runs ORDER BY ALL`, "1 true", "2 true", "3 true", "4 true")
		world.WantInstants(t, db)
	})
}

// TestClockBehindTheLake checks that a clock more than ten minutes before the last commit is refused.
func TestClockBehindTheLake(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	one := world.Feeds(world.Priced)
	first := w.Night(t, 0, one)
	w.Clock.Advance(-11 * time.Minute)
	if _, err := w.Run(t, one); !errors.Is(err, pull.ErrClock) || !strings.Contains(err.Error(), first.KnownAt.String()) {
		t.Errorf("11 minutes behind: got %v, want ErrClock and the last commit's instant", err)
	}
	if log := w.Log(t); log.Number != 1 {
		t.Errorf("commit %d, want 1", log.Number)
	}
	b.Write(world.Priced, 1, `"message":"changed"`)
	second := w.MustRun(t, one, acceptClock)
	w.Clock.Advance(2 * time.Minute)
	b.Write(world.Priced, 2, `"message":"changed"`)
	third := w.MustRun(t, one)
	if want := first.KnownAt.Add(time.Microsecond); !second.KnownAt.Equal(want) {
		t.Errorf("accepted: known at %s, want %s", second.KnownAt, want)
	}
	if want := second.KnownAt.Add(time.Microsecond); !third.KnownAt.Equal(want) {
		t.Errorf("9 minutes behind: known at %s, want %s", third.KnownAt, want)
	}
	w.Ask(t, func(db *stdsql.DB) { world.WantInstants(t, db) })
}

// TestClockStepsBack lets the machine's clock be set back between a removal and the commit.
func TestClockStepsBack(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Expected, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Expected))
	b.Strike(world.Expected, 1)
	w.Evening(1)
	var ahead atomic.Bool
	w.Interfere(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == world.Expected.DealPath(1) {
			ahead.Store(true)
		}
		return false
	})
	result := w.MustRun(t, world.Feeds(world.Expected), func(c *pull.Config) {
		c.ServerClock = false
		c.Clock = func() time.Time {
			if ahead.Swap(false) {
				return w.Clock.Now().Add(5 * time.Minute)
			}
			return w.Clock.Now()
		}
	})
	world.WantCounts(t, result, world.Expected, [6]int64{0, 0, 1, 0, 2, 0})
	w.Ask(t, func(db *stdsql.DB) { world.WantInstants(t, db) })
}

// TestSnapshotDayNeverGoesBack checks that a snapshot of a day before the last one is refused.
func TestSnapshotDayNeverGoesBack(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	day := func(day string) world.Change { return func(c *pull.Config) { c.SnapshotDate = day } }
	if result := w.Night(t, 0, world.Feeds(world.Priced), day("2026-01-07")); result.SnapshotDate != "2026-01-07" {
		t.Errorf("snapshot date %s, want the one asked for", result.SnapshotDate)
	}
	if _, err := w.Run(t, world.Feeds(world.Priced), day("2026-01-06")); err == nil || !strings.Contains(err.Error(), "2026-01-07") {
		t.Errorf("the day before: got %v, want a refusal that names the last day", err)
	}
	if _, err := w.Run(t, world.Feeds(world.Priced), day("7 January")); err == nil || !strings.Contains(err.Error(), "YYYY-MM-DD") {
		t.Errorf("no date: got %v, want a refusal that names the form", err)
	}
	if log := w.Log(t); log.Number != 1 {
		t.Errorf("commit %d, want 1", log.Number)
	}
}

// TestWrongSecret checks that a run with a wrong secret ends before it writes anything.
func TestWrongSecret(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	w.Evening(0)
	cfg := w.Config(t)
	cfg.Client, _ = w.Client(t, "wrong")
	result, err := pull.Run(t.Context(), cfg)
	var refused *extract.AuthError
	if !errors.As(err, &refused) || result != nil {
		t.Errorf("got %v, %v; want an AuthError", result, err)
	}
	world.WantEmpty(t, w.Root)
	world.WantEmpty(t, cfg.WorkDir)
	if _, err := load.Open(t.Context(), w.Store); !errors.Is(err, load.ErrNoLake) {
		t.Errorf("open: got %v, want ErrNoLake", err)
	}
}

// TestRefusedOnTheWay checks that a run whose credentials are refused in its middle commits nothing.
func TestRefusedOnTheWay(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Priced, world.Expected))
	w.Evening(1)
	w.Interfere(world.Refuse(http.StatusUnauthorized, world.Expected.Path()))
	result, err := w.Run(t, world.Feeds(world.Priced, world.Expected))
	var refused *extract.AuthError
	if !errors.As(err, &refused) {
		t.Fatalf("got %v, want an AuthError", err)
	}
	if f := world.FeedRun(t, result, world.Expected); f.Outcome != "failed" || f.Error == "" {
		t.Errorf("the refused feed: %s %q, want failed and why", f.Outcome, f.Error)
	}
	if log := w.Log(t); log.Number != 1 || result.Commit != 0 {
		t.Errorf("commit %d, result %d; want 1, 0", log.Number, result.Commit)
	}
}

// TestTooOldToCommit checks that a run does not commit after half of load.Grace.
func TestTooOldToCommit(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	w.Evening(0)
	result, err := w.Run(t, world.Feeds(world.Priced), world.Quiet, func(c *pull.Config) {
		c.FeedDone = func(lake.FeedRun) { w.Later(load.Grace/2 + time.Minute) }
	})
	if err == nil || !strings.Contains(err.Error(), "run it again") || result.Commit != 0 || w.Log(t).Number != 0 {
		t.Errorf("got %v, commit %d; want it refused", err, result.Commit)
	}
}
