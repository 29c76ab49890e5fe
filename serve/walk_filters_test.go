package serve_test

import (
	"net/url"
	"testing"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// TestCursorsHoldForTheirFilters carries the cursor of a list under one value of each filter to another value, and to none:
// it is refused. Under its own filters it goes on.
func TestCursorsHoldForTheirFilters(t *testing.T) {
	t.Parallel()
	client := start(t, serve.Config{Source: newStand()})
	for _, c := range []struct {
		feed        api.Feed
		name        string
		value, next string // two values, under each of which the list has several deals
	}{
		{setA, "pricingDateFrom", "2018-01-01", "2018-01-02"},
		{setA, "pricingDateTo", "2027-01-01", "2027-01-02"},
		{setA, "updatedSince", "2018-01-01T00:00:00Z", "2018-01-01T00:00:01Z"},
		{setA, "updatedSince", "2018-01-01T00:00:00Z", "2018-01-01T00:00:00.0Z"}, // after the instant, and no longer at it
		{setB, "updatedSince", "2018-01-01T00:00:00Z", "2018-01-01T00:00:01Z"},
		{setC, "changedFrom", "2018-01-01T00:00:00Z", "2018-01-01T00:00:01Z"},
		{setC, "changedTo", "2027-01-01T00:00:00Z", "2027-01-01T00:00:01Z"},
	} {
		for _, values := range [][2]string{{c.value, c.next}, {c.next, c.value}, {c.value, ""}, {"", c.value}} {
			first := c.feed.Path() + "?pageSize=2&" + c.name + "=" + values[0]
			next := client.page(first).Links[api.LinkNext].Href
			u, err := url.Parse(next)
			if err != nil {
				t.Fatal(err)
			}
			seeker := u.Query().Get("seeker")
			if seeker == "" {
				t.Fatalf("%s: no next page", first)
			}
			if status, body := answer(client, first+"&seeker="+seeker); status != 200 {
				t.Errorf("%s, its own cursor: %d %s", first, status, body)
			}
			other := c.feed.Path() + "?pageSize=2&" + c.name + "=" + values[1] + "&seeker=" + seeker
			if status, body := answer(client, other); status != 400 {
				t.Errorf("%s with the cursor of %s=%s: %d %s", other, c.name, values[0], status, body)
			}
		}
	}
}

// TestOneDayBounds takes bounds that are equal: both are inclusive, so they give what lies on them.
func TestOneDayBounds(t *testing.T) {
	t.Parallel()
	client := start(t, serve.Config{Source: newStand()})
	for path, want := range map[string]string{
		setA.Path() + "?pricingDateFrom=2026-01-02&pricingDateTo=2026-01-02":                     "8",
		setA.Path() + "?pricingDateFrom=2026-01-03&pricingDateTo=2026-01-03":                     "",
		setC.Path() + "?changedFrom=2026-01-02T00:00:00Z&changedTo=2026-01-02T00:00:00Z":         "8",
		setC.Path() + "?changedFrom=2026-01-02T00:00:01Z&changedTo=2026-01-02T00:00:01Z":         "",
		setC.Path() + "?changedFrom=2026-01-02T01:00:00%2B01:00&changedTo=2026-01-02T00:00:00Z":  "8",
		setA.Path() + "?pricingDateFrom=2025-01-02&pricingDateTo=2026-01-02&pageSize=2147483647": "8 7",
	} {
		feed := setA
		if path[:len(setC.Path())] == setC.Path() {
			feed = setC
		}
		if got := client.ids(feed, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
