package pull_test

import (
	stdsql "database/sql"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dealflow/extract"
	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/schemas/lake"
	"dealflow/serve"
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

// TestRefusedTokens checks that a run commits nothing if the API accepts none of the tokens that it issues.
func TestRefusedTokens(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Priced, world.Expected))
	w.Evening(1)
	w.Interfere(world.Refuse(http.StatusUnauthorized, "/v3/"))
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

// TestRevokedOnTheWay checks that a request whose every token is refused, after others were accepted, fails its feed
// alone: the other feeds are committed.
func TestRevokedOnTheWay(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	b.WriteAll(world.Expected, 1, 3, "")
	both := world.Feeds(world.Priced, world.Expected)
	w.Night(t, 0, both)
	b.Strike(world.Expected, 2)
	w.Evening(1)
	w.Interfere(world.Refuse(http.StatusUnauthorized, world.Expected.DealPath(2)))
	result, err := w.Run(t, both)
	var refused *extract.AuthError
	if !errors.Is(err, pull.ErrFeedsFailed) || errors.As(err, &refused) || result.Commit != 2 {
		t.Fatalf("got %v, commit %d; want ErrFeedsFailed, commit 2", err, result.Commit)
	}
	world.WantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected failed")
	if why := world.FeedRun(t, result, world.Expected).Error; !strings.Contains(why, "401") {
		t.Errorf("the feed says %q, want the 401", why)
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

// sources are the three sources of a run's time. Each is the market's clock and what a test adds to it. They change, all
// at once, when the Expected list is asked for.
type sources struct {
	wall, boot time.Duration
	date       func(n int) time.Duration // of the n-th answer since the change, from 1
	late       bool                      // they change after the last feed was read
	gone       bool                      // then the server answers no more
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// onlyFirst is a single wrong Date.
func onlyFirst(d time.Duration) func(int) time.Duration {
	return func(n int) time.Duration {
		if n == 1 {
			return d
		}
		return 0
	}
}

// runWith lets the sources of a run change on the way. apart is by how much the machine's clock differs from the
// server's from the start.
func runWith(t *testing.T, w *world.World, server serve.Source, apart time.Duration, serverClock bool, s sources, changes ...world.Change) (*pull.Result, error) {
	t.Helper()
	market, err := serve.New(serve.Config{Source: server})
	if err != nil {
		t.Fatal(err)
	}
	var changed atomic.Bool
	var answers atomic.Int64
	w.Serve(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == world.Expected.Path() && !s.late {
			changed.Store(true)
		}
		if changed.Load() && s.gone {
			out.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		said := httptest.NewRecorder()
		market.Handler().ServeHTTP(said, r)
		maps.Copy(out.Header(), said.Header())
		if changed.Load() && s.date != nil {
			date := w.Clock.Now().Add(s.date(int(answers.Add(1))))
			out.Header().Set("Date", date.Format(http.TimeFormat))
		}
		out.WriteHeader(said.Code)
		_, _ = said.Body.WriteTo(out)
	}))
	start := w.Clock.Now()
	with := func(c *pull.Config) {
		c.ServerClock = serverClock
		c.FeedDone = func(lake.FeedRun) { changed.Store(true) }
		c.Clock = func() time.Time {
			if changed.Load() {
				return w.Clock.Now().Add(apart + s.wall)
			}
			return w.Clock.Now().Add(apart)
		}
		c.Elapsed = func() time.Duration {
			if changed.Load() {
				return w.Clock.Now().Sub(start) + s.boot
			}
			return w.Clock.Now().Sub(start)
		}
	}
	return w.Run(t, append([]world.Change{world.Feeds(world.Expected), world.Quiet, with}, changes...)...)
}

// TestClockGoesWrongOnTheWay changes the sources of a run's time while it works: suspends, pauses of a virtual machine,
// steps of NTP in both directions, and wrong Dates.
func TestClockGoesWrongOnTheWay(t *testing.T) {
	t.Parallel()
	const (
		jump   = 5 * time.Hour
		future = 62 * 365 * 24 * time.Hour // a Date of 2088
		years  = 10 * 365 * 24 * time.Hour
	)
	for name, c := range map[string]struct {
		apart    time.Duration // from the server's clock, at the start
		machine  bool          // the run goes by the machine's clock, else by the server's
		sources  sources
		known    time.Duration // by which the commit is known later than the start; 0: right after it
		warned   bool
		refused  bool // and if that is accepted, known is right after the start
		accepted time.Duration
	}{
		"a suspend":                                      {sources: sources{wall: jump, boot: jump, date: always(jump)}, known: jump},
		"a suspend, by the machine":                      {machine: true, sources: sources{wall: jump, boot: jump, date: always(jump)}, known: jump},
		"a pause, and the clock was set right":           {sources: sources{wall: jump, date: always(jump)}, known: jump},
		"a pause, and the clock was set right, machine":  {machine: true, sources: sources{wall: jump, date: always(jump)}, known: jump},
		"a pause, and the clock was not set":             {sources: sources{date: always(jump)}, refused: true},
		"a pause, and the clock was not set, by machine": {machine: true, sources: sources{date: always(jump)}, refused: true},
		"NTP sets the machine forward":                   {sources: sources{wall: jump, date: always(0)}},
		"NTP sets the machine forward, by the machine":   {machine: true, sources: sources{wall: jump, date: always(0)}},
		"NTP sets the machine days forward":              {machine: true, sources: sources{wall: 3 * 24 * time.Hour, date: always(0)}},
		"NTP sets the machine back":                      {sources: sources{wall: -jump, date: always(0)}},
		"NTP sets the machine back, by the machine":      {machine: true, sources: sources{wall: -jump, date: always(0)}},
		"NTP sets the server forward":                    {sources: sources{date: always(jump)}, refused: true},
		"NTP sets the server back":                       {sources: sources{date: backAfterOne(-jump)}, warned: true},
		"the first Date was the wrong one":               {sources: sources{date: always(-jump)}, refused: true},
		"a single Date of 2088":                          {sources: sources{date: onlyFirst(future)}, warned: true},
		"a single Date of 2088, by the machine":          {machine: true, sources: sources{date: onlyFirst(future)}, warned: true},
		"a single Date of 1970":                          {sources: sources{date: onlyFirst(-future)}, warned: true},
		"all Dates of 2088":                              {sources: sources{date: always(future)}, refused: true},
		"a pause after the last answer":                  {sources: sources{wall: jump, date: always(jump), late: true}, known: jump},
		"NTP after the last answer":                      {sources: sources{wall: jump, date: always(0), late: true}},
		"a pause or NTP, and no server to ask":           {sources: sources{wall: jump, date: always(0), late: true, gone: true}, refused: true},
		"within the tolerance":                           {sources: sources{wall: 9 * time.Minute, date: always(-9 * time.Minute)}},
		"a simulated market":                             {apart: years},
		"a simulated market moves on":                    {apart: years, sources: sources{date: always(jump)}, known: jump},
		"a simulated market, a single Date of 2088":      {apart: years, sources: sources{date: onlyFirst(future)}, warned: true},
		"a simulated market goes back":                   {apart: years, sources: sources{date: always(-jump)}, refused: true},
		"a simulated market and a suspend":               {apart: -years, sources: sources{wall: jump, boot: jump, date: always(jump)}, known: jump},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			b.WriteAll(world.Expected, 1, 60, "")
			w.Pages = 25
			w.Evening(0)
			start := w.Clock.Now()
			if !c.refused {
				result, err := runWith(t, w, b, c.apart, !c.machine, c.sources)
				if err != nil || result.Commit != 1 {
					t.Fatalf("got %+v, %v; want a commit", result, err)
				}
				wantKnown(t, result.KnownAt.Sub(start), c.known)
				if warned := len(result.Warnings) == 1 && strings.Contains(result.Warnings[0], "Dates"); warned != c.warned || len(result.Warnings) > 1 {
					t.Errorf("warnings %q, want one: %t", result.Warnings, c.warned)
				}
				return
			}
			result, err := runWith(t, w, b, c.apart, !c.machine, c.sources)
			if !errors.Is(err, pull.ErrClock) || !strings.Contains(err.Error(), "--accept-clock") || result.Commit != 0 || w.Log(t).Number != 0 {
				t.Fatalf("got %+v, %v; want ErrClock, the way out, and no commit", result, err)
			}
			result, err = runWith(t, w, b, c.apart, !c.machine, c.sources, acceptClock)
			if err != nil || result.Commit != 1 || len(result.Warnings) != 1 {
				t.Fatalf("accepted: got %+v, %v; want a commit and a warning", result, err)
			}
			wantKnown(t, result.KnownAt.Sub(start), c.accepted)
		})
	}
}

// backAfterOne is a server whose clock is set back after its first answer.
func backAfterOne(d time.Duration) func(int) time.Duration {
	return func(n int) time.Duration {
		if n == 1 {
			return 0
		}
		return d
	}
}

func wantKnown(t *testing.T, got, want time.Duration) {
	t.Helper()
	if got < want || got > want+time.Second {
		t.Errorf("known %s after the start, want %s", got, want)
	}
}

// TestWrongDateAtTheEnd has the last answer of a run bear a wrong Date: the run asks for another one before it commits.
func TestWrongDateAtTheEnd(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Expected, 1, 3, "") // one page
	w.Evening(0)
	result, err := runWith(t, w, b, 0, true, sources{date: onlyFirst(24 * time.Hour)})
	if err != nil || len(result.Warnings) != 1 || result.KnownAt.Sub(w.Clock.Now()) > time.Second {
		t.Errorf("got %+v, %v; want a commit of the present and a warning", result, err)
	}
}
