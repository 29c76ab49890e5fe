package serve_test

import (
	"net/url"
	"strings"
	"testing"

	"dealflow/schemas/api"
	"dealflow/serve"
)

var (
	setA = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}
	setB = api.Feed{Service: api.Loan, Market: api.CF, Kind: api.Expected}
	setC = api.Feed{Service: api.Bond, Market: api.EM, Kind: api.Expected}
)

func TestFilters(t *testing.T) {
	client := start(t, serve.Config{Source: newStand()})
	for _, test := range []struct {
		feed  api.Feed
		query string
		want  string
	}{
		{setA, "", "8 7 6 5 4 3 2 1"},
		{setA, "updatedSince=2023-01-02T00:00:00Z", "8 7 6 5"},
		{setA, "updatedSince=2023-01-02T00:00:00.000000Z", "8 7 6"},
		{setA, "updatedSince=2023-01-02T01:00:00%2B01:00", "8 7 6 5"},
		{setA, "pricingDateFrom=2025-01-01", "8 7"},
		{setA, "pricingDateTo=2022-01-02", "3 2 1"}, // 4 has no date
		{setA, "pricingDateFrom=2020-01-02&pricingDateTo=2023-01-02", "5 3 2"},
		{setA, "pricingDateFrom=2020-01-02&pricingDateTo=2023-01-02&updatedSince=2021-01-01T00:00:00Z", "5 3"},
		{setA, "pricingDateFrom=2030-01-01", ""},
		{setA, "changedFrom=2030-01-01T00:00:00Z", "8 7 6 5 4 3 2 1"}, // a parameter of another feed: ignored here
		{setA, "somethingElse=1&PricingDateFrom=2030-01-01", "8 7 6 5 4 3 2 1"},
		{setB, "updatedSince=2024-01-02T00:00:00Z", "8 7 6"},
		{setB, "pricingDateFrom=2030-01-01", "8 7 6 5 4 3 2 1"},
		{setC, "changedFrom=2024-01-02T00:00:00Z", "8 7 6"},
		{setC, "changedTo=2024-01-02T00:00:00Z", "6 5 4 3 2 1"},
		{setC, "changedFrom=2020-01-02T00:00:00Z&changedTo=2022-06-01T00:00:00.5Z", "4 3 2"},
		{setC, "changedTo=0001-01-01T00:00:00Z", ""},
		{setC, "updatedSince=2030-01-01T00:00:00Z", "8 7 6 5 4 3 2 1"},
	} {
		for _, size := range []string{"", "pageSize=1&", "pageSize=3&"} {
			if got := client.ids(test.feed, test.feed.Path()+"?"+size+test.query); got != test.want {
				t.Errorf("%s?%s%s: %q, want %q", test.feed, size, test.query, got, test.want)
			}
		}
	}
}

func TestBadParameters(t *testing.T) {
	client := start(t, serve.Config{Source: newStand()})
	for feed, queries := range map[api.Feed][]string{
		setA: {
			"pageSize=-1", "pageSize=1.5", "pageSize=1e2", "pageSize=%20", "pageSize=1&pageSize=2", "pageSize=99999999999999999999", "pageSize=%2B5",
			"updatedSince=2026-01-01", "updatedSince=2026-01-01T00:00:00", "updatedSince=2026-01-01T00:00:00+01:00", "updatedSince=2026-13-01T00:00:00Z",
			"updatedSince=2026-01-01T00:00:00,5Z", "updatedSince=2026-01-01T2:00:00Z", "pricingDateFrom=2026-1-1", "pricingDateFrom=2026-02-30", "pricingDateTo=today",
			"pricingDateTo=2026-01-01T00:00:00Z", "pricingDateFrom=2026-01-02&pricingDateTo=2026-01-01", "seeker=", "seeker=x", "a=%zz", "a;b=1",
			"pageSize=", "pricingDateTo=", "pricingDateFrom", "updatedSince=",
		},
		setB: {"updatedSince=now", "seeker=AAAA"},
		setC: {"changedFrom=2026-01-01", "changedTo=x", "changedFrom=2026-01-02T00:00:00Z&changedTo=2026-01-01T00:00:00Z"},
	} {
		for _, query := range queries {
			status, header, body := client.get(feed.Path() + "?" + query)
			wantError(t, feed.String()+"?"+query, 400, status, header, body)
		}
	}
}

func TestLinksCarryTheFilters(t *testing.T) {
	client := start(t, serve.Config{Source: newStand()})
	page := client.page(setA.Path() + "?pricingDateTo=2026-01-01&pageSize=2&updatedSince=2019-01-01T00:00:00Z&pricingDateFrom=2018-01-01&other=1")
	want := client.base + setA.Path() + "?pageSize=2&pricingDateFrom=2018-01-01&pricingDateTo=2026-01-01&updatedSince=2019-01-01T00%3A00%3A00Z"
	if got := page.Links[api.LinkFirst].Href; got != want {
		t.Errorf("first: %s, want %s", got, want)
	}
	next := page.Links[api.LinkNext].Href
	if got := client.page(next).Links[api.LinkFirst].Href; got != want {
		t.Errorf("first of the second page: %s, want %s", got, want)
	}
}

func TestCursorsHoldForTheirWalkAlone(t *testing.T) {
	key := []byte(strings.Repeat("k", serve.MinSigningKey))
	config := serve.Config{Source: newStand(), SigningKeys: [][]byte{key}}
	client, replica := start(t, config), start(t, config)
	const filter = "&pricingDateFrom=2018-01-01"
	next := client.page(setA.Path() + "?pageSize=2" + filter).Links[api.LinkNext].Href
	u, err := url.Parse(next)
	if err != nil {
		t.Fatal(err)
	}
	seeker := u.Query().Get("seeker")

	if got := replica.ids(setA, setA.Path()+"?pageSize=3&seeker="+seeker+filter); got != "6 5 3 2 1" {
		t.Errorf("another server, another page size: %q", got)
	}
	trial := *client
	trial.token = client.newToken("trial", "trial")
	stranger := start(t, serve.Config{Source: newStand()})
	for name, ask := range map[string]func() (int, string){
		"other filters": func() (int, string) { return answer(client, setA.Path()+"?seeker="+seeker) },
		"another value": func() (int, string) {
			return answer(client, setA.Path()+"?pricingDateFrom=2018-01-02&seeker="+seeker)
		},
		"another list": func() (int, string) {
			return answer(client, "/v3/bond/hy/priced-deal?seeker="+seeker+filter)
		},
		"another account": func() (int, string) { return answer(&trial, setA.Path()+"?seeker="+seeker+filter) },
		"another key":     func() (int, string) { return answer(stranger, setA.Path()+"?seeker="+seeker+filter) },
		"a token":         func() (int, string) { return answer(client, setA.Path()+"?seeker="+client.token+filter) },
	} {
		if status, body := ask(); status != 400 {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

func answer(c *client, path string) (int, string) {
	status, _, body := c.get(path)
	return status, string(body)
}
