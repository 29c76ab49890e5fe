package catalog_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestBankCounts lets versions and declared names come one after the other, and checks the numbers of banks and leads of
// each version: different names on the day of pricing, of which at least one entry is a lead's.
func TestBankCounts(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	put := func(key, text string) {
		t.Helper()
		if err := w.Store.Put(t.Context(), key, strings.NewReader(text), store.Replace); err != nil {
			t.Fatal(err)
		}
	}
	known := func(ask func(testing.TB, func(*stdsql.DB)), what string, want ...string) {
		t.Helper()
		ask(t, func(db *stdsql.DB) {
			got := world.SortedRows(t, db, `
SELECT 'bond', deal_id, version, banks, lead_banks FROM bond_priced_as_of('infinity')
UNION ALL SELECT 'loan', deal_id, version, banks, lead_banks FROM loan_priced_as_of('infinity')
UNION ALL SELECT 'bond on the first day', deal_id, version, banks, lead_banks FROM bond_priced_as_of((SELECT min(known_at) FROM runs))`)
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], "\t", " ")
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: banks and leads are %q, want %q", what, got, want)
			}
		})
	}
	loans := api.Feed{Service: api.Loan, Market: "LL", Kind: api.Priced}
	b.Write(world.Priced, 1, `"pricingDate":"2026-01-02","banks":[{"name":"Aspen Securities","status":"Bookrunner"},
		{"name":"ASPEN  SECURITIES","status":"Co-manager"},{"name":"Birch","status":"Co-manager"},{"name":"Cedar","status":"Joint Lead Manager"}]`)
	b.Write(loans, 7, `"pricedDate":"2026-01-02","tranches":[
		{"name":"A","banks":[{"name":"Aspen Securities","type":{"bookrunner":false}},{"name":"Cedar","type":{"bookrunner":true}}]},
		{"name":"B","banks":[{"name":"cedar","type":{"bookrunner":false}},{"name":"Birch","type":{"mla":true}}]}]`)
	w.Night(t, 0)
	known(w.Published, "without aliases", "bond 1 1 3 2", "bond on the first day 1 1 3 2", "loan 7 1 3 2")

	put(lake.BankAliasesKey, "alias,canonical,valid_from\nBirch,Aspen Securities,\nCedar,Aspen Securities,2026-01-10\n")
	known(w.Ask, "with aliases, before a run", "bond 1 1 2 2", "bond on the first day 1 1 2 2", "loan 7 1 2 2")

	b.Write(world.Priced, 1, `"pricingDate":"2026-01-02","banks":[{"name":"Cedar","status":"Co-manager"}]`)
	b.Write(world.Priced, 2, `"pricingDate":"2026-01-12","banks":[{"name":"Cedar","status":"Co-manager"},{"name":"Aspen Securities","status":"Bookrunner"}]`)
	b.Write(world.Priced, 3, `"pricingDate":"2026-01-12"`)
	w.Night(t, 1)
	known(w.Published, "with new versions", "bond 1 2 1 0", "bond 2 1 1 1", "bond 3 1 0 0", "bond on the first day 1 1 2 2", "loan 7 1 2 2")

	put(lake.RolesKey, "role,lead\nCo-manager,true\nBookrunner,false\n")
	w.Night(t, 2)
	known(w.Published, "with roles", "bond 1 2 1 1", "bond 2 1 1 1", "bond 3 1 0 0", "bond on the first day 1 1 2 2", "loan 7 1 2 2")
}

// TestListings lets a second market list a security, and change its amount a day later. It is a duplicate between the two,
// as of any instant.
func TestListings(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	high := api.Feed{Service: api.Bond, Market: "HY", Kind: api.Priced}
	const security = `"isinCode":"XS0000000017","pricingDate":"2026-01-02","dealType":"ORIGINAL","nominal":{"amount":`
	b.Write(world.Priced, 1, security+`500000000}`)
	w.Night(t, 0)
	b.Write(high, 1, security+`500000000}`)
	b.Write(high, 2, security+`500000001}`)
	w.Night(t, 1)
	b.Write(high, 1, security+`750000000}`)
	w.Night(t, 2)
	want := [][]string{
		{"IG 1 -"},
		{"HY 1 IG", "HY 2 -", "IG 1 -"}, // IG comes first in precedence
		{"HY 1 -", "HY 2 -", "IG 1 -"},
	}
	w.Published(t, func(db *stdsql.DB) {
		for i, commit := range w.Log(t).Commits {
			got := world.SortedRows(t, db, `SELECT market || ' ' || deal_id || ' ' || coalesce(duplicate_of, '-') FROM bond_priced_as_of('`+commit.KnownAt.String()+`')`)
			if !slices.Equal(got, want[i]) {
				t.Errorf("as of commit %d: %q, want %q", commit.Number, got, want[i])
			}
		}
	})
}

// TestRunsOfTheCatalog compares the views of the feeds of runs and of checks with what the commits say, of a run with a feed that is held and of
// a sync, at instants with microseconds.
func TestRunsOfTheCatalog(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	loans := api.Feed{Service: api.Loan, Market: "LL", Kind: api.Priced}
	b.Write(world.Priced, 1, "")
	b.WriteAll(loans, 1, 60, "")
	w.Night(t, 0)
	for id := range int64(60) {
		b.Strike(loans, id+1) // the removal guard holds the feed
	}
	w.Clock.Set(world.Epoch.AddDate(0, 0, 1).Add(22*time.Hour + 123_457*time.Microsecond))
	w.Interfere(func(http.ResponseWriter, *http.Request) bool {
		w.Clock.Advance(1_007 * time.Microsecond) // a feed takes some time
		return false
	})
	if _, err := w.Run(t); !errors.Is(err, pull.ErrFeedsHeld) {
		t.Fatalf("got %v, want pull.ErrFeedsHeld", err)
	}
	w.Clock.Advance(time.Hour + 1_000_003*time.Microsecond)
	b.Write(world.Priced, 1, `"message":"changed"`)
	w.MustSync(t)
	var feeds, checks []string
	for _, c := range w.Log(t).Commits {
		for _, f := range c.Feeds {
			feeds = append(feeds, fmt.Sprint(c.RunID, " ", f.Feed, " ", f.Feed.Service, f.Feed.Market, f.Feed.Kind, " ", f.Outcome, " ", f.StartedAt.UnixMicro(), " ",
				f.FinishedAt.UnixMicro(), " ", f.Deals, f.Changed, f.Requests, f.Bytes, " ", f.BaseURL, " ", f.Error))
		}
		for _, k := range c.Checks {
			checks = append(checks, fmt.Sprint(c.RunID, " ", c.Number, " ", c.KnownAt.UnixMicro(), " ", k.Name, " ", k.Severity, " ", k.Outcome, " ", k.Count, " ", k.Detail))
		}
	}
	slices.Sort(feeds)
	slices.Sort(checks)
	w.Published(t, func(db *stdsql.DB) {
		for question, want := range map[string][]string{
			`SELECT concat(run_id, ' ', feed, ' ', service, market, kind, ' ', outcome, ' ', epoch_us(started_at), ' ', epoch_us(finished_at), ' ',
			   deals, ' ', changed, ' ', requests, ' ', bytes, ' ', base_url, ' ', error) FROM feed_runs`: feeds,
			`SELECT concat(run_id, ' ', "commit", ' ', epoch_us(known_at), ' ', name, ' ', severity, ' ', outcome, ' ', count, ' ', detail) FROM checks`: checks,
		} {
			if got := world.SortedRows(t, db, question); !slices.Equal(got, want) || len(got) < 20 {
				t.Errorf("got %q\nwant %q", got, want)
			}
		}
	})
}
