package simulation

import (
	"context"
	"math/rand/v2"
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

// fridays is a simulated market in which a third of the expected deals price on a Friday, on top of those that price
// anyway. No list ever shows their link to the priced deal.
type fridays struct {
	*sim.Market

	mu   sync.Mutex
	gone map[api.Feed]map[int64]bool
	only map[int64]bool // deals of the small feed that exist; nil for all
}

// small is the feed of three deals.
var small = api.Feed{Service: api.Bond, Market: api.EM, Kind: api.Expected}

func (f *fridays) hides(feed api.Feed, id int64) bool {
	return f.gone[feed][id] || feed == small && f.only != nil && !f.only[id]
}

// List implements serve.Source.
func (f *fridays) List(ctx context.Context, q serve.Query) (serve.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		page, err := f.Market.List(ctx, q)
		if err != nil {
			return page, err
		}
		kept := page.Records[:0:0]
		for _, r := range page.Records {
			if !f.hides(q.Feed, r.ID) {
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
	if f.hides(feed, id) {
		return serve.Record{}, serve.ErrNotFound
	}
	return f.Market.Get(ctx, feed, id)
}

// price lets a third of the expected deals of every market go.
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
			if i%3 == 0 && !f.gone[feed][deal.ID] {
				f.gone[feed][deal.ID] = true
				went++
			}
		}
	}
	return went
}

// year is one way to pull from a market for a year.
type year struct {
	days    int // with TEST_FULL, 120 or more of the first way
	feeds   []api.Feed
	deals   int // priced deals of each market
	says    refusals
	account serve.AccountType
	anyHour bool // runs start at any hour, else in the evening or just after midnight
	three   bool // the small feed shows three deals at a time, and none every fourth day
	checks  bool // once a week the quality checks run
}

// TestYearHasNoHolds executes years (TEST_DAYS=365; else their first weeks): weekends, some of them missed; Fridays on
// which a third of the expected deals price; runs just after midnight; holidays without a run. No feed is ever held, and
// none fails. Once a week the quality checks run, and none holds.
func TestYearHasNoHolds(t *testing.T) {
	t.Parallel()
	bonds, days := api.Feeds()[:6], count("TEST_DAYS", 20)
	for name, y := range map[string]year{
		"nights":                   {days: 28, feeds: api.Feeds(), deals: 15, says: withErrorID, account: serve.VIP, checks: true},
		"any hour":                 {days: days, feeds: bonds, deals: 15, says: withErrorID, account: serve.VIP, anyHour: true},
		"API without errorId":      {days: days, feeds: bonds, deals: 15, says: withForm, account: serve.VIP},
		"API without error bodies": {days: days, feeds: bonds, deals: 15, says: withNothing, account: serve.VIP},
		"trial account":            {days: days, feeds: bonds, deals: 120, says: withErrorID, account: serve.FreeTrial},
		"a feed of three deals":    {days: days, feeds: bonds, deals: 15, says: withErrorID, account: serve.VIP, three: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, y.live)
		})
	}
}

// live executes the year in a bubble.
func (y year) live(t *testing.T) {
	if full() && y.checks {
		y.days = max(120, count("TEST_DAYS", 0))
	}
	began := time.Now()
	market := &fridays{gone: map[api.Feed]map[int64]bool{}, Market: sim.New(sim.Config{
		Seed: 4, Epoch: began, Clock: time.Now, Deals: y.deals, Expected: 40, PerDay: 4,
	})}
	l := &life{
		t: t, dice: diceOf(4, "year"), work: t.TempDir(), mem: testkit.Allocator(t), store: new(memstore.Mem),
		feeds: y.feeds, pageSize: 25, beat: 20 * time.Millisecond, tally: map[string]int{},
	}
	l.listener = server(t, market, serve.Config{Accounts: []serve.Account{{ClientID: "demo", Secret: "demo", Type: y.account}}})
	var runs, missed, unproved int
	var went int
	var removed, refused, added int64
	for day := range y.days {
		midnight := began.AddDate(0, 0, day)
		weekday := midnight.Weekday()
		if weekday == time.Friday {
			l.sleep(midnight.Add(17 * time.Hour))
			went += market.price()
		}
		weekend := weekday == time.Saturday || weekday == time.Sunday
		if holidays := day%120 >= 10 && day%120 < 15; weekend && l.dice.IntN(3) == 0 || holidays {
			missed++
			continue
		}
		if y.three {
			market.showThree(day)
		}
		l.sleep(y.start(midnight, l.dice))
		l.runs++
		n := newNetwork(uint64(day), l.listener)
		n.beat, n.says = l.beat, y.says
		l.catalog = y.checks && day%7 == 0 // building it costs more than the rest of the night
		result, err := l.run("run", plan{server: true, day: lake.DateOf(midnight)}, n)
		if err != nil {
			t.Fatalf("day %d, %s: %v", day, midnight.Format(time.DateOnly), err)
		}
		l.wantChecks(result)
		unproved = 0
		for i := range result.Feeds {
			f := &result.Feeds[i]
			if f.Outcome != lake.OutcomeDone {
				t.Errorf("day %d: %s: %s %s", day, f.Feed, f.Outcome, f.Error)
			}
			removed, refused, added = removed+f.Removed, refused+f.NotEntitled, added+f.Added
			unproved += len(f.UnprovedAbsent)
		}
		runs++
	}
	switch {
	case y.says == withNothing && (removed > 0 || unproved < went/4):
		t.Errorf("%d deals were removed without any evidence, %d are kept; %d expected deals went on Fridays", removed, unproved, went)
	case y.says != withNothing && (unproved > 0 || went == 0 || removed < int64(went)/4):
		t.Errorf("%d expected deals went on Fridays, %d were removed, %d are kept without evidence: nothing was tried", went, removed, unproved)
	case (y.account == serve.FreeTrial) != (refused > 0):
		t.Errorf("%d deals left the entitlement", refused)
	}
	t.Logf("%d days, %d runs, %d missed: %d deals added, %d removed (%d out of entitlement), %d kept without evidence, no feed held", y.days, runs, missed, added, removed, refused, unproved)
}

// start returns when the run of a day starts.
func (y year) start(midnight time.Time, dice *rand.Rand) time.Time {
	switch {
	case y.anyHour:
		return midnight.Add(time.Duration(dice.Int64N(int64(24 * time.Hour))))
	case dice.IntN(5) == 0:
		return midnight.Add(24*time.Hour + time.Minute) // late: after midnight
	}
	return midnight.Add(22 * time.Hour)
}

// showThree lets the small feed show three deals for three days, then none for a day, then three others.
func (f *fridays) showThree(day int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.only = map[int64]bool{}
	deals := f.Deals(small)
	first := day / 4 * 3 % max(1, len(deals)-3)
	for i := first; day%4 < 3 && i < min(first+3, len(deals)); i++ {
		f.only[deals[i].ID] = true
	}
}
