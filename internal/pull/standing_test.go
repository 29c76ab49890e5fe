package pull_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/lake"
)

// someStand has nights after which the deals 1 to 5×nights of 60 are no longer listed, and answer by id. The next night may begin.
func someStand(t *testing.T, nights int) (*world.World, *world.Book) {
	t.Helper()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 60, "")
	b.WriteAll(world.LoanExpected, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Priced, world.LoanExpected), world.Quiet)
	for night := 1; night <= nights; night++ {
		for id := 5*night - 4; id <= 5*night; id++ {
			b.Unlist(world.Priced, int64(id))
		}
		w.Evening(night)
		wantStanding(t, run(t, w, world.Feeds(world.Priced, world.LoanExpected)), upTo(1, int64(5*night)))
	}
	w.Evening(nights + 1)
	return w, b
}

// wantStanding checks that a run took world.Priced and wrote down which deals stand.
func wantStanding(t *testing.T, result *pull.Result, want []int64) {
	t.Helper()
	f := world.FeedRun(t, result, world.Priced)
	if f.Outcome != lake.OutcomeDone || !slices.Equal(f.StandingAbsent, want) || len(f.UnprovedAbsent) > 0 {
		t.Fatalf("%s %s, standing %v, unproved %v; want done and %v", f.Outcome, f.Error, f.StandingAbsent, f.UnprovedAbsent, want)
	}
}

// TestStandingAfterConflict lets another run commit first: one of another feed, one that reads the same feed again, and none. The deals that answer
// by id are still written down as not listed, so the guard does not count them in the next night.
func TestStandingAfterConflict(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(*world.World){
		"none": nil,
		"of another feed": func(w *world.World) {
			w.MustRun(t, world.Feeds(world.LoanExpected), world.Quiet)
		},
		"of the same feed": func(w *world.World) {
			w.Later(time.Second)
			w.MustRun(t, world.Feeds(world.Priced, world.LoanExpected), world.Quiet)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := someStand(t, 3)
			feeds := world.Feeds(world.Priced, world.LoanExpected)
			cfg := w.Config(t, feeds, world.Quiet)
			cfg.Store = &world.Overtaken{Store: w.Store, Before: func() {
				if meets := other; meets != nil {
					other = nil
					meets(w)
				}
			}}
			result, err := pull.Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			wantStanding(t, result, upTo(1, 15))
			w.Evening(5)
			wantStanding(t, run(t, w, feeds), upTo(1, 15))
		})
	}
}

// TestAbsentOfTheOther lets another run commit first that has read the same feed later. What its list lacked, and ours still had, is absent as
// that run says: without evidence, or returned by id in a form that cannot be read.
func TestAbsentOfTheOther(t *testing.T) {
	t.Parallel()
	w, b := someStand(t, 2)
	feeds := world.Feeds(world.Priced, world.LoanExpected)
	g := through(w, world.Priced)
	once := true
	cfg := w.Config(t, feeds, world.Quiet)
	cfg.Store = &world.Overtaken{Store: w.Store, Before: func() {
		if !once {
			return
		}
		once = false
		for id := int64(31); id <= 34; id++ {
			b.Unlist(world.Priced, id)
		}
		g.answer(31, 32, htmlPage(http.StatusNotFound))
		w.Later(time.Second)
		if _, err := w.Run(t, feeds, world.Quiet); err != nil { // it warns
			t.Error(err)
		}
	}}
	result, err := pull.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	f := world.FeedRun(t, result, world.Priced)
	if want := append(upTo(1, 10), 33, 34); !slices.Equal(f.UnprovedAbsent, []int64{31, 32}) || !slices.Equal(f.StandingAbsent, want) {
		t.Errorf("unproved %v, standing %v; want 31 and 32, and %v", f.UnprovedAbsent, f.StandingAbsent, want)
	}
}

// TestStandingUnreadable has the API return deals by id that cannot be read. They stand, also after another run has committed first.
func TestStandingUnreadable(t *testing.T) {
	t.Parallel()
	w, b := someStand(t, 1)
	feeds := world.Feeds(world.Priced, world.LoanExpected)
	for id := int64(6); id <= 8; id++ {
		b.Unlist(world.Priced, id)
	}
	g := through(w, world.Priced)
	g.answer(6, 8, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/hal+json")
		_, _ = fmt.Fprintf(w, "{\"dealId\":%s,\"borrower\":{\"name\":\"\xff\"}}", r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
	})
	once := true
	cfg := w.Config(t, feeds, world.Quiet)
	cfg.Store = &world.Overtaken{Store: w.Store, Before: func() {
		if once {
			once = false
			w.MustRun(t, world.Feeds(world.LoanExpected), world.Quiet)
		}
	}}
	result, err := pull.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	wantStanding(t, result, upTo(1, 8))
}

// TestStandingAfterDropDay takes the newest day back. What the API said by id is still known, so the guard counts the deals of the next night alone.
func TestStandingAfterDropDay(t *testing.T) {
	t.Parallel()
	w, b := someStand(t, 4)
	day := w.Log(t).SnapshotDay()
	upkeep := w.Upkeep(t, func(c *maintain.Config) { c.NoCatalog = true })
	if _, err := maintain.Expire(t.Context(), maintain.ExpireConfig{Config: upkeep, DropDay: day, Apply: true}); err != nil {
		t.Fatal(err)
	}
	for id := int64(21); id <= 26; id++ {
		b.Unlist(world.Priced, id)
	}
	wantStanding(t, run(t, w, world.Feeds(world.Priced)), upTo(1, 26))
}

// TestRequestsOfACancelledRun checks that a run that is cancelled says of each feed how many requests it sent: the day's budget counts them.
func TestRequestsOfACancelledRun(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 60, "")
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	b.Strike(world.Priced, 1, 2, 3, 4, 5)
	w.Evening(1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var sent atomic.Int64
	w.Interfere(func(_ http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/oauth/") && sent.Add(1) == 5 {
			cancel()
		}
		return false
	})
	result, err := pull.Run(ctx, w.Config(t, world.Feeds(world.Priced), world.Quiet))
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want it to be cancelled", err)
	}
	if said := world.FeedRun(t, result, world.Priced).Requests; said < sent.Load()-1 {
		t.Errorf("the API got %d requests, and the result says %d", sent.Load(), said)
	}
}
