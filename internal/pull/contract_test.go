package pull_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/schemas/lake"
)

func freeze(c *pull.Config) { c.Contract = pull.ContractFreeze }

// TestContract checks that a run and a sync freeze only on drift that the lake has not seen before, and that accepted
// drift is known from then on.
func TestContract(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	some := world.Feeds(world.Priced)
	b.WriteAll(world.Priced, 1, 5, `"known":1`)
	w.Night(t, 0, some)
	b.Write(world.Priced, 1, `"known":"of another type, which is the same departure"`)
	w.Night(t, 1, some, freeze)
	before := w.Log(t).Number

	w.Evening(2)
	b.Write(world.Priced, 2, `"novel":true,"dealType":"SWAP"`)
	for what, command := range map[string]func(testing.TB, ...world.Change) (*pull.Result, error){"run": w.Run, "sync": w.Sync} {
		result, err := command(t, some, freeze)
		if !errors.Is(err, pull.ErrContract) || result.Commit != 0 || w.Log(t).Number != before {
			t.Errorf("%s: got %v, commit %d; want ErrContract, none", what, err, result.Commit)
		}
		for _, told := range []string{"bond/ig/priced", "unknown_field at /novel", "unlisted_value at /dealType", `"SWAP"`, "--contract=report"} {
			if err != nil && !strings.Contains(err.Error(), told) {
				t.Errorf("%s: %q does not tell %q", what, err, told)
			}
		}
	}
	accepted := w.MustRun(t, some)
	if drift := world.FeedRun(t, accepted, world.Priced).Drift; len(drift) != 3 {
		t.Errorf("drift %v, want /dealType, /known and /novel", drift)
	}
	w.Night(t, 3, some, freeze)
}

// TestDeadline checks that the feeds that are complete at the deadline are committed, and that the next run pulls the
// others.
func TestDeadline(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	both := world.Feeds(world.Priced, world.Expected)
	b.WriteAll(world.Priced, 1, 3, "")
	b.WriteAll(world.Expected, 1, 3, "")
	w.Evening(0)
	asked := make(chan struct{})
	var ask sync.Once
	w.Interfere(func(out http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == world.Priced.Path() {
			ask.Do(func() { close(asked) })
		}
		if r.URL.Path != world.Expected.Path() {
			return false
		}
		<-asked // an order to wait holds all feeds: the other must have asked by then
		out.Header().Set("Retry-After", "3600")
		out.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	result, err := w.Run(t, both, func(c *pull.Config) { c.Deadline = time.Minute })
	if !errors.Is(err, pull.ErrDeadline) || !errors.Is(err, pull.ErrFeedsFailed) || result.Commit != 1 {
		t.Fatalf("got %v, commit %d; want ErrDeadline and ErrFeedsFailed, commit 1", err, result.Commit)
	}
	world.WantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected failed")
	if why := world.FeedRun(t, result, world.Expected).Error; !strings.Contains(why, "deadline") || !strings.Contains(why, "503") {
		t.Errorf("the feed says %q; want the deadline and the answer that it waited for", why)
	}
	w.Interfere(nil)
	next := w.MustRun(t, both)
	world.WantOutcomes(t, next, "bond/ig/expected done")
}

// TestDeadlineCutsOff checks that the deadline ends a running request, and the wait for a token that never comes.
func TestDeadlineCutsOff(t *testing.T) {
	t.Parallel()
	for what, path := range map[string]string{"page": world.Priced.Path(), "token": "/oauth/token"} {
		t.Run(what, func(t *testing.T) {
			w, b := world.NewBook(t)
			b.WriteAll(world.Priced, 1, 3, "")
			w.Evening(0)
			ended, end := context.WithCancel(t.Context())
			t.Cleanup(end)
			w.Interfere(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != path {
					return false
				}
				select {
				case <-r.Context().Done():
				case <-ended.Done():
				}
				return true
			})
			_, err := w.Run(t, world.Feeds(world.Priced), func(c *pull.Config) { c.Deadline = 300 * time.Millisecond })
			if !errors.Is(err, pull.ErrDeadline) {
				t.Errorf("got %v, want ErrDeadline", err)
			}
			if number := w.Log(t).Number; number != 0 {
				t.Errorf("commit %d, want none", number)
			}
		})
	}
}

// TestRetryQuarantined asks for deals in quarantine by id, and commits those that can be read now.
func TestRetryQuarantined(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	some := world.Feeds(world.Priced)
	b.WriteAll(world.Priced, 1, 6, `"message":"A"`)
	w.Night(t, 0, some)
	for _, id := range []int64{1, 2, 3} {
		b.WriteBody(world.Priced, id, strings.Replace(b.Body(world.Priced, id, ""), `{`, `{"x":1,"x":2,`, 1))
	}
	night := w.Night(t, 1, some)
	world.WantCounts(t, night, world.Priced, [6]int64{0, 0, 0, 0, 6, 3})

	retry := func() (*pull.Result, error) {
		cfg := w.Config(t, some)
		return pull.RetryQuarantined(t.Context(), cfg)
	}
	w.Later(time.Hour)
	if result, err := retry(); err != nil || result.Outcome != lake.OutcomeUnchanged {
		t.Errorf("nothing is better: got %v, %+v; want it unchanged", err, result)
	}
	b.Write(world.Priced, 1, `"message":"B"`)
	b.Strike(world.Priced, 3)
	result, err := retry()
	if err != nil || result.Commit != 3 {
		t.Fatalf("got %v, commit %d; want commit 3", err, result.Commit)
	}
	if f := world.FeedRun(t, result, world.Priced); f.Changed != 1 || f.Removed != 0 || f.Quarantined != 1 {
		t.Errorf("changed %d, removed %d, quarantined %d; want 1, 0, 1", f.Changed, f.Removed, f.Quarantined)
	}
	last := w.Night(t, 2, some)
	world.WantCounts(t, last, world.Priced, [6]int64{0, 0, 1, 0, 5, 1})
	b.Write(world.Priced, 2, `"message":"A"`)
	w.Night(t, 3, some)
	if _, err := retry(); !errors.Is(err, pull.ErrNothingDone) {
		t.Errorf("nothing is in quarantine any more: got %v, want ErrNothingDone", err)
	}
}

// TestSyncQuarantinesOnce checks that the first sync that receives an unreadable record keeps it, and that later syncs
// keep no copies.
func TestSyncQuarantinesOnce(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 6, `"message":"A"`)
	w.Night(t, 0, world.Feeds(world.Priced))
	w.Later(time.Hour)
	b.WriteBody(world.Priced, 2, `{"dealId":2,"x":1,"x":2}`)
	first := w.MustSync(t, world.Feeds(world.Priced))
	if first.Commit != 2 || world.FeedRun(t, first, world.Priced).Quarantined != 1 {
		t.Errorf("commit %d, quarantined %d; want 2, 1", first.Commit, world.FeedRun(t, first, world.Priced).Quarantined)
	}
	if again := w.MustSync(t, world.Feeds(world.Priced)); again.Commit != 0 {
		t.Errorf("the same again: commit %d, want none", again.Commit)
	}
	b.WriteBody(world.Priced, 2, `{"dealId":2,"x":1,"x":3}`)
	w.MustSync(t, world.Feeds(world.Priced))
	if files := w.Log(t).Files(lake.QuarantineTable); len(files) != 2 || files[0].Rows != 1 || files[1].Rows != 1 {
		t.Errorf("quarantine files %+v, want two of a record each", files)
	}
}

// TestSyncQuarantinesAgain checks that a sync keeps an unreadable record although an earlier night has kept the same
// bytes: the deal was readable in between.
func TestSyncQuarantinesAgain(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	const bad = `{"dealId":2,"x":1,"x":2}`
	b.WriteAll(world.Priced, 1, 6, `"message":"A"`)
	b.WriteBody(world.Priced, 2, bad)
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	b.Write(world.Priced, 2, `"message":"A"`)
	w.Night(t, 1, world.Feeds(world.Priced), world.Quiet)
	w.Later(time.Hour)
	b.WriteBody(world.Priced, 2, bad)
	result := w.MustSync(t, world.Feeds(world.Priced), world.Quiet)
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	held, err := pull.OpenQuarantine(t.Context(), l, world.Priced)
	if err != nil || len(held) != 1 || held[0].DealID != 2 || held[0].RunID != result.RunID {
		t.Errorf("open in quarantine: got %+v, %v; want deal 2 of the sync", held, err)
	}
}
