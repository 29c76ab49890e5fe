package pull_test

import (
	"errors"
	"testing"

	"dealflow/extract"
	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/lake"
)

// TestRequestBudget runs with every budget of requests from 1 up to what a night needs. Feeds that are complete within it
// are committed, the others fail, and no deal is removed because the budget ended before it was asked for.
func TestRequestBudget(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	feeds := world.Feeds(world.Priced, world.LoanPriced)
	b.WriteAll(world.Priced, 1, 12, "")
	b.WriteAll(world.LoanPriced, 1, 12, "")
	w.Pages = 5
	w.Night(t, 0, feeds)
	b.Strike(world.Priced, 3)
	some := 0
	for budget := int64(1); ; budget += 3 {
		if budget > 100 {
			t.Fatal("a night of two small feeds takes more than 100 requests")
		}
		w.Evening(int(budget))
		w.Requests = budget
		result, err := w.Run(t, feeds)
		if err == nil {
			if result.Count(func(f *lake.FeedRun) int64 { return f.Removed }) > 1 {
				t.Errorf("budget %d: %d deals were removed, want one at most", budget, result.Count(func(f *lake.FeedRun) int64 { return f.Removed }))
			}
			break
		}
		if !errors.Is(err, extract.ErrBudget) || !errors.Is(err, pull.ErrFeedsFailed) || errors.Is(err, pull.ErrNothingDone) != (result.Commit == 0) {
			t.Fatalf("budget %d: got %v, want ErrBudget and ErrFeedsFailed", budget, err)
		}
		sent, done := int64(0), 0
		for _, f := range result.Feeds {
			sent += f.Requests
			if f.Outcome == lake.OutcomeDone {
				done++
			}
		}
		if sent > budget {
			t.Errorf("budget %d: %d requests were sent", budget, sent)
		}
		if (done > 0) != (result.Commit > 0) {
			t.Errorf("budget %d: %d feeds are done, and the commit is %d", budget, done, result.Commit)
		}
		if done > 0 {
			some++
		}
	}
	if some == 0 {
		t.Error("no budget was enough for one feed alone: the test tries too little")
	}
	world.WantSound(t, w.Store)
}
