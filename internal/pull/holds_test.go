package pull_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// holdOf returns the hold of a feed, as status and the next run see it.
func holdOf(t *testing.T, w *world.World, feed api.Feed) *load.Hold {
	t.Helper()
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	hold, err := l.Hold(t.Context(), feed)
	if err != nil {
		t.Fatal(err)
	}
	return hold
}

// wantHeld executes a run that must hold a feed, and checks that the hold is remembered since an instant.
func wantHeld(t *testing.T, w *world.World, feed api.Feed, why string, changes ...world.Change) lake.Instant {
	t.Helper()
	result, err := w.Run(t, append(changes, world.Quiet)...)
	if !errors.Is(err, pull.ErrFeedsHeld) {
		t.Fatalf("got %v, want %s held", err, feed)
	}
	f := world.FeedRun(t, result, feed)
	if f.Outcome != lake.OutcomeHeld || !strings.Contains(f.Error, why) || !strings.Contains(f.Error, "--accept-removals") || f.Removed != 0 {
		t.Errorf("%s %s: %s; want it held because of %q", feed, f.Outcome, f.Error, why)
	}
	hold := holdOf(t, w, feed)
	if hold == nil || hold.Reason != f.Error || hold.RunID != result.RunID {
		t.Fatalf("%s: got hold %+v, want that of run %s: %s", feed, hold, result.RunID, f.Error)
	}
	return hold.Since
}

// wantDone executes a run that must take a feed's snapshot, and checks what it removed and that no hold is open.
func wantDone(t *testing.T, w *world.World, feed api.Feed, removed int64, changes ...world.Change) *pull.Result {
	t.Helper()
	result := run(t, w, changes...)
	if f := world.FeedRun(t, result, feed); f.Outcome != lake.OutcomeDone || f.Removed != removed {
		t.Errorf("%s %s: %d removed, want %d", feed, f.Outcome, f.Removed, removed)
	}
	if hold := holdOf(t, w, feed); hold != nil {
		t.Errorf("%s: got hold %+v after a snapshot", feed, hold)
	}
	return result
}

// TestTwelveEmptyLists: an API that has lost its data shows twelve empty lists, without _embedded, and its own 404 for
// each deal. Nothing is removed, now and later, until the user accepts it or the data is back.
func TestTwelveEmptyLists(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 5, Deals: 5, Expected: 3})
	w.Evening(0)
	run(t, w)
	before := w.Log(t)
	lost := func(out http.ResponseWriter, r *http.Request) bool {
		for _, feed := range api.Feeds() {
			switch {
			case r.URL.Path == feed.Path():
				out.Header().Set("Content-Type", "application/hal+json")
				fmt.Fprintf(out, `{"_links":{"first":{"href":%q}}}`, w.URL+feed.Path())
				return true
			case strings.HasPrefix(r.URL.Path, feed.Path()+"/"):
				out.Header().Set("Content-Type", "application/json")
				out.WriteHeader(http.StatusNotFound)
				fmt.Fprint(out, `{"timestamp":"2026-01-06T22:00:00Z","errorId":"5e0f7a52-0000-4000-8000-000000000001","message":"no such deal"}`)
				return true
			}
		}
		return false
	}
	w.Interfere(lost)
	var since lake.Instant
	for night := 1; night <= 9; night += 4 { // age lifts no hold
		w.Evening(night)
		result, err := w.Run(t, world.Quiet)
		if !errors.Is(err, pull.ErrFeedsHeld) || !errors.Is(err, pull.ErrNothingDone) || result.Commit != 0 {
			t.Fatalf("night %d: got %v, commit %d", night, err, result.Commit)
		}
		for _, feed := range api.Feeds() {
			if world.FeedRun(t, asResult(before, result), feed).Deals == 0 {
				continue
			}
			hold := holdOf(t, w, feed)
			if f := world.FeedRun(t, result, feed); f.Outcome != lake.OutcomeHeld || hold == nil || hold.Absent == 0 || hold.Listed != 0 {
				t.Errorf("night %d: %s %s: hold %+v", night, feed, f.Outcome, hold)
				continue
			}
			if since.IsZero() {
				since = hold.Since
			}
			if !hold.Since.Equal(since.Time) {
				t.Errorf("night %d: %s is held since %s, want %s", night, feed, hold.Since, since)
			}
		}
	}
	w.Interfere(nil)
	w.Evening(10)
	for i := range run(t, w).Feeds {
		if hold := holdOf(t, w, api.Feeds()[i]); hold != nil {
			t.Errorf("got hold %+v, want none: the data is back", hold)
		}
	}
	w.Interfere(lost)
	w.Evening(11)
	result := run(t, w, world.AcceptRemovals)
	for i := range result.Feeds {
		if f := &result.Feeds[i]; f.Outcome != lake.OutcomeDone || f.Deals != 0 {
			t.Errorf("%s %s, %d deals; want none: removals are accepted", f.Feed, f.Outcome, f.Deals)
		}
	}
}

// asResult is the feeds of a log's only commit, in the form of a result.
func asResult(log *load.Log, result *pull.Result) *pull.Result {
	past := *result
	past.Feeds = log.Commits[0].Feeds
	return &past
}

// TestEmptyList: an empty list is held, unless at most three deals stood, another feed of the service has a deal in its
// list that answers 200 by id, and there is evidence of each deal. Two feeds that are empty at once are both held.
func TestEmptyList(t *testing.T) {
	t.Parallel()
	other := api.Feed{Service: api.Bond, Market: api.HY, Kind: api.Priced}
	both := world.Feeds(world.Expected, other)
	for name, c := range map[string]struct {
		stood  int64
		feeds  world.Change
		night  func(*world.World, *world.Book)
		why    string // "" for not held
		others string // outcome of the other feed
	}{
		"three deals": {stood: 3, feeds: both},
		"four deals":  {stood: 4, feeds: both, why: "the list is empty, but 4 deals are current"},
		"three refused with an errorId": {stood: 3, feeds: both, night: func(_ *world.World, b *world.Book) {
			b.WriteAll(world.Expected, 1, 3, "")
			for id := range int64(3) {
				b.Forbid(world.Expected, id+1)
			}
		}},
		"one without evidence": {stood: 3, feeds: both, why: "no evidence that deal 2 is gone", night: func(w *world.World, _ *world.Book) {
			through(w, world.Expected).answer(2, 2, htmlPage(http.StatusNotFound))
		}},
		"no other feed": {stood: 1, feeds: world.Feeds(world.Expected), why: "no other feed of the service"},
		"only a feed of the other service": {stood: 1, feeds: world.Feeds(world.Expected, world.LoanPriced), why: "no other feed of the service", night: func(_ *world.World, b *world.Book) {
			b.Write(world.LoanPriced, 1, "")
		}},
		"the other feed's deals do not answer": {stood: 1, feeds: both, why: "no other feed of the service", night: func(w *world.World, _ *world.Book) {
			through(w, other).answer(1, 40, htmlPage(http.StatusNotFound))
		}},
		"both are empty": {stood: 1, feeds: both, why: "and so is that of bond/hy/priced", others: lake.OutcomeHeld, night: func(_ *world.World, b *world.Book) {
			b.Strike(other, upTo(1, 40)...)
		}},
		"a record without an id is no deal": {stood: 4, feeds: both, why: "the list is empty, but 4 deals are current", night: func(_ *world.World, b *world.Book) {
			b.WriteBody(world.Expected, 99, `{"market":"IG"}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			b.WriteAll(world.Expected, 1, c.stood, "")
			b.WriteAll(other, 1, 40, "")
			w.Evening(0)
			run(t, w, c.feeds)
			b.Strike(world.Expected, upTo(1, c.stood)...)
			if c.night != nil {
				c.night(w, b)
			}
			w.Evening(1)
			if c.why == "" {
				wantDone(t, w, world.Expected, c.stood, c.feeds)
				return
			}
			since := wantHeld(t, w, world.Expected, c.why, c.feeds)
			w.Evening(9)
			if again := wantHeld(t, w, world.Expected, c.why, c.feeds); !again.Equal(since.Time) {
				t.Errorf("held since %s, want %s", again, since)
			}
			if hold := holdOf(t, w, other); (hold != nil) != (c.others == lake.OutcomeHeld) {
				t.Errorf("the other feed's hold is %+v", hold)
			}
			wantDone(t, w, world.Expected, c.stood, c.feeds, world.AcceptRemovals)
		})
	}
}

// TestNeighbourThatIsHeld: two feeds that were empty at once stay held where a later run reads one of them alone.
func TestNeighbourThatIsHeld(t *testing.T) {
	t.Parallel()
	high, emerging := api.Feed{Service: api.Bond, Market: api.HY, Kind: api.Priced}, api.Feed{Service: api.Bond, Market: api.EM, Kind: api.Priced}
	w, b := world.NewBook(t)
	b.WriteAll(world.Expected, 1, 2, "")
	b.WriteAll(high, 1, 2, "")
	b.WriteAll(emerging, 1, 20, "")
	w.Evening(0)
	run(t, w, world.Feeds(world.Expected, high, emerging))
	b.Strike(world.Expected, 1, 2)
	b.Strike(high, 1, 2)
	w.Evening(1)
	wantHeld(t, w, world.Expected, "so is that of bond/hy/priced", world.Feeds(world.Expected, high, emerging))
	wantHeld(t, w, world.Expected, "so is that of bond/hy/priced", world.Feeds(world.Expected, emerging))
	b.Write(high, 1, "")
	w.Evening(2)
	wantDone(t, w, world.Expected, 2, world.Feeds(world.Expected, high, emerging))
}

// TestExpectedLeave: expected deals may leave in any number by pricing. They are held where more than 20 and more than
// 60 % leave otherwise, and the last snapshot is less than 30 hours old.
func TestExpectedLeave(t *testing.T) {
	t.Parallel()
	priced := `"_embedded":{"tranches":[{"name":"b",` + pricedLink + `}]}`
	for name, c := range map[string]struct {
		stood, leave int64
		members      string
		after        time.Duration // from the last snapshot
		held         bool
		warned       bool
	}{
		"20 of 21":                 {stood: 21, leave: 20, after: 24 * time.Hour},
		"21 of 35, 60 %":           {stood: 35, leave: 21, after: 24 * time.Hour},
		"21 of 34":                 {stood: 34, leave: 21, after: 24 * time.Hour, held: true},
		"all but one, priced":      {stood: 40, leave: 39, after: 24 * time.Hour, members: priced},
		"just under 30 hours":      {stood: 40, leave: 39, after: 30*time.Hour - time.Second, held: true},
		"30 hours":                 {stood: 40, leave: 39, after: 30 * time.Hour, warned: true},
		"Monday after a weekend":   {stood: 40, leave: 39, after: 72 * time.Hour, warned: true},
		"a missed week, and a few": {stood: 40, leave: 20, after: 200 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			both := world.Feeds(world.Priced, world.Expected)
			b.WriteAll(world.Priced, 1, 1, "")
			b.WriteAll(world.Expected, 1, c.stood, c.members)
			w.Evening(0)
			run(t, w, both)
			b.Strike(world.Expected, upTo(1, c.leave)...)
			w.Later(c.after)
			if !c.held {
				result := wantDone(t, w, world.Expected, c.leave, both)
				if warned := len(result.Warnings) > 0; warned != c.warned || warned && !strings.Contains(result.Warnings[0], "39 of 40 deals left the list and did not price") {
					t.Errorf("warnings %q", result.Warnings)
				}
				return
			}
			why := fmt.Sprintf("%d of %d deals left the list and did not price", c.leave, c.stood)
			since := wantHeld(t, w, world.Expected, why, both)
			for range 2 { // it never lifts itself by age, nor by syncs
				w.Later(5 * 24 * time.Hour)
				w.MustSync(t, both, world.Quiet)
				if again := wantHeld(t, w, world.Expected, why, both); !again.Equal(since.Time) {
					t.Errorf("held since %s, want %s", again, since)
				}
			}
			b.WriteAll(world.Expected, 1, 19, "")
			w.Later(24 * time.Hour)
			wantDone(t, w, world.Expected, c.leave-19, both) // the list no longer calls for it
		})
	}
}

// TestHoldIsAccepted: --accept-removals ends a hold of each kind.
func TestHoldIsAccepted(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	all := world.Feeds(world.Priced, world.Expected, world.LoanPriced)
	b.WriteAll(world.Priced, 1, 700, "")
	b.WriteAll(world.Expected, 1, 40, "")
	b.WriteAll(world.LoanPriced, 1, 9, "")
	w.Evening(0)
	run(t, w, all)
	b.Strike(world.Priced, upTo(1, 600)...)
	b.Strike(world.Expected, upTo(1, 39)...)
	b.Strike(world.LoanPriced, upTo(1, 9)...)
	w.Evening(1)
	_, err := w.Run(t, all, world.Quiet)
	if !errors.Is(err, pull.ErrFeedsHeld) {
		t.Fatal(err)
	}
	for _, feed := range []api.Feed{world.Priced, world.Expected, world.LoanPriced} {
		if hold := holdOf(t, w, feed); hold == nil || hold.Absent == 0 {
			t.Errorf("%s: got hold %+v", feed, hold)
		}
	}
	result := wantDone(t, w, world.Priced, 600, all, world.AcceptRemovals)
	for i, left := range []int64{100, 1, 0} {
		if f := result.Feeds[i]; f.Outcome != lake.OutcomeDone || f.Deals != left {
			t.Errorf("%s %s: %d deals, want %d", f.Feed, f.Outcome, f.Deals, left)
		}
	}
}

// TestMarketThatIsLost: an account that loses a market gets 403 for its list. The feed fails each night, and nothing is
// removed.
func TestMarketThatIsLost(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	both := world.Feeds(world.Priced, world.Expected)
	b.WriteAll(world.Priced, 1, 30, "")
	b.WriteAll(world.Expected, 1, 3, "")
	w.Evening(0)
	run(t, w, both)
	w.Interfere(world.Refuse(http.StatusForbidden, world.Priced.Path()))
	for night := 1; night <= 3; night++ {
		w.Evening(night)
		result, err := w.Run(t, both, world.Quiet)
		if !errors.Is(err, pull.ErrFeedsFailed) || errors.Is(err, pull.ErrFeedsHeld) {
			t.Errorf("night %d: got %v", night, err)
		}
		if n := strings.Count(err.Error(), "bond/ig/priced: "); n != 1 {
			t.Errorf("night %d: %v: the feed is named %d times, want once", night, err, n)
		}
		world.WantOutcomes(t, result, "bond/ig/priced failed", "bond/ig/expected done")
	}
	w.Interfere(nil)
	w.Evening(4)
	if f := world.FeedRun(t, run(t, w, both), world.Priced); f.Deals != 30 || f.Removed != 0 || f.Added != 0 {
		t.Errorf("%d deals, %d removed, %d added; want the 30 that stood", f.Deals, f.Removed, f.Added)
	}
}

// TestHoldSpansRuns: a hold begins with the first run that held the feed, whether that run committed something or not,
// and says why the newest one did.
func TestHoldSpansRuns(t *testing.T) {
	t.Parallel()
	alone, both := world.Feeds(world.Priced), world.Feeds(world.Priced, world.Expected)
	for name, nights := range map[string][]world.Change{
		"first without a commit": {alone, both, alone, both},
		"first in a commit":      {both, alone, both, alone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			b.WriteAll(world.Priced, 1, 40, "")
			b.WriteAll(world.Expected, 1, 1, "")
			w.Evening(0)
			run(t, w, both)
			var since lake.Instant
			for i, feeds := range nights {
				b.Strike(world.Priced, upTo(1, int64(20+i))...)
				w.Evening(1 + i)
				got := wantHeld(t, w, world.Priced, fmt.Sprintf("%d of 40 deals vanished", 20+i), feeds)
				if i == 0 {
					since = got
				}
				if !got.Equal(since.Time) {
					t.Errorf("night %d: held since %s, want %s", 1+i, got, since)
				}
			}
			wantDone(t, w, world.Priced, 23, both, world.AcceptRemovals)
		})
	}
}

// TestHoldThatCannotBeRead: an object in the place of a hold that says nothing is no permission.
func TestHoldThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	both := world.Feeds(world.Priced, world.Expected)
	b.WriteAll(world.Priced, 1, 1, "")
	b.WriteAll(world.Expected, 1, 40, "")
	w.Evening(0)
	run(t, w, both)
	if err := w.Store.Put(t.Context(), "_dealflow/held/bond-ig-expected.json", strings.NewReader("{}"), store.Replace); err != nil {
		t.Fatal(err)
	}
	b.Strike(world.Expected, upTo(1, 39)...)
	w.Evening(9)
	result, err := w.Run(t, both, world.Quiet)
	if !errors.Is(err, pull.ErrFeedsFailed) || !strings.Contains(err.Error(), "_dealflow/held/bond-ig-expected.json: got no hold of bond/ig/expected") {
		t.Errorf("got %v", err)
	}
	world.WantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected failed")
}
