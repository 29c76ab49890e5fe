package pipeline_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"dealflow/internal/pipeline"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// TestCancel cancels a run in its middle, and at its end just before the commit: the lake stays as it
// was, and nothing is left of the run but files that no commit names.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.Config{Seed: 1, Deals: 20})
	some := feeds(priced, expected, loanExpected)
	w.night(t, 0, some)
	w.evening(3)
	before := wholeState(t, w.store)
	for name, when := range map[string]func(cfg *pipeline.Config, cancel func()){
		"a feed is done": func(cfg *pipeline.Config, cancel func()) {
			cfg.FeedDone = func(lake.FeedRun) { cancel() }
		},
		"all feeds are done": func(cfg *pipeline.Config, cancel func()) {
			var left sync.WaitGroup
			left.Add(len(cfg.Feeds))
			cfg.FeedDone = func(lake.FeedRun) {
				left.Done()
				left.Wait()
				cancel()
			}
		},
		"a page is asked for": func(_ *pipeline.Config, cancel func()) {
			w.interfere(cancelAt(loanExpected.Path(), cancel))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			defer w.interfere(nil)
			cfg := w.config(t)
			some(&cfg)
			when(&cfg, cancel)
			result, err := pipeline.Run(ctx, cfg)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
			if result == nil || result.Commit != 0 || result.Outcome != lake.OutcomeFailed {
				t.Errorf("got %+v, want a failed result", result)
			}
			wantState(t, "after the cancelled run", wholeState(t, w.store), before)
			if number := w.log(t).Number; number != 1 {
				t.Errorf("commit %d, want 1", number)
			}
			wantEmpty(t, cfg.WorkDir)
		})
	}
	if result := w.mustRun(t, some); result.Commit != 2 {
		t.Errorf("the next run: commit %d, want 2", result.Commit)
	}
}

// cancelAt cancels a run when it asks for a path, and answers nothing.
func cancelAt(path string, cancel func()) meddler {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != path {
			return false
		}
		cancel()
		<-r.Context().Done() // the client is gone
		return true
	}
}

// TestCancelledFeedsAreNotDone holds what the result says of feeds that the end of the run cut off.
func TestCancelledFeedsAreNotDone(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 3, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.interfere(cancelAt(expected.Path(), cancel))
	cfg := w.config(t)
	feeds(priced, expected)(&cfg)
	result, err := pipeline.Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	if f := feedRun(t, result, expected); f.Outcome != lake.OutcomeFailed || f.Error == "" {
		t.Errorf("the feed that was cut off: %s %q, want failed and why", f.Outcome, f.Error)
	}
	if number := w.log(t).Number; number != 0 {
		t.Errorf("commit %d, want none", number)
	}
}
