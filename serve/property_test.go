package serve_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// TestUpdatedSinceIsExact follows saved links of random deals, with random page sizes, after random times. The list of
// a link must contain every deal that was updated since, and no deal that was updated before the link's second.
//
// TEST_LINKS is the number of markets; the default is 6.
func TestUpdatedSinceIsExact(t *testing.T) {
	testkit.Seeds(t, testkit.Count(t, "TEST_LINKS", 6), func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 7))
		quirks := sim.DefaultQuirks()
		quirks.ListOmission = 0 // a list may leave an omitted deal out
		client, source, clock := market(t, sim.Config{Seed: seed, Deals: 8 + r.IntN(30), PerDay: 4 + r.Float64()*20, Quirks: &quirks})
		clock.Advance(time.Duration(r.Int64N(int64(60 * time.Hour))))
		for _, feed := range api.Feeds() {
			if !feed.HasUpdatedSince() {
				continue
			}
			link, at := savedLink(client, source, feed, r)
			if link == "" {
				continue
			}
			clock.Advance(time.Duration(r.Int64N(int64(30 * time.Hour))))
			checkUpdatedSince(t, client, source, feed, fmt.Sprintf("%s&pageSize=%d", link, 1+r.IntN(20)), at.Truncate(time.Second))
		}
	})
}

// savedLink returns the updatedSince link of a random deal, and the instant of the deal's last update.
func savedLink(client *client, source *sim.Market, feed api.Feed, r *rand.Rand) (string, time.Time) {
	deals := client.deals(feed, client.page(feed.Path()+"?pageSize=1000"))
	updated := map[int64]time.Time{}
	for _, deal := range source.Deals(feed) {
		updated[deal.ID] = deal.UpdatedAt
	}
	for _, i := range r.Perm(len(deals)) {
		if deals[i].updatedSince != "" {
			return deals[i].updatedSince, updated[deals[i].id]
		}
	}
	return "", time.Time{}
}

func checkUpdatedSince(t *testing.T, client *client, source *sim.Market, feed api.Feed, path string, since time.Time) {
	t.Helper()
	got := map[int64]bool{}
	for next := path; next != ""; {
		page := client.page(next)
		for _, deal := range client.deals(feed, page) {
			if got[deal.id] {
				t.Errorf("%s: %d stands twice", path, deal.id)
			}
			got[deal.id] = true
		}
		next = page.Links[api.LinkNext].Href
	}
	truth := map[int64]serve.Record{}
	for _, deal := range source.Deals(feed) {
		truth[deal.ID] = deal
		if newer := !deal.UpdatedAt.Before(since); newer != got[deal.ID] {
			t.Errorf("%s: %d, updated %s: in the list %t", path, deal.ID, deal.UpdatedAt, got[deal.ID])
		}
	}
	for id := range got {
		if _, there := truth[id]; !there {
			t.Errorf("%s: %d is no deal", path, id)
		}
	}
}
