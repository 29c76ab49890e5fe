package serve_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// TestTrialWindowEdges asks for deals priced around the first day of a Free Trial account's two years: that day is
// inside, the day before is not, by list and by id (docs/reference/api-choices.md). Today is the market's, in UTC.
func TestTrialWindowEdges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		now           string
		within        []string // pricing dates that are seen
		out           []string // pricing dates that are not
		filter, found string   // a filter of the list, and the pricing dates that it then gives, newest first
	}{
		"the first instant of a day": {
			now: "2026-03-02T00:00:00Z", within: []string{"2024-03-02", "2024-03-03", "2026-03-02", "2026-03-09"}, out: []string{"2024-03-01", "2024-02-29", "2014-03-02", ""},
			filter: "pricingDateTo=2024-03-02", found: "2024-03-02",
		},
		"the last instant of a day": {
			now: "2026-03-02T23:59:59.999999999Z", within: []string{"2024-03-02"}, out: []string{"2024-03-01"},
			filter: "pricingDateTo=2024-03-01", found: "",
		},
		"the day is UTC's, west of it": {
			now: "2026-03-01T20:00:00-05:00", within: []string{"2024-03-02"}, out: []string{"2024-03-01"},
			filter: "pricingDateFrom=2020-01-01", found: "2024-03-02",
		},
		"the day is UTC's, east of it": {
			now: "2026-03-02T08:00:00+09:00", within: []string{"2024-03-01", "2024-03-02"}, out: []string{"2024-02-29"},
			filter: "pricingDateFrom=2024-03-02", found: "2024-03-02",
		},
		"a leap day is within": {
			now: "2026-02-28T12:00:00Z", within: []string{"2024-02-28", "2024-02-29"}, out: []string{"2024-02-27"},
			filter: "pricingDateFrom=2024-02-27&pricingDateTo=2024-02-28", found: "2024-02-28",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now, err := time.Parse(time.RFC3339Nano, c.now)
			if err != nil {
				t.Fatal(err)
			}
			source := newStand()
			source.now = now
			dates := append(append([]string{}, c.within...), c.out...)
			for _, feed := range api.Feeds() {
				source.deals[feed] = nil
				for i, date := range dates {
					id := int64(i + 1)
					body := fmt.Sprintf(`{"%s":%d,"_links":{"self":{"href":"%s"}}}`, feed.IDKey(), id, feed.DealPath(id))
					source.deals[feed] = append(source.deals[feed], standing{serve.Record{ID: id, UpdatedAt: epoch, PricingDate: date, Body: []byte(body)}, epoch})
				}
			}
			trial := start(t, serve.Config{Source: source, Accounts: []serve.Account{
				{ClientID: "demo", Secret: "demo", Type: serve.FreeTrial}, {ClientID: "vip", Secret: "vip", Type: serve.VIP},
			}})
			vip := *trial
			vip.token = trial.newToken("vip", "vip")
			seen := func(path string) string {
				ids := strings.Fields(trial.ids(setA, path))
				var found []string
				for i, date := range dates {
					for _, id := range ids {
						if id == fmt.Sprint(i+1) {
							found = append(found, date)
						}
					}
				}
				return strings.Join(found, " ")
			}
			if got, want := seen(setA.Path()), strings.Join(c.within, " "); got != want {
				t.Errorf("the list has %q, want %q", got, want)
			}
			if got := seen(setA.Path() + "?" + c.filter); got != c.found {
				t.Errorf("?%s has %q, want %q", c.filter, got, c.found)
			}
			for _, feed := range api.Feeds() {
				for i, date := range dates {
					path := feed.DealPath(int64(i + 1))
					want := http.StatusOK
					if feed.Kind == api.Priced && i >= len(c.within) {
						want = http.StatusForbidden
					}
					if status, _, body := trial.get(path); status != want {
						t.Errorf("%s, priced on %q: %d %s, want %d", path, date, status, body, want)
					}
					if status, _, _ := vip.get(path); status != http.StatusOK {
						t.Errorf("%s, priced on %q: %d to a VIP account", path, date, status)
					}
				}
			}
		})
	}
}

// TestTrialSeesUndatedLoans serves a market of which no loan has a pricedDate: a Free Trial account sees a loan whose
// newest tranche priced within its two years, in the list and by id.
func TestTrialSeesUndatedLoans(t *testing.T) {
	t.Parallel()
	quirks, err := sim.ParseQuirks("undated=1")
	if err != nil {
		t.Fatal(err)
	}
	client, source, _ := market(t, sim.Config{Seed: 6, Deals: 40, Quirks: &quirks})
	trial := *client
	trial.token = client.newToken("trial", "trial")
	first := source.Now().AddDate(-2, 0, 0).Format(time.DateOnly)
	feed := api.Feed{Service: api.Loan, Market: api.LL, Kind: api.Priced}
	listed := map[string]bool{}
	for _, id := range strings.Fields(trial.ids(feed, feed.Path()+"?pageSize=1000")) {
		listed[id] = true
	}
	within := 0
	asked := map[bool]bool{}
	for _, deal := range source.Deals(feed) {
		if strings.Contains(string(deal.Body), "pricedDate") {
			t.Fatalf("%d has a pricedDate: %s", deal.ID, deal.Body)
		}
		newest := ""
		for _, date := range regexp.MustCompile(`"pricingDate":"([^"]*)"`).FindAllStringSubmatch(string(deal.Body), -1) {
			newest = max(newest, date[1])
		}
		want, status := newest >= first, http.StatusForbidden
		if want {
			within, status = within+1, http.StatusOK
		}
		if listed[fmt.Sprint(deal.ID)] != want {
			t.Errorf("%d, priced on %s: listed %t, want %t", deal.ID, newest, !want, want)
		}
		if asked[want] {
			continue // the rate of the account is low
		}
		asked[want] = true
		if got, _, body := trial.get(feed.DealPath(deal.ID)); got != status {
			t.Errorf("%d, priced on %s: %d %s, want %d", deal.ID, newest, got, body, status)
		}
	}
	if within == 0 || len(asked) != 2 {
		t.Errorf("%d of the loans are within the two years: the market proves nothing", within)
	}
}
