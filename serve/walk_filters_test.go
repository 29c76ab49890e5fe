package serve_test

import (
	"context"
	"net/url"
	"strings"
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
			list := func(value string) string {
				if value == "" {
					return c.feed.Path() + "?pageSize=2"
				}
				return c.feed.Path() + "?pageSize=2&" + c.name + "=" + value
			}
			first := list(values[0])
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
			other := list(values[1]) + "&seeker=" + seeker
			if status, body := answer(client, other); status != 400 {
				t.Errorf("%s with the cursor of %s=%s: %d %s", other, c.name, values[0], status, body)
			}
		}
	}
}

// TestOneDayBounds queries with two equal bounds: both are inclusive, so the answer has the deals of that day.
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

// TestDefaultPageSize gives pages of the size that the server was set to where the client wishes none.
func TestDefaultPageSize(t *testing.T) {
	t.Parallel()
	client := start(t, serve.Config{Source: newStand(), DefaultPageSize: 3, MaxPageSize: 5})
	for query, want := range map[string]int{"": 3, "?pageSize=1": 1, "?pageSize=5": 5, "?pageSize=6": 5} {
		if got := len(client.deals(setA, client.page(setA.Path()+query))); got != want {
			t.Errorf("%q: %d deals, want %d", query, got, want)
		}
	}
}

// forgetful is a source that returns a state to continue from, and no longer has it when it is asked for.
type forgetful struct{ *stand }

func (f forgetful) List(ctx context.Context, q serve.Query) (serve.Page, error) {
	if q.State != "" {
		return serve.Page{}, serve.ErrNotFound
	}
	page, err := f.stand.List(ctx, q)
	page.State = "then"
	return page, err
}

// TestForgottenWalk answers 400 to a cursor whose walk cannot go on: the client begins again.
func TestForgottenWalk(t *testing.T) {
	t.Parallel()
	client := start(t, serve.Config{Source: forgetful{newStand()}})
	next := client.page(setA.Path() + "?pageSize=2").Links[api.LinkNext].Href
	status, header, body := client.get(next)
	wantError(t, next, 400, status, header, body)
	if !strings.Contains(string(body), "start again") {
		t.Errorf("%s does not say what to do", body)
	}
}
