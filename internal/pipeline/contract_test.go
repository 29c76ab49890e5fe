package pipeline_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/internal/pipeline"
	"dealflow/load"
	"dealflow/schemas/lake"
)

func freeze(c *pipeline.Config) { c.Contract = pipeline.ContractFreeze }

// TestContract freezes on what the lake has not seen before, in a run as in a sync, and on nothing else;
// once accepted, it is known.
func TestContract(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	some := feeds(priced)
	b.writeAll(priced, 1, 5, `"known":1`)
	w.night(t, 0, some)
	b.write(priced, 1, `"known":"of another type, which is the same departure"`)
	w.night(t, 1, some, freeze)
	before := w.log(t).Number

	w.evening(2)
	b.write(priced, 2, `"novel":true,"dealType":"SWAP"`)
	for what, pull := range map[string]func(testing.TB, ...change) (*pipeline.Result, error){"run": w.run, "sync": w.sync} {
		result, err := pull(t, some, freeze)
		if !errors.Is(err, pipeline.ErrContract) || result.Commit != 0 || w.log(t).Number != before {
			t.Errorf("%s: got %v, commit %d; want ErrContract, none", what, err, result.Commit)
		}
		for _, told := range []string{"bond/ig/priced", "unknown_field at /novel", "unlisted_value at /dealType", `"SWAP"`, "--contract=report"} {
			if err != nil && !strings.Contains(err.Error(), told) {
				t.Errorf("%s: %q does not tell %q", what, err, told)
			}
		}
	}
	accepted := w.mustRun(t, some)
	if drift := feedRun(t, accepted, priced).Drift; len(drift) != 3 {
		t.Errorf("drift %v, want /dealType, /known and /novel", drift)
	}
	w.night(t, 3, some, freeze)
}

// TestDeadline commits the feeds that are complete when it comes; the next run pulls the others.
func TestDeadline(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	both := feeds(priced, expected)
	b.writeAll(priced, 1, 3, "")
	b.writeAll(expected, 1, 3, "")
	w.evening(0)
	asked := make(chan struct{})
	var ask sync.Once
	w.interfere(func(out http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == priced.Path() {
			ask.Do(func() { close(asked) })
		}
		if r.URL.Path != expected.Path() {
			return false
		}
		<-asked // an order to wait holds all feeds: the other must have asked by then
		out.Header().Set("Retry-After", "3600")
		out.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	result, err := w.run(t, both, func(c *pipeline.Config) { c.Deadline = time.Minute })
	if !errors.Is(err, pipeline.ErrDeadline) || !errors.Is(err, pipeline.ErrFeedsFailed) || result.Commit != 1 {
		t.Fatalf("got %v, commit %d; want ErrDeadline and ErrFeedsFailed, commit 1", err, result.Commit)
	}
	wantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected failed")
	if why := feedRun(t, result, expected).Error; !strings.Contains(why, "deadline") || !strings.Contains(why, "503") {
		t.Errorf("the feed says %q; want the deadline and the answer that it waited for", why)
	}
	w.interfere(nil)
	next := w.mustRun(t, both)
	wantOutcomes(t, next, "bond/ig/expected done")
}

// TestDeadlineCutsOff ends a request under way, and a token that is never given.
func TestDeadlineCutsOff(t *testing.T) {
	t.Parallel()
	for what, path := range map[string]string{"page": priced.Path(), "token": "/oauth/token"} {
		t.Run(what, func(t *testing.T) {
			w, b := newBook(t)
			b.writeAll(priced, 1, 3, "")
			w.evening(0)
			ended, end := context.WithCancel(t.Context())
			t.Cleanup(end)
			w.interfere(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != path {
					return false
				}
				select {
				case <-r.Context().Done():
				case <-ended.Done():
				}
				return true
			})
			_, err := w.run(t, feeds(priced), func(c *pipeline.Config) { c.Deadline = 300 * time.Millisecond })
			if !errors.Is(err, pipeline.ErrDeadline) {
				t.Errorf("got %v, want ErrDeadline", err)
			}
			if number := w.log(t).Number; number != 0 {
				t.Errorf("commit %d, want none", number)
			}
		})
	}
}

// TestRetryQuarantined reads again what could not be read, deal by deal, and commits what can be read now.
func TestRetryQuarantined(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	some := feeds(priced)
	b.writeAll(priced, 1, 6, `"message":"A"`)
	w.night(t, 0, some)
	for _, id := range []int64{1, 2, 3} {
		b.writeBody(priced, id, strings.Replace(b.body(priced, id, ""), `{`, `{"x":1,"x":2,`, 1))
	}
	night := w.night(t, 1, some)
	wantCounts(t, night, priced, [6]int64{0, 0, 0, 0, 6, 3})

	retry := func() (*pipeline.Result, error) {
		cfg := w.config(t)
		some(&cfg)
		return pipeline.RetryQuarantined(t.Context(), cfg)
	}
	w.later(time.Hour)
	if result, err := retry(); err != nil || result.Outcome != lake.OutcomeUnchanged {
		t.Errorf("nothing is better: got %v, %+v; want it unchanged", err, result)
	}
	b.write(priced, 1, `"message":"B"`)
	b.strike(priced, 3)
	result, err := retry()
	if err != nil || result.Commit != 3 {
		t.Fatalf("got %v, commit %d; want commit 3", err, result.Commit)
	}
	if f := feedRun(t, result, priced); f.Changed != 1 || f.Removed != 0 || f.Quarantined != 1 {
		t.Errorf("changed %d, removed %d, quarantined %d; want 1, 0, 1", f.Changed, f.Removed, f.Quarantined)
	}
	last := w.night(t, 2, some)
	wantCounts(t, last, priced, [6]int64{0, 0, 1, 0, 5, 1})
	b.write(priced, 2, `"message":"A"`)
	w.night(t, 3, some)
	if _, err := retry(); !errors.Is(err, pipeline.ErrNothingDone) {
		t.Errorf("nothing is in quarantine any more: got %v, want ErrNothingDone", err)
	}
}

// TestSyncQuarantinesOnce keeps a record that cannot be read as soon as a sync meets it, and no copy for
// each sync after it.
func TestSyncQuarantinesOnce(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 6, `"message":"A"`)
	w.night(t, 0, feeds(priced))
	w.later(time.Hour)
	b.writeBody(priced, 2, `{"dealId":2,"x":1,"x":2}`)
	first := w.mustSync(t, feeds(priced))
	if first.Commit != 2 || feedRun(t, first, priced).Quarantined != 1 {
		t.Errorf("commit %d, quarantined %d; want 2, 1", first.Commit, feedRun(t, first, priced).Quarantined)
	}
	if again := w.mustSync(t, feeds(priced)); again.Commit != 0 {
		t.Errorf("the same again: commit %d, want none", again.Commit)
	}
	b.writeBody(priced, 2, `{"dealId":2,"x":1,"x":3}`)
	w.mustSync(t, feeds(priced))
	if files := w.log(t).Files(lake.QuarantineTable); len(files) != 2 || files[0].Rows != 1 || files[1].Rows != 1 {
		t.Errorf("quarantine files %+v, want two of a record each", files)
	}
}

// TestSyncQuarantinesAgain keeps a record that a sync meets although an earlier night has put the same bytes
// aside: the deal was readable in between.
func TestSyncQuarantinesAgain(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	const bad = `{"dealId":2,"x":1,"x":2}`
	b.writeAll(priced, 1, 6, `"message":"A"`)
	b.writeBody(priced, 2, bad)
	w.night(t, 0, feeds(priced), quiet)
	b.write(priced, 2, `"message":"A"`)
	w.night(t, 1, feeds(priced), quiet)
	w.later(time.Hour)
	b.writeBody(priced, 2, bad)
	result := w.mustSync(t, feeds(priced), quiet)
	l, err := load.Open(t.Context(), w.store)
	if err != nil {
		t.Fatal(err)
	}
	held, err := pipeline.OpenQuarantine(t.Context(), l, priced)
	if err != nil || len(held) != 1 || held[0].DealID != 2 || held[0].RunID != result.RunID {
		t.Errorf("open in quarantine: got %+v, %v; want deal 2 of the sync", held, err)
	}
}
