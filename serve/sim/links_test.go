package sim_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim"
)

// expectedLinks has what an expected deal, bond or loan, says of its pricing.
type expectedLinks struct {
	Stage    string `json:"stage"`
	Links    links  `json:"_links"`
	Embedded struct {
		Tranches []struct {
			Status string `json:"status"`
			Links  links  `json:"_links"`
		} `json:"tranches"`
	} `json:"_embedded"`
}

type links struct {
	PricedDeal struct {
		Href string `json:"href"`
	} `json:"pricedDeal"`
}

// TestPricedDealLinks looks at two days of markets every five minutes. By the API's document, a tranche that is priced
// carries a link that matches the self link of a priced deal. In the default market that holds at every instant; each of
// three quirks breaks it.
func TestPricedDealLinks(t *testing.T) {
	for name, want := range map[string]struct{ lost, unlinked bool }{
		"usual":                  {},
		"usual,removed,reappear": {},
		"late-record":            {lost: true},
		"dangling=0.5":           {lost: true},
		"late-link=0.5":          {unlinked: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quirks, err := sim.ParseQuirks(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(name, "reappear") {
				quirks.Removal, quirks.Reappear = 40, 1 // so that a record is removed on the day of its pricing
			}
			clock := sim.NewManualClock(epoch.Add(6 * time.Hour))
			market := sim.New(sim.Config{Seed: 12, Deals: 10, Expected: 20, PerDay: 8, Epoch: epoch, Clock: clock.Now, Quirks: &quirks})
			linked, lost, unlinked := 0, 0, 0
			for range 2 * 24 * 60 / 5 {
				clock.Advance(5 * time.Minute)
				l, m, u := countLinks(t, market)
				linked, lost, unlinked = linked+l, lost+m, unlinked+u
			}
			if linked == 0 {
				t.Fatal("no deal priced")
			}
			if lost > 0 != want.lost {
				t.Errorf("%d of %d links lead to no deal", lost, linked)
			}
			if quirks.Removal <= 1 && unlinked > 0 != want.unlinked {
				t.Errorf("%d priced tranches have no link", unlinked)
			}
		})
	}
}

// countLinks counts the links to priced deals, those that lead to no deal, and the priced tranches without a link.
func countLinks(t *testing.T, market *sim.Market) (linked, lost, unlinked int) {
	self := map[string]bool{}
	for _, feed := range api.Feeds() {
		if feed.Kind == api.Priced {
			for _, deal := range market.Deals(feed) {
				self[feed.DealPath(deal.ID)] = true
			}
		}
	}
	for _, feed := range api.Feeds() {
		if feed.Kind == api.Priced {
			continue
		}
		for _, deal := range market.Deals(feed) {
			var record expectedLinks
			if err := json.Unmarshal(deal.Body, &record); err != nil {
				t.Fatal(err)
			}
			count := func(href string, priced bool) {
				switch {
				case href == "" && priced:
					unlinked++
				case href != "":
					linked++
					if !self[href] {
						lost++
					}
				}
			}
			count(record.Links.PricedDeal.Href, record.Stage == "Priced")
			for _, tranche := range record.Embedded.Tranches {
				count(tranche.Links.PricedDeal.Href, tranche.Status == "PRICED" || tranche.Status == "INCREASED")
			}
		}
	}
	return linked, lost, unlinked
}
