package simulation

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/internal/testkit"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// fridays is a simulated market in which half of the expected deals price on a Friday.
type fridays struct {
	*sim.Market

	mu   sync.Mutex
	gone map[api.Feed]map[int64]bool
}

// List implements serve.Source.
func (f *fridays) List(ctx context.Context, q serve.Query) (serve.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		page, err := f.Market.List(ctx, q)
		if err != nil || len(f.gone[q.Feed]) == 0 {
			return page, err
		}
		kept := page.Records[:0:0]
		for _, r := range page.Records {
			if !f.gone[q.Feed][r.ID] {
				kept = append(kept, r)
			}
		}
		if len(kept) > 0 || !page.More {
			page.Records = kept
			return page, nil
		}
		last := page.Records[len(page.Records)-1]
		q.After = &serve.Position{UpdatedAt: last.UpdatedAt, ID: last.ID}
	}
}

// Get implements serve.Source.
func (f *fridays) Get(ctx context.Context, feed api.Feed, id int64) (serve.Record, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone[feed][id] {
		return serve.Record{}, serve.ErrNotFound
	}
	return f.Market.Get(ctx, feed, id)
}

// price lets half of the expected deals of every market go.
func (f *fridays) price() (went int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, feed := range api.Feeds() {
		if feed.Kind != api.Expected {
			continue
		}
		if f.gone[feed] == nil {
			f.gone[feed] = map[int64]bool{}
		}
		for i, deal := range f.Deals(feed) {
			if i%2 == 0 && !f.gone[feed][deal.ID] {
				f.gone[feed][deal.ID] = true
				went++
			}
		}
	}
	return went
}

// TestYearHasNoHolds executes a year (TEST_FULL=1; else its first weeks): weekends, some of them missed; Fridays on
// which half of the expected deals price; runs just after midnight; a week of holidays without a run. No feed is ever
// held, and none fails. Once a week the quality checks run, and none holds.
func TestYearHasNoHolds(t *testing.T) {
	t.Parallel()
	days := 28
	if full() {
		days = 365
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		market := &fridays{gone: map[api.Feed]map[int64]bool{}, Market: sim.New(sim.Config{
			Seed: 4, Epoch: began, Clock: time.Now, Deals: 15, Expected: 14, PerDay: 0.4,
		})}
		l := &life{
			t: t, dice: diceOf(4, "year"), work: t.TempDir(), mem: testkit.Allocator(t), store: new(memstore.Mem),
			feeds: api.Feeds(), pageSize: 25, beat: 20 * time.Millisecond, tally: map[string]int{},
		}
		l.listener = server(t, market, serve.Config{})
		var runs, missed int
		var went int
		var removed, added int64
		for day := range days {
			midnight := began.AddDate(0, 0, day)
			weekday := midnight.Weekday()
			weekend := weekday == time.Saturday || weekday == time.Sunday
			if weekday == time.Friday {
				l.sleep(midnight.Add(17 * time.Hour))
				went += market.price()
			}
			if weekend && l.dice.IntN(3) == 0 || day >= 120 && day < 127 {
				missed++
				continue
			}
			at := midnight.Add(22 * time.Hour)
			if l.dice.IntN(5) == 0 {
				at = midnight.Add(24*time.Hour + time.Minute) // late: after midnight
			}
			l.sleep(at)
			l.runs++
			n := newNetwork(uint64(day), l.listener)
			n.beat = l.beat
			l.catalog = day%7 == 0 // building it costs more than the rest of the night
			result, err := l.run("run", plan{server: true, day: lake.DateOf(midnight)}, n)
			if err != nil {
				t.Fatalf("day %d, %s: %v", day, midnight.Format(time.DateOnly), err)
			}
			l.wantChecks(plan{}, result)
			for i := range result.Feeds {
				if f := &result.Feeds[i]; f.Outcome != lake.OutcomeDone {
					t.Errorf("day %d: %s: %s %s", day, f.Feed, f.Outcome, f.Error)
				}
				removed += result.Feeds[i].Removed
				added += result.Feeds[i].Added
			}
			runs++
		}
		if went == 0 || removed < int64(went)/2 {
			t.Errorf("%d expected deals went on Fridays, %d were removed: nothing was tried", went, removed)
		}
		t.Logf("%d days, %d runs, %d missed: %d deals added, %d removed, no feed held", days, runs, missed, added, removed)
	})
}
