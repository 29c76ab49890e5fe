package analyses_test

import (
	stdsql "database/sql"
	"fmt"
	"strings"
	"testing"

	"dealflow/internal/testkit/world"
	"dealflow/schemas/api"
	"dealflow/sql/explorer"
)

// TestLinks asks about small deals whose links and tranches are easily taken for others. The answers are from the definitions.
func TestLinks(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	ig, hy, em := feed(api.Bond, api.IG, api.Priced), feed(api.Bond, api.HY, api.Priced), feed(api.Bond, api.EM, api.Priced)
	ll, cf, launched := feed(api.Loan, api.LL, api.Priced), feed(api.Loan, api.CF, api.Priced), feed(api.Loan, api.LL, api.Expected)
	link := func(name, href string) string { return fmt.Sprintf(`,"_links":{%q:{"href":%q}}`, name, href) }
	bond := func(f api.Feed, id int64, day, dealType string, nominal int, more string) {
		b.WriteBody(f, id, fmt.Sprintf(`{"dealId":%d,"market":%q,"pricingDate":%q,"dealType":%q,"nominal":{"amount":%d,"converted":{"usd":%d}}%s}`, id, f.Market, day, dealType, nominal, nominal%1000, more))
	}
	const day = "2026-01-05"
	// A link to another market, where the own market has a deal with the same id.
	bond(ig, 7, day, "ORIGINAL", 200, "")
	bond(em, 7, day, "ORIGINAL", 100, "")
	bond(em, 9, day, "INCREASE", 50, link("original", ig.DealPath(7)))
	bond(em, 10, day, "INCREASE", 60, link("original", "https://elsewhere.test/x/7"))
	// An original that another market keeps.
	bond(ig, 205, "2025-06-02", "ORIGINAL", 201, `,"isinCode":"ZZ1"`)
	bond(em, 199, "2025-06-02", "ORIGINAL", 201, `,"isinCode":"ZZ1"`)
	bond(em, 484, day, "INCREASE", 85, `,"total":{"nominal":{"amount":286}}`+link("original", em.DealPath(199)))
	// A circle, and a deal that leads to it.
	bond(hy, 127, day, "INCREASE", 1, link("original", hy.DealPath(281)))
	bond(hy, 281, day, "INCREASE", 2, link("original", hy.DealPath(127)))
	bond(hy, 278, day, "INCREASE", 4, link("original", hy.DealPath(127)))
	// Nothing converted; and increases 364 and 365 days before the latest run.
	bond(hy, 1, "2020-01-06", "ORIGINAL", 1000, "")
	bond(hy, 2, "2025-01-08", "INCREASE", 1000, link("original", hy.DealPath(1)))
	bond(hy, 3, "2025-01-07", "INCREASE", 1000, link("original", hy.DealPath(1)))
	// A range that is the last talk, and a premium with one bound.
	bond(hy, 50, day, "ORIGINAL", 5, `,"yield":"7.5%","priceEvolution":[{"date":"2026-01-05T09:00:00Z","value":"7.75-8%"}]`)
	bond(em, 50, day, "ORIGINAL", 5, `,"nip":"5","premium":{"nip":"<5bp"}`)

	loan := func(f api.Feed, id int64, tranches, links string) {
		b.WriteBody(f, id, fmt.Sprintf(`{"dealId":%d,"market":%q,"pricedDate":"2026-01-06","created":"2026-01-05T08:00:00Z","changed":"2026-01-05T08:00:00Z","tranches":[%s]%s}`, id, f.Market, tranches, links))
	}
	const usd, eur = `{"name":"TLB","currency":"USD","margin":"S+350","volume":"USD500m"}`, `{"name":"TLB","currency":"EUR","margin":"E+400","volume":"EUR300m"}`
	loan(launched, 2, usd+","+eur, "")
	loan(launched, 50, usd, link("pricedDeal", cf.DealPath(3)))
	loan(launched, 51, usd, "")
	loan(ll, 3, `{"id":1,"name":"TLB","currency":"USD","margin":"S+300"}`, "")
	loan(cf, 3, `{"id":1,"name":"TLB","currency":"USD","margin":"S+300"}`, "")
	w.Evening(0)
	if _, err := w.Run(t, world.Quiet); err != nil {
		t.Fatal(err)
	}
	loan(launched, 2, eur+","+usd, link("pricedDeal", ll.DealPath(2)))
	loan(ll, 2, `{"id":1,"name":"TLB","currency":"USD","margin":"S+325"},{"id":2,"name":"TLB","currency":"EUR","margin":"E+375"}`, "")
	loan(launched, 51, usd, link("pricedDeal", cf.DealPath(3)))
	w.Evening(1)
	if _, err := w.Run(t, world.Quiet); err != nil {
		t.Fatal(err)
	}
	b.Strike(launched, 51)
	w.Evening(2)
	if _, err := w.Run(t, world.Quiet); err != nil {
		t.Fatal(err)
	}
	w.Ask(t, func(db *stdsql.DB) {
		for _, test := range []struct {
			query string
			want  []string
		}{
			{
				"SELECT market, root_deal_id, original_known, increases, original_nominal, line_size, mismatch, line_size_usd::INTEGER, unconverted, taps_12m FROM tap_family ORDER BY market, root_deal_id",
				[]string{
					"EM 7 true 0 100 100 - 100 0 0", "EM 10 false 1 - 60 - 60 0 1", "EM 50 true 0 5 5 - 5 0 0",
					"HY 1 true 2 1000 3000 - - 3 1", "HY 50 true 0 5 5 - 5 0 0", "HY 127 false 3 - 7 - 7 0 3",
					"IG 7 true 1 200 250 - 250 0 1", "IG 205 true 1 201 286 0 286 0 1",
				},
			},
			{"SELECT market, sum(lines) FROM maturity_wall WHERE service = 'bond' GROUP BY market ORDER BY market", []string{"EM 3", "HY 3", "IG 2"}},
			{"SELECT DISTINCT deal_id FROM deal_timeline('bond', 'EM', 'priced', 7)", []string{"7"}},
			{"SELECT market, value, total, example FROM data_quality WHERE name = 'dangling_original' ORDER BY market", []string{"EM 1 3 10", "HY 0 5 -"}},
			{"SELECT market, value, total FROM data_quality WHERE name = 'dangling_priced_deal'", []string{"LL 0 2"}},
			{"SELECT first_talk_yield_mid_pct, tightening_bp, only_final_talk FROM execution_metrics WHERE market = 'HY' AND deal_id = 50", []string{"7.875 37.5 false"}},
			{"SELECT nip_primary_source, nip_primary_bp FROM bond_priced_as_of('infinity') WHERE market = 'EM' AND deal_id = 50", []string{"nip 5"}},
			{
				"SELECT market, deal_id, currency, expected_deal_id, launch_margin_mid_bp, margin_flex_bp, flex FROM loan_flex_and_terms ORDER BY market, deal_id, ordinal",
				[]string{"CF 3 USD - - - -", "LL 2 USD 2 350 -25 tighter", "LL 2 EUR 2 400 -25 tighter", "LL 3 USD - - - -"},
			},
			{"SELECT tranche_uid, ordinal, currency FROM pipeline_as_of WHERE service = 'loan' AND deal_id = 2 ORDER BY tranche_uid", []string{"1 2 USD", "2 1 EUR"}},
			{"SELECT DISTINCT deal_id, priced_market, priced_deal_id FROM pipeline_as_of WHERE service = 'loan' ORDER BY deal_id", []string{"2 LL 2", "50 CF 3"}},
			{"SELECT linked_market('loan', 'https://elsewhere.test/x/7'), linked_market('bond', '/loan/ll/priced-deal/7')", []string{"- -"}},
			{"SELECT linked_market('bond', 'HTTPS://HOST/V3/BOND/IG/PRICED-DEAL/1'), linked_market('loan', '/v3/loan/Cf/Priced-Deal/7?x=1')", []string{"IG CF"}},
			{"SELECT field FROM field_change WHERE service = 'loan' AND kind = 'expected' AND deal_id = 2 AND table_name = 'loan_expected_tranches'", nil},
		} {
			world.WantLines(t, db, test.query, test.want...)
		}
		// The explorer's page names the market of a priced deal that is another one than the deal's own.
		statements, err := explorer.Statements()
		if err != nil {
			t.Fatal(err)
		}
		left := statements["pipeline_left"].Text
		for name, value := range map[string]string{
			"since": "(SELECT min(known_at) FROM runs)", "as_of": "'infinity'", "rows": "10", "skip": "0",
			"service": "''", "market": "''", "currency": "''", "sponsor": "''", "timing": "''",
		} {
			left = strings.ReplaceAll(left, "$"+name, value)
		}
		world.WantLines(t, db, "SELECT market, deal_id, left_as, priced_deals FROM ("+left+") ORDER BY deal_id", "LL 2 priced, still listed 2", "LL 51 priced CF/3")
	})
}
