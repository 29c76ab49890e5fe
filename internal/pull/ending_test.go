package pull_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// TestCancel cancels a run in its middle, and just before its commit. The lake is unchanged, and the run leaves only
// files that no commit names.
func TestCancel(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 1, Deals: 20})
	some := world.Feeds(world.Priced, world.Expected, world.LoanExpected)
	w.Night(t, 0, some)
	w.Evening(3)
	before := world.StateOf(t, w.Store)
	for name, when := range map[string]func(cfg *pull.Config, cancel func()){
		"a feed is done": func(cfg *pull.Config, cancel func()) {
			cfg.FeedDone = func(lake.FeedRun) { cancel() }
		},
		"all feeds are done": func(cfg *pull.Config, cancel func()) {
			var left sync.WaitGroup
			left.Add(len(cfg.Feeds))
			cfg.FeedDone = func(lake.FeedRun) {
				left.Done()
				left.Wait()
				cancel()
			}
		},
		"a page is asked for": func(_ *pull.Config, cancel func()) {
			w.Interfere(cancelAt(world.LoanExpected.Path(), cancel))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			defer w.Interfere(nil)
			cfg := w.Config(t, some)
			when(&cfg, cancel)
			result, err := pull.Run(ctx, cfg)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
			if result == nil || result.Commit != 0 || result.Outcome != lake.OutcomeFailed {
				t.Errorf("got %+v, want a failed result", result)
			}
			world.WantState(t, "after the cancelled run", world.StateOf(t, w.Store), before)
			if number := w.Log(t).Number; number != 1 {
				t.Errorf("commit %d, want 1", number)
			}
			world.WantEmpty(t, cfg.WorkDir)
		})
	}
	if result := w.MustRun(t, some); result.Commit != 2 {
		t.Errorf("the next run: commit %d, want 2", result.Commit)
	}
}

// cancelAt cancels a run when it requests a path, and does not answer.
func cancelAt(path string, cancel func()) world.Meddler {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != path {
			return false
		}
		cancel()
		<-r.Context().Done() // the client is gone
		return true
	}
}

// TestCancelledFeedsAreNotDone checks what the result says of feeds that the end of the run cut off.
func TestCancelledFeedsAreNotDone(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.Interfere(cancelAt(world.Expected.Path(), cancel))
	cfg := w.Config(t, world.Feeds(world.Priced, world.Expected))
	result, err := pull.Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want context.Canceled", err)
	}
	if f := world.FeedRun(t, result, world.Expected); f.Outcome != lake.OutcomeFailed || f.Error == "" {
		t.Errorf("the feed that was cut off: %s %q, want failed and why", f.Outcome, f.Error)
	}
	if number := w.Log(t).Number; number != 0 {
		t.Errorf("commit %d, want none", number)
	}
}
