package sim_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// all returns the ids of a query's complete list.
func all(t *testing.T, m *sim.Market, q serve.Query) map[int64]serve.Record {
	t.Helper()
	q.Limit = 1 << 20
	page, err := m.List(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	found := map[int64]serve.Record{}
	for _, r := range page.Records {
		found[r.ID] = r
	}
	return found
}

// said has the members that lists can be filtered by.
type said struct {
	PricingDate string `json:"pricingDate"`
	PricedDate  string `json:"pricedDate"`
	Tranches    []struct {
		PricingDate string `json:"pricingDate"`
	} `json:"tranches"`
	Changed time.Time `json:"changed"`
}

func saidBy(t *testing.T, body []byte) said {
	t.Helper()
	var s said
	if err := json.Unmarshal(body, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// date returns the deal's pricing date. That of a loan without one is the newest of its tranches
// (docs/reference/api-choices.md).
func (s said) date() string {
	date := s.PricingDate + s.PricedDate
	if date != "" {
		return date
	}
	for _, tranche := range s.Tranches {
		date = max(date, tranche.PricingDate)
	}
	return date
}

func TestPricingDateBoundsAList(t *testing.T) {
	undated := 0
	market := sim.New(sim.Config{Seed: 21, Deals: 120})
	for _, feed := range api.Feeds() {
		if feed.Kind != api.Priced {
			continue
		}
		for _, bounds := range [][2]string{{"2025-03-03", "2025-09-30"}, {"", "2025-06-02"}, {"2025-06-02", ""}, {"2030-01-01", ""}} {
			got := all(t, market, serve.Query{Feed: feed, PricingDateFrom: bounds[0], PricingDateTo: bounds[1]})
			want := 0
			for _, deal := range market.Deals(feed) {
				s := saidBy(t, deal.Body)
				date := s.date()
				if s.PricingDate+s.PricedDate == "" {
					undated++
				}
				if date != deal.PricingDate {
					t.Fatalf("%s %d: the record says %q, the body %q", feed, deal.ID, deal.PricingDate, date)
				}
				if within := date != "" && date >= bounds[0] && (bounds[1] == "" || date <= bounds[1]); within {
					want++
					if _, found := got[deal.ID]; !found {
						t.Errorf("%s %d of %s is not within %q", feed, deal.ID, date, bounds)
					}
				}
			}
			if len(got) != want {
				t.Errorf("%s: %d deals within %q, want %d", feed, len(got), bounds, want)
			}
		}
	}
	if undated == 0 {
		t.Error("no loan is without pricedDate")
	}
}

func TestChangedBoundsAList(t *testing.T) {
	quirks := sim.DefaultQuirks()
	quirks.ListOmission, quirks.SilentEdit, quirks.ClockSkew = 0, 1, 0.2
	clock := sim.NewManualClock(epoch.Add(60 * time.Hour))
	market := sim.New(sim.Config{Seed: 22, Deals: 150, Quirks: &quirks, Clock: clock.Now})
	feed := api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Expected}
	deals := market.Deals(feed)
	from := saidBy(t, deals[len(deals)/3].Body).Changed
	to := saidBy(t, deals[len(deals)/2].Body).Changed
	if to.Before(from) {
		from, to = to, from
	}
	for _, q := range []serve.Query{{ChangedFrom: from}, {ChangedTo: to}, {ChangedFrom: from, ChangedTo: to}} {
		q.Feed = feed
		got, want := all(t, market, q), 0
		for _, deal := range deals {
			changed := saidBy(t, deal.Body).Changed
			if changed.Before(q.ChangedFrom) || !q.ChangedTo.IsZero() && changed.After(q.ChangedTo) {
				continue
			}
			want++
			if _, found := got[deal.ID]; !found {
				t.Errorf("%d, changed %s, is not in %s to %s", deal.ID, changed, q.ChangedFrom, q.ChangedTo)
			}
		}
		if len(got) != want || want == 0 || want == len(deals) {
			t.Errorf("%d deals of %d from %s to %s, want %d", len(got), len(deals), q.ChangedFrom, q.ChangedTo, want)
		}
	}
}

func TestUpdatedAfterLeavesOutItsInstant(t *testing.T) {
	market := sim.New(sim.Config{Seed: 23, Deals: 50})
	feed := api.Feeds()[0]
	page, err := market.List(t.Context(), serve.Query{Feed: feed, Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	last := page.Records[9]
	if got := all(t, market, serve.Query{Feed: feed, UpdatedSince: last.UpdatedAt}); got[last.ID].Body == nil {
		t.Error("an instant in whole seconds is not inclusive")
	}
	if got := all(t, market, serve.Query{Feed: feed, UpdatedSince: last.UpdatedAt, UpdatedAfter: true}); got[last.ID].Body != nil || len(got) == 0 {
		t.Errorf("%d deals after %s; that instant's own shall not be there", len(got), last.UpdatedAt)
	}
}

func TestAdvanceMovesTheMarketOn(t *testing.T) {
	config := sim.Config{Seed: 24, Deals: 40}
	market := sim.New(config)
	if _, err := market.Advance(-time.Second); err == nil {
		t.Error("time goes back")
	}
	if _, err := market.Advance(30 * time.Hour); err != nil {
		t.Fatal(err)
	}
	now, err := market.Advance(time.Hour)
	if want := epoch.Add(31 * time.Hour); err != nil || !now.Equal(want) || !market.Now().Equal(want) {
		t.Errorf("%s (%v), want %s", now, err, want)
	}
	if _, err := market.Advance(1<<63 - 1); err == nil {
		t.Error("time moves beyond what a clock can hold")
	}
	config.Clock = sim.NewManualClock(now).Now
	if state(market) != state(sim.New(config)) {
		t.Error("a market that was advanced differs from one whose clock stands there")
	}
}

// TestReleaseRestatesHistory checks that with Birthdays a release changes all priced deals at its instant, and that no
// deal has the new member before it.
func TestReleaseRestatesHistory(t *testing.T) {
	release := time.Date(2023, time.September, 12, 6, 0, 0, 0, time.UTC)
	clock := sim.NewManualClock(release.Add(-time.Second))
	market := sim.New(sim.Config{Seed: 25, Deals: 60, Epoch: release.AddDate(0, 0, -1).Truncate(24 * time.Hour), Clock: clock.Now, Birthdays: true})
	count := func() (figis, restated, deals int) {
		for _, feed := range api.Feeds() {
			for _, deal := range market.Deals(feed) {
				if feed.Kind == api.Priced {
					deals++
					if deal.UpdatedAt.Equal(release) {
						restated++
					}
				}
				figis += len(codesIn(deal.Body))
			}
		}
		return figis, restated, deals
	}
	if figis, restated, _ := count(); figis > 0 || restated > 0 {
		t.Errorf("before the release: %d codes, %d deals restated", figis, restated)
	}
	clock.Advance(time.Second)
	if figis, restated, deals := count(); restated != deals || figis < deals/3 {
		t.Errorf("after the release: %d codes, %d of %d deals restated", figis, restated, deals)
	}
}

var figiMember = regexp.MustCompile(`"figiCode":"B`)

func codesIn(body []byte) [][]byte { return figiMember.FindAll(body, -1) }

// TestYearsOfHistory checks that a market with Years has the mix of real markets and the same bytes for the same
// configuration, and that it continues after Epoch.
func TestYearsOfHistory(t *testing.T) {
	config := sim.Config{Seed: 26, Years: 2, Scale: 0.02, Epoch: epoch}
	market := sim.New(config)
	before := state(market)
	if state(sim.New(config)) != before {
		t.Error("equal configurations, other bytes")
	}
	counts := map[api.Market]int{}
	for _, feed := range api.Feeds() {
		if feed.Kind == api.Priced {
			counts[feed.Market] = len(market.Deals(feed))
		}
	}
	order := []api.Market{api.IG, api.LL, api.HY, api.AF}
	if !slices.IsSortedFunc(order, func(a, b api.Market) int { return counts[b] - counts[a] }) || counts[api.AF] == 0 {
		t.Errorf("counts are out of proportion: %v", counts)
	}
	if _, err := market.Advance(10 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if state(market) == before {
		t.Error("nothing happens after the epoch")
	}
}

// TestFewBodiesAtHand checks that Config.CacheBytes changes no byte.
func TestFewBodiesAtHand(t *testing.T) {
	config := sim.Config{Seed: 27, Deals: 60}
	want := state(sim.New(config))
	config.CacheBytes = 1
	if state(sim.New(config)) != want {
		t.Error("a small cache changes the market")
	}
}
