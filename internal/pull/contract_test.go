package pull_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
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
		if !errors.Is(err, pull.ErrContract) || result.Commit != 0 || w.Log(t).Number != before || !result.Held.Contract {
			t.Errorf("%s: got %v, commit %d, held by %+v; want ErrContract, none, the contract", what, err, result.Commit, result.Held)
		}
		for _, told := range []string{"bond/ig/priced", "unknown_field at /novel", "unlisted_value at /dealType", `"SWAP"`, "--contract=report"} {
			if err != nil && !strings.Contains(err.Error(), told) {
				t.Errorf("%s: %q does not tell %q", what, err, told)
			}
		}
	}
	accepted := w.MustRun(t, some)
	drift := slices.DeleteFunc(world.FeedRun(t, accepted, world.Priced).Drift, func(d lake.Drift) bool { return d.Kind == lake.DriftMissing })
	if len(drift) != 3 {
		t.Errorf("drift %v, want /dealType, /known and /novel", drift)
	}
	w.Night(t, 3, some, freeze)
}

// TestContractOfNewKinds checks that a kind of drift which the program of the last snapshot did not know holds no run:
// it is reported, by syncs too, until a snapshot has recorded it. From then on it holds. Other kinds hold all the time.
func TestContractOfNewKinds(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	some := world.Feeds(world.Priced)
	b.WriteAll(world.Priced, 1, 5, `"banks":[{"status":"Bookrunner"}]`) // without a name, and without much of the deal
	first := w.Night(t, 0, some, world.Quiet)                           // a catalog would name the commit that is changed below
	if !slices.ContainsFunc(world.FeedRun(t, first, world.Priced).Drift, func(d lake.Drift) bool {
		return d.Pointer == "/banks/*/name" && d.Kind == lake.DriftMissing && d.Count == 5
	}) {
		t.Errorf("drift %v, want 5 missing names of banks", world.FeedRun(t, first, world.Priced).Drift)
	}
	(&world.Damager{TB: t, Store: w.Store}).Do("commit commit@1 drift_kinds first")
	if c := w.Log(t).Commits[0]; c.DriftKinds != nil || len(c.Feeds[0].Drift) != 0 {
		t.Fatalf("commit 1 has the drift %v", c.Feeds[0].Drift)
	}

	held := func(members, want string) {
		t.Helper()
		b.Write(world.Priced, 2, members)
		for what, command := range map[string]func(testing.TB, ...world.Change) (*pull.Result, error){"run": w.Run, "sync": w.Sync} {
			if _, err := command(t, some, freeze); !errors.Is(err, pull.ErrContract) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want ErrContract because of %s", what, err, want)
			}
		}
		b.Write(world.Priced, 2, `"message":"as it was"`)
	}
	w.Evening(1)
	held(`"novel":1`, "unknown_field at /novel")
	w.Later(time.Minute)
	w.MustSync(t, some, freeze)
	w.MustRun(t, some, freeze)
	w.Evening(2)
	w.MustRun(t, some, freeze)
	held(`"borrower":{"name":"B","type":"C"}`, "missing_required at /borrower/region")
}

// TestPageDrift checks that members next to a page's list are drift of the feed.
func TestPageDrift(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 2, "")
	w.Evening(0)
	w.Interfere(func(out http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != world.Priced.Path() {
			return false
		}
		out.Header().Set("Date", w.Clock.Now().UTC().Format(http.TimeFormat))
		_, err := io.WriteString(out, `{"_embedded":{"archivedDeals":[{"dealId":7}],"pricedDeals":null},"_links":{}}`)
		return err == nil
	})
	result := w.MustRun(t, world.Feeds(world.Priced))
	want := []lake.Drift{
		{Pointer: "page:/_embedded/archivedDeals", Kind: lake.DriftUnknown, Count: 1, Example: `[{"dealId":7}]`},
		{Pointer: "page:/_embedded/pricedDeals", Kind: lake.DriftMissing, Count: 1, Example: "null"},
	}
	if got := world.FeedRun(t, result, world.Priced).Drift; !slices.Equal(got, want) {
		t.Errorf("got drift %v, want %v", got, want)
	}
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

// TestRetryQuarantined asks for deals in quarantine by id, and commits those that can be read now. A deal that was read is no
// longer in quarantine, until it is received again in a way that cannot be read.
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
	wantOpen := func(want ...int64) {
		t.Helper()
		var got []int64
		open, err := pull.OpenQuarantine(t.Context(), w.Lake(t), world.Priced)
		for _, q := range open {
			got = append(got, q.DealID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("open in quarantine: %v, %v; want %v", got, err, want)
		}
	}
	wantOpen(2, 3)
	sound := b.Body(world.Priced, 1, `"message":"B"`)
	b.WriteBody(world.Priced, 1, strings.Replace(b.Body(world.Priced, 1, ""), `{`, `{"x":1,"x":2,`, 1)) // as it was
	w.Later(time.Hour)
	w.MustSync(t, some)
	wantOpen(2, 3, 1)
	b.WriteBody(world.Priced, 1, sound)
	last := w.Night(t, 2, some)
	world.WantCounts(t, last, world.Priced, [6]int64{0, 0, 1, 0, 5, 1})
	b.Write(world.Priced, 2, `"message":"A"`)
	w.Night(t, 3, some)
	if result, err := retry(); err != nil || result.Outcome != lake.OutcomeUnchanged || result.Commit != 0 || len(result.Feeds) > 0 {
		t.Errorf("nothing is in quarantine any more: got %v, %+v; want it unchanged", err, result)
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
