package pull_test

import (
	"errors"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// gateway answers requests by id in place of the API, for the ids that it was given, and counts them.
type gateway struct {
	mu      sync.Mutex
	answers map[int64]http.HandlerFunc
	asked   map[int64]int // also of ids that it does not answer
}

// through puts a gateway in front of a feed's deals.
func through(w *world.World, feed api.Feed) *gateway {
	g := &gateway{answers: map[int64]http.HandlerFunc{}, asked: map[int64]int{}}
	w.Interfere(func(out http.ResponseWriter, r *http.Request) bool {
		id, err := strconv.ParseInt(path.Base(r.URL.Path), 10, 64)
		if err != nil || !strings.HasPrefix(r.URL.Path, feed.Path()+"/") {
			return false
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.asked[id]++
		if g.answers[id] == nil {
			return false
		}
		g.answers[id](out, r)
		return true
	})
	return g
}

// answer sets the answer for the ids from first to last; nil for the API's own.
func (g *gateway) answer(first, last int64, answer http.HandlerFunc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id := first; id <= last; id++ {
		g.answers[id] = answer
	}
}

// requested returns the ids from first to last that were asked for since the last call.
func (g *gateway) requested(first, last int64) []int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ids []int64
	for id := range g.asked {
		if id >= first && id <= last {
			ids = append(ids, id)
		}
	}
	clear(g.asked)
	slices.Sort(ids)
	return ids
}

// htmlPage is the error page of a proxy.
func htmlPage(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("<html><body>nginx</body></html>")) // a client that went away
	}
}

// upTo returns the numbers from first to last.
func upTo(first, last int64) (ids []int64) {
	for id := first; id <= last; id++ {
		ids = append(ids, id)
	}
	return ids
}

// wantUnproved checks what a run removed from a feed and kept without evidence, and that it says so.
func wantUnproved(t *testing.T, result *pull.Result, feed api.Feed, removed, deals int64, unproved []int64) {
	t.Helper()
	f := world.FeedRun(t, result, feed)
	if f.Outcome != lake.OutcomeDone || f.Removed != removed || f.Deals != deals || !slices.Equal(f.UnprovedAbsent, unproved) {
		t.Errorf("%s %s: %d removed, %d deals, without evidence %v; want %d, %d, %v", feed, f.Outcome, f.Removed, f.Deals, f.UnprovedAbsent, removed, deals, unproved)
	}
	warned := slices.ContainsFunc(result.Warnings, func(text string) bool {
		return strings.HasPrefix(text, feed.String()) && strings.Contains(text, "--accept-removals")
	})
	if warned != (len(unproved) > 0) {
		t.Errorf("%d deals without evidence, warnings %q", len(unproved), result.Warnings)
	}
}

// run executes a run without a catalog that must end without an error; warnings are no error.
func run(t *testing.T, w *world.World, changes ...world.Change) *pull.Result {
	t.Helper()
	result, err := w.Run(t, append(changes, world.Quiet)...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestUnproved lets 96 of 100 deals leave a list while something in front of the API answers for them. All are kept and
// listed. They hold no feed and count in no guard. At most 50 of them are asked for again per run, in turn. A deal that
// is listed again or answers 200 leaves the list, and so does one of which there is evidence at last. --accept-removals
// removes the others.
func TestUnproved(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"a proxy's HTML 404":    htmlPage(http.StatusNotFound),
		"a firewall's HTML 403": htmlPage(http.StatusForbidden),
		"an empty 404":          func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			feeds := world.Feeds(world.Expected, world.LoanExpected)
			b.WriteAll(world.Expected, 1, 100, "")
			b.WriteAll(world.LoanExpected, 1, 1, "")
			w.Evening(0)
			run(t, w, feeds)

			g := through(w, world.Expected)
			g.answer(1, 96, answer)
			b.Strike(world.Expected, upTo(1, 96)...)
			w.Evening(1)
			wantUnproved(t, run(t, w, feeds), world.Expected, 0, 100, upTo(1, 96))
			if got := g.requested(1, 96); len(got) != 96 {
				t.Errorf("%d of 96 were asked for, want all the first time", len(got))
			}
			if got, _ := w.Log(t).Absent(world.Expected); !slices.Equal(got, upTo(1, 96)) {
				t.Errorf("the log lists %v", got)
			}

			w.Evening(2)
			wantUnproved(t, run(t, w, feeds), world.Expected, 0, 100, upTo(1, 96))
			first := g.requested(1, 96)
			w.Evening(3)
			wantUnproved(t, run(t, w, feeds), world.Expected, 0, 100, upTo(1, 96))
			second := g.requested(1, 96)
			all := slices.Concat(first, second)
			slices.Sort(all)
			if len(first) != 50 || len(second) != 50 || !slices.Equal(slices.Compact(all), upTo(1, 96)) {
				t.Errorf("asked again for %v, then %v; want 50 a night, and all in two nights", first, second)
			}

			b.Write(world.Expected, 1, "")                      // listed again
			b.WriteAll(world.Expected, 2, 3, `"message":"new"`) // answers by id
			b.Unlist(world.Expected, 2)
			b.Unlist(world.Expected, 3)
			g.answer(2, 3, nil)
			g.answer(4, 5, nil) // 404 with an errorId
			for night := 4; night <= 5; night++ {
				w.Evening(night)
				run(t, w, feeds)
			}
			if got, _ := w.Log(t).Absent(world.Expected); !slices.Equal(got, upTo(6, 96)) {
				t.Errorf("after two nights the log lists %v, want 6 to 96", got)
			}

			g.requested(1, 96)
			w.Evening(6)
			wantUnproved(t, run(t, w, feeds, world.AcceptRemovals), world.Expected, 91, 7, nil)
			if got := g.requested(6, 96); len(got) != 91 {
				t.Errorf("%d of 91 were asked for, want all where removals are accepted", len(got))
			}
		})
	}
}

// TestUnprovedCountsInNoGuard keeps 600 priced deals without evidence, and lets ten others go.
func TestUnprovedCountsInNoGuard(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	feeds := world.Feeds(world.Priced)
	b.WriteAll(world.Priced, 1, 6100, "")
	w.Evening(0)
	run(t, w, feeds)
	g := through(w, world.Priced)
	g.answer(1, 600, htmlPage(http.StatusNotFound))
	for night, gone := range [][]int64{upTo(1, 490), upTo(491, 600)} {
		b.Strike(world.Priced, gone...)
		w.Evening(1 + night)
		wantUnproved(t, run(t, w, feeds), world.Priced, 0, 6100, upTo(1, gone[len(gone)-1]))
	}
	b.Strike(world.Priced, upTo(601, 610)...)
	g.answer(1, 50, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }) // fails no feed
	w.Evening(3)
	wantUnproved(t, run(t, w, feeds), world.Priced, 10, 6090, upTo(1, 600))
}

// TestFailureByID: any other answer about a deal that is absent for the first time fails the feed.
func TestFailureByID(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusGone, http.StatusInternalServerError} {
		w, b := world.NewBook(t)
		b.WriteAll(world.Priced, 1, 20, "")
		b.WriteAll(world.Expected, 1, 1, "")
		w.Evening(0)
		run(t, w, world.Feeds(world.Priced, world.Expected))
		through(w, world.Priced).answer(1, 1, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		b.Strike(world.Priced, 1)
		w.Evening(1)
		result, err := w.Run(t, world.Feeds(world.Priced, world.Expected), world.Quiet)
		if !errors.Is(err, pull.ErrFeedsFailed) {
			t.Errorf("%d: got %v", status, err)
		}
		world.WantOutcomes(t, result, "bond/ig/priced failed", "bond/ig/expected done")
	}
}

// TestAcceptRemovalsBelieves: --accept-removals takes no answers of an API that denies the deals that it lists.
func TestAcceptRemovalsBelieves(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 30, "")
	w.Evening(0)
	run(t, w, world.Feeds(world.Priced))
	b.Strike(world.Priced, upTo(1, 20)...)
	through(w, world.Priced).answer(1, 30, htmlPage(http.StatusNotFound))
	w.Evening(1)
	wantUnproved(t, run(t, w, world.Feeds(world.Priced), world.AcceptRemovals), world.Priced, 0, 30, upTo(1, 20))
	through(w, world.Priced).answer(1, 20, htmlPage(http.StatusNotFound))
	w.Later(time.Minute)
	wantUnproved(t, run(t, w, world.Feeds(world.Priced), world.AcceptRemovals), world.Priced, 20, 10, nil)
}

// TestStandingAbsent lets more and more deals leave a priced list, but answer by id. Each counts in the guard in its first night
// alone, so that the feed is never held; they are listed, stay current, and take what they say. One that is gone is removed.
func TestStandingAbsent(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	feeds := world.Feeds(world.Priced)
	b.WriteAll(world.Priced, 1, 60, "")
	w.Evening(0)
	run(t, w, feeds)
	for night := 1; night <= 4; night++ {
		for id := int64(5*night - 4); id <= int64(5*night); id++ {
			b.Unlist(world.Priced, id)
		}
		w.Evening(night)
		f := run(t, w, feeds).Feeds[0]
		if f.Outcome != lake.OutcomeDone || f.Deals != 60 || f.Removed != 0 || !slices.Equal(f.StandingAbsent, upTo(1, int64(5*night))) || f.UnprovedAbsent != nil {
			t.Fatalf("night %d: %s %s, %d deals, %d removed, standing %v, without evidence %v", night, f.Outcome, f.Error, f.Deals, f.Removed, f.StandingAbsent, f.UnprovedAbsent)
		}
	}
	b.WriteAll(world.Priced, 1, 1, `"message":"new"`)
	b.Unlist(world.Priced, 1)
	b.WriteAll(world.Priced, 2, 2, "") // listed again
	b.Strike(world.Priced, 3)
	g := through(w, world.Priced)
	g.answer(4, 4, htmlPage(http.StatusNotFound))
	g.answer(5, 5, htmlPage(http.StatusInternalServerError))
	w.Evening(5)
	f := run(t, w, feeds).Feeds[0]
	standing := slices.DeleteFunc(upTo(1, 20), func(id int64) bool { return id >= 2 && id <= 4 })
	if f.Outcome != lake.OutcomeDone || f.Deals != 59 || f.Removed != 1 || f.Changed != 1 || !slices.Equal(f.StandingAbsent, standing) || !slices.Equal(f.UnprovedAbsent, []int64{4}) {
		t.Errorf("%s %s, %d deals, %d removed, %d changed, standing %v, without evidence %v", f.Outcome, f.Error, f.Deals, f.Removed, f.Changed, f.StandingAbsent, f.UnprovedAbsent)
	}
	if unproved, found := w.Log(t).Absent(world.Priced); !slices.Equal(found, standing) || !slices.Equal(unproved, []int64{4}) {
		t.Errorf("the log lists %v and %v", found, unproved)
	}
}
