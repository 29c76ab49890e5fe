package serve_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// TestWalkOverAMovingList walks all lists while the market changes between any two pages. No page may fail, no cursor
// may repeat, and every deal that was in the list unchanged from the first to the last page must be seen once.
func TestWalkOverAMovingList(t *testing.T) {
	quirks := sim.DefaultQuirks()
	quirks.ListOmission = 0 // a list may leave an omitted deal out
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			client, source, clock := market(t, sim.Config{Seed: seed, Deals: 40, PerDay: 15, Quirks: &quirks})
			r := rand.New(rand.NewPCG(seed, 1))
			moved := 0
			for _, feed := range api.Feeds() {
				clock.Advance(time.Duration(8+r.IntN(6)) * time.Hour)
				before := source.Deals(feed)
				seen := map[int64]int{}
				next := fmt.Sprintf("%s?pageSize=%d", feed.Path(), 1+r.IntN(12))
				followed := map[string]bool{}
				for next != "" {
					if followed[next] {
						t.Fatalf("%s: the link %s came twice", feed, next)
					}
					followed[next] = true
					page := client.page(next)
					for _, deal := range client.deals(feed, page) {
						seen[deal.id]++
					}
					next = page.Links[api.LinkNext].Href
					clock.Advance(time.Duration(r.IntN(900)) * time.Second)
				}
				after := map[int64]serve.Record{}
				for _, deal := range source.Deals(feed) {
					after[deal.ID] = deal
				}
				for _, deal := range before {
					still, there := after[deal.ID]
					unchanged := there && still.UpdatedAt.Equal(deal.UpdatedAt)
					if !unchanged {
						moved++
					}
					if unchanged && seen[deal.ID] != 1 {
						t.Errorf("%s %d did not change and was seen %d times", feed, deal.ID, seen[deal.ID])
					}
				}
			}
			if moved == 0 {
				t.Error("nothing moved: the walk proves nothing")
			}
		})
	}
}

// TestUpdatedSinceFindsAllChanges keeps a copy of each list: first by one walk, then each time by the saved
// updatedSince link.
func TestUpdatedSinceFindsAllChanges(t *testing.T) {
	client, source, clock := market(t, sim.Config{Seed: 9, Deals: 30, PerDay: 10})
	for _, feed := range api.Feeds() {
		if !feed.HasUpdatedSince() {
			continue
		}
		copied, since := map[int64]string{}, ""
		next := feed.Path() + "?pageSize=7"
		for range 12 {
			first := true
			for next != "" {
				page := client.page(next)
				for _, deal := range client.deals(feed, page) {
					copied[deal.id] = deal.body
					if first && deal.updatedSince != "" {
						since, first = deal.updatedSince, false
					}
				}
				next = page.Links[api.LinkNext].Href
			}
			for _, deal := range source.Deals(feed) {
				if copied[deal.ID] != string(deal.Body) {
					t.Fatalf("%s %d at %s: the copy has\n%s\nthe market has\n%s", feed, deal.ID, clock.Now(), copied[deal.ID], deal.Body)
				}
			}
			next = since
			clock.Advance(7 * time.Hour)
		}
	}
}

func TestListsAreNewestFirstAndAgreeWithGet(t *testing.T) {
	client, source, clock := market(t, sim.Config{Seed: 10, Deals: 30})
	clock.Advance(40 * time.Hour)
	for _, feed := range api.Feeds() {
		truth := map[int64]serve.Record{}
		for _, deal := range source.Deals(feed) {
			truth[deal.ID] = deal
		}
		var last *serve.Record
		for _, deal := range client.deals(feed, client.page(feed.Path()+"?pageSize=1000")) {
			record := truth[deal.id]
			if string(record.Body) != deal.body {
				t.Errorf("%s %d: list and market differ", feed, deal.id)
			}
			if last != nil && !precedes(feed, *last, record) {
				t.Errorf("%s: %d (%s) after %d (%s)", feed, record.ID, record.UpdatedAt, last.ID, last.UpdatedAt)
			}
			last = &record
		}
		for id, record := range truth { // also those that the list omits
			status, _, body := client.get(feed.DealPath(id))
			if status != 200 || len(body) < len(record.Body) {
				t.Errorf("%s: %d %s", feed.DealPath(id), status, body)
			}
		}
	}
}

func precedes(feed api.Feed, a, b serve.Record) bool {
	if !feed.HasUpdatedSince() || a.UpdatedAt.Equal(b.UpdatedAt) {
		return a.ID > b.ID
	}
	return a.UpdatedAt.After(b.UpdatedAt)
}
