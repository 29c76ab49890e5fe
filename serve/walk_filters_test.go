package serve_test

import (
	"net/url"
	"testing"

	"dealflow/schemas/api"
	"dealflow/serve"
)

// TestCursorsHoldForTheirFilters uses the cursor of a list under one value of each filter with another value, and with
// none: both are refused. With its own filters the cursor continues the walk.
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
		{setA, "updatedSince", "2018-01-01T00:00:00Z", "2018-01-01T00:00:00.0Z"}, // the fraction makes it exclusive
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
