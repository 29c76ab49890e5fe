package analyses_test

import (
	stdsql "database/sql"
	"fmt"
	"strings"
	"testing"

	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

func feed(service api.Service, market api.Market, kind api.Kind) api.Feed {
	return api.Feed{Service: service, Market: market, Kind: kind}
}

// TestDefinitions asks analyses about deals that are written by hand. The answers come from the definitions.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	talk := func(steps ...string) string {
		for i := range steps {
			steps[i] = fmt.Sprintf(`{"date":"2026-01-05T%02d:00:00Z","value":%q}`, 8+i, steps[i])
		}
		return `"pricingDate":"2026-01-05","dealType":"ORIGINAL","leagueTableEligible":true,"currency":"USD","priceEvolution":[` + strings.Join(steps, ",") + `]`
	}
	ig, hy, em := feed(api.Bond, api.IG, api.Priced), feed(api.Bond, api.HY, api.Priced), feed(api.Bond, api.EM, api.Priced)
	b.Write(ig, 1, talk("Final T+80")+`,"spread":"T+80"`)
	b.Write(ig, 2, talk("IPTs T+100 area", "Guidance T+85-90", "Final T+80")+`,"spread":"T+80","rating":{"moodys":"A2","standardAndPoors":"A"}`)
	b.Write(ig, 3, talk("Guidance T+90 (+/-5)", "Final T+85")+`,"spread":"T+85"`)
	b.Write(ig, 4, talk("IPTs MS+70 area", "Final SARON MS+65")+`,"spread":"SARON MS+65"`)
	b.Write(ig, 5, talk("IPTs T+70 area", "T+60")+`,"spread":"T+60","nominal":{"amount":500000000,"converted":{"usd":500000000}},"stats":{"finalBooks":100},
		"banks":[{"name":"Aspen","status":"Sole Arranger"},{"name":"Birch","status":"Quartermaster"},{"name":"Cedar","status":"Bookrunner"}]`)
	b.Write(hy, 1, talk("Talk 7.75-8%", "7.5%")+`,"yield":"7.5%"`)
	b.Write(em, 1, talk("IPG T+145 area", "Final T+118")+`,"swap":"MS+90","gov":"T+120"`)
	b.Write(em, 2, talk("IPG T+145 area", "Final T+118")+`,"swap":"MS+90"`)
	level := func(currency, first, final string) string {
		return strings.Replace(talk(first, final), `"USD"`, currency, 1) + fmt.Sprintf(`,"spread":%q`, final)
	}
	for id, members := range map[int64]string{
		10: level(`"USD"`, "IPTs G+85 area", "G+70"), 11: level(`"GBP"`, "IPTs G+85 area", "G+80"), 12: level("null", "IPTs G+85 area", "G+80"),
		13: level(`"AUD"`, "IPTs B+100 area", "B+90"), 14: level(`"NZD"`, "B+100-105", "B+90"), 15: level(`"EUR"`, "B+100 area", "B+95"),
		16: level(`"usd"`, "IPTs S+95 area", "S+90"), 17: level(`"GBP"`, "3mS+95 area", "3mS+90"), 18: level(`"EUR"`, "S+95 area", "S+90"),
		19: level(`"USD"`, "IPTs UKT+85 area (G+80)", "UKT+80"), 20: level(`"AUD"`, "Bund+85 area", "DBR+80"), 21: level(`"GBP"`, "+95 area", "+90"),
		25: talk() + `,"rating":{"moodys":"NR","fitch":"withdrawn"}`, 26: talk() + `,"rating":{"moodys":"Baa"}`,
		27: talk() + `,"rating":{"moodys":"WR","fitch":"nonsense"}`, 28: talk() + `,"rating":{"moodys":"nonsense","fitch":"BB"}`,
		29: talk() + `,"rating":{"moodys":"Ba2","standardAndPoors":"nonsense","fitch":"BB"}`,
	} {
		b.Write(hy, id, members)
	}
	tap := func(id, original int64) {
		b.Write(hy, id, fmt.Sprintf(`"pricingDate":"2026-01-05","dealType":"INCREASE","nominal":{"amount":%d},"_links":{"self":{"href":%q},"original":{"href":%q}}`, id, hy.DealPath(id), hy.DealPath(original)))
	}
	b.Write(hy, 30, `"pricingDate":"2026-01-05","dealType":"INCREASE","nominal":{"amount":30}`)
	tap(31, 30)
	b.Write(hy, 32, `"pricingDate":"2026-01-05","dealType":"ORIGINAL","nominal":{"amount":32}`)
	tap(33, 32)
	tap(34, 99)
	b.Write(em, 3, talk("IPG SMS+145 area", "Final SMS+118")+`,"gov":"T+120"`)
	b.Write(feed(api.Loan, api.AF, api.Priced), 1, `"pricedDate":"2026-01-05","tranches":[
		{"maturity":"7yr","tenor":84},{"maturity":"7yr","tenor":60},{"maturity":"2033","tenor":84},{"maturity":"2034","tenor":84},{"maturity":"2032","tenor":84},
		{"maturity":"2031","tenor":84},{"maturity":"7yr","tenor":7},{"maturity":"Feb-31","tenor":60},{"maturity":"7yr"},{"maturity":"2033"}]`)
	ll, cf, launched := feed(api.Loan, api.LL, api.Priced), feed(api.Loan, api.CF, api.Priced), feed(api.Loan, api.LL, api.Expected)
	tranche := func(id int, members string) string {
		return fmt.Sprintf(`{"id":%d,"name":"T%d","currency":"USD","pricingDate":"2026-01-05","nominal":{"amount":100,"converted":{"usd":100}},%s}`, id, id, members)
	}
	banks := `"banks":[{"name":"Oak","type":{"bookrunner":true}},{"name":"Pine","type":{"participant":true}}]`
	b.Write(ll, 1, `"pricedDate":"2026-01-05","tranches":[`+strings.Join([]string{
		tranche(1, `"maturity":"7yr"`), tranche(2, `"tenor":84`), tranche(3, `"maturity":"2031-02-15","tenor":84`), tranche(4, `"tenor":7`),
		tranche(5, `"figiCode":"F1","maturity":"2032-01-05","margin":"S+375","oid":"98",`+banks),
	}, ",")+`]`)
	b.Write(cf, 9, `"pricedDate":"2026-01-05","tranches":[`+tranche(7, `"figiCode":"F1","maturity":"2032-01-05",`+banks)+`]`)
	b.Write(launched, 4, `"created":"2026-01-05T08:00:00Z","changed":"2026-01-05T08:00:00Z","tranches":[{"name":"T5","currency":"USD","margin":"S+400","oid":"99.5"}],
		"_links":{"self":{"href":"`+launched.DealPath(4)+`"},"pricedDeal":{"href":"`+ll.DealPath(1)+`"}}`)
	if err := w.Store.Put(t.Context(), lake.RolesKey, strings.NewReader("role,lead\nSole Arranger,true\n"), store.CreateOnly); err != nil {
		t.Fatal(err)
	}
	w.Evening(0)
	if _, err := w.Run(t, world.Quiet); err != nil {
		t.Fatal(err)
	}
	w.Ask(t, func(db *stdsql.DB) {
		for _, test := range []struct {
			query string
			want  []string
		}{
			{ // Final talk is no first talk; guidance is no initial talk; EM over the benchmark of its talk; swaps are one curve.
				`SELECT market, deal_id, first_talk_stage, ipt_mid_bp, guidance_mid_bp, final_source, final_bp, tightening_bp, only_final_talk
				 FROM execution_metrics WHERE deal_id < 10 ORDER BY market, deal_id`,
				[]string{
					"EM 1 IPT 145 - gov 120 25 false", "EM 2 IPT 145 - final talk 118 27 false", "EM 3 IPT 145 - final talk 118 27 false", "HY 1 TALK - - - - 37.5 false",
					"IG 1 - - - spread 80 - true", "IG 2 IPT 100 87.5 spread 80 20 false", "IG 3 GUIDANCE - 90 spread 85 5 false",
					"IG 4 IPT 70 - spread 65 5 false", "IG 5 IPT 70 - spread 60 10 false",
				},
			},
			{ // A letter in talk means what it means in the spread: G, B and S by the deal's currency.
				"SELECT deal_id, first_talk_benchmark, final_benchmark, final_benchmark_index, tightening_bp FROM execution_metrics WHERE market = 'HY' AND deal_id BETWEEN 10 AND 21 ORDER BY deal_id",
				[]string{
					"10 G_SPREAD G_SPREAD - 15", "11 UKT UKT - 5", "12 UKT UKT - 5", "13 - - - -", "14 - - - -", "15 BUND BUND - 5",
					"16 SOFR SOFR SOFR 5", "17 SONIA SONIA SONIA 5", "18 - - - -", "19 UKT UKT - 5", "20 BUND BUND - 5", "21 - - - -",
				},
			},
			{"SELECT first_talk_benchmark, final_benchmark, final_benchmark_index FROM execution_metrics WHERE market = 'EM' AND deal_id = 3", []string{"MS MS SOFR"}},
			{ // A text that says that there is no rating makes a deal unrated; one that was not read does not, nor
				// does it count as none next to others, unless two of these are equal.
				"SELECT deal_id, rating FROM execution_metrics WHERE market = 'HY' AND deal_id BETWEEN 21 AND 29 ORDER BY deal_id",
				[]string{"21 unrated", "25 unrated", "26 -", "27 -", "28 -", "29 BB"},
			},
			{
				"SELECT deal_id, rating_composite_rule, rating_composite_grade, rating_worst_notch, rating_is_investment_grade FROM bond_priced_deals WHERE market = 'HY' AND deal_id BETWEEN 25 AND 29 ORDER BY deal_id",
				[]string{"25 - - - -", "26 UNREAD - - -", "27 UNREAD - - -", "28 UNREAD - - -", "29 UNREAD BB - false"},
			},
			{"SELECT rating, deals FROM execution_summary WHERE market = 'HY' ORDER BY rating", []string{"BB 1", "all 23", "unrated 19", "unread 3"}},
			{ // An increase is no original, so that of 30 and 31 is not known; nor is that of 34.
				"SELECT root_deal_id, original_known, increases, original_nominal, line_size, last_increase_date IS NOT NULL FROM tap_family WHERE market = 'HY' AND root_deal_id >= 30 ORDER BY root_deal_id",
				[]string{"30 false 2 - 61 true", "32 true 1 32 65 true", "99 false 1 - 34 true"},
			},
			{ // 84 months from January 2026 are January 2033: 2031 and 2034 are more than six months off, 2032 is not.
				"SELECT value, total FROM data_quality WHERE market = 'AF' AND name = 'maturity_off_tenor'", []string{"3 7"},
			},
			{"SELECT version, change FROM vintages('Bond', 'ig', 1, 'nominal_usd', of_kind := 'PRICED')", []string{"1 added"}},
			{"SELECT (SELECT count(*) FROM bond_priced_deals_as_of(known_at - INTERVAL 1 DAY)), (SELECT count(*) > 20 FROM bond_priced_deals_as_of(known_at)) FROM runs", []string{"0 true"}},
			{"SELECT count(*) FROM execution_metrics((SELECT max(valid_from) FROM deals))", []string{"31"}},
			{"SELECT count(*) FROM pipeline_conversion(NULL, 3)", []string{"0"}},
			{"WITH _today AS (SELECT 1), today AS (SELECT max(known_at) AS day FROM runs) SELECT count(*) FROM maturity_wall((SELECT day FROM today)) WHERE market = 'LL'", []string{"4"}},
			{"SELECT deal_id FROM vintages_wide('bond', 'ig', [1, 2], ['spread'])", []string{"1", "2"}},
			{"SELECT market, kind, event FROM deal_timeline('BOND', 'ig', 'Priced', 1) ORDER BY event", []string{"IG priced priced", "IG priced pricing known", "IG priced talk"}},
			{ // A cover of a unit error is none, and is counted; averages say of how many deals.
				"SELECT deals, tightening_bp_n, tightening_bp_mean, only_final_talk, tightening_from_guidance_n, cover_n, cover_flagged FROM execution_summary WHERE market = 'IG' AND rating = 'all'",
				[]string{"5 4 10 1 1 0 1"},
			},
			{"SELECT rating, deals FROM execution_summary WHERE market = 'IG' ORDER BY rating", []string{"A 1", "all 5", "unrated 4"}},
			{ // A date first, then the tenor; 7 has no unit. The CF tranche is the LL tranche F1.
				"SELECT market, year, basis, lines FROM maturity_wall WHERE service = 'loan' AND market <> 'AF' ORDER BY ALL",
				[]string{"LL 2031 date 1", "LL 2032 date 1", "LL 2033 tenor 2", "LL - none 1"},
			},
			{
				"SELECT name, value, total FROM data_quality WHERE market = 'LL' AND name IN ('tenor_unit', 'maturity_off_tenor') ORDER BY name",
				[]string{"maturity_off_tenor 1 1", "tenor_unit 1 3"},
			},
			{"SELECT market, value, total FROM data_quality WHERE service = 'loan' AND name = 'duplicate_in_two_markets' AND market <> 'AF' ORDER BY market", []string{"CF 1 1", "LL 0 5"}},
			{"SELECT bank, credit_usd::INTEGER, deals FROM league_table('LOAN', DATE '2026-01-01', DATE '2026-12-31') ORDER BY bank", []string{"oak 100 1", "unallocated 400 1"}},
			{ // A margin 25 tighter with a price 1.5 lower: -25 + 100 × 1.5 ÷ 4.
				"SELECT margin_flex_bp, oid_flex, yield_flex_bp, flex FROM loan_flex_and_terms WHERE name = 'T5' AND market = 'LL'", []string{"-25 -1.5 12.5 wider"},
			},
			{"SELECT yield_flex_bp FROM loan_flex_and_terms(oid_years := 3) WHERE name = 'T5' AND market = 'LL'", []string{"25"}},
			{ // A declared role leads; an unknown role leads nothing, and is counted.
				"SELECT bank, credit_usd::INTEGER FROM league_table('IG', DATE '2026-01-01', DATE '2026-12-31') ORDER BY bank", []string{"aspen 250000000", "cedar 250000000"},
			},
			{
				"SELECT bank, credit_usd::INTEGER FROM league_table('IG', DATE '2026-01-01', DATE '2026-12-31', scope := 'all', credit := 'full') ORDER BY bank",
				[]string{"aspen 500000000", "birch 500000000", "cedar 500000000"},
			},
			{
				"SELECT bank, credit_usd::INTEGER FROM league_table('IG', DATE '2026-01-01', DATE '2026-12-31', scope := 'all', credit := 'lead') ORDER BY bank",
				[]string{"aspen 250000000", "cedar 250000000"},
			},
			{"SELECT value, total FROM data_quality WHERE market = 'IG' AND name = 'unknown_roles'", []string{"1 3"}},
		} {
			world.WantLines(t, db, test.query, test.want...)
		}
		for query, wrong := range map[string]string{
			"FROM league_table('IG', DATE '2026-01-01', DATE '2026-12-31', credit := 'half')": "credit is split, full or lead, not half",
			"FROM league_table('IG', DATE '2026-01-01', DATE '2026-12-31', credit := NULL)":   "credit is split, full or lead, not NULL",
			"FROM league_table('IG', DATE '2026-01-01', DATE '2026-12-31', scope := NULL)":    "scope is lead or all, not NULL",
			"FROM restatement_stats(1.5)":                                                     "days is a whole number of days from 0 on, not 1.5",
			"FROM restatement_fields(-1)":                                                     "not -1",
			"FROM restatement_stats(NULL)":                                                    "not NULL",
			"FROM pipeline_conversion(DATE '2026-01-05', 2.5)":                                "n is a whole number of days from 0 on, not 2.5",
			"FROM pipeline_conversion(DATE '2026-01-05', -1)":                                 "not -1",
			"FROM vintages('bond', 'IG', 1, NULL)":                                            "NULL is no column of the deals",
			"FROM vintages('bond', 'XX', 1, 'isin_code')":                                     "bond XX priced",
			"FROM vintages('loan', 'IG', 1, 'isin_code', as_of := '2020-01-01'::TIMESTAMPTZ)": "are one of bond IG, bond HY, bond EM, loan LL, loan CF, loan AF",
			"FROM vintages_wide('bond', 'IG', [1], ['isin_code'], of_kind := 'dropped')":      "kind is priced or expected",
			"FROM deal_timeline('bonds', 'IG', 'priced', 1)":                                  "bonds IG priced",
			"FROM deal_timeline('bond', NULL, 'priced', 1)":                                   "bond NULL priced",
			"FROM vintages('bond', 'IG', 1, 'colour')":                                        "colour is no column of the deals",
		} {
			if rows, err := db.Query(query); err == nil {
				rows.Close()
				t.Errorf("%s: no error, want %s", query, wrong)
			} else if !strings.Contains(err.Error(), wrong) {
				t.Errorf("%s: %v, want %s", query, err, wrong)
			}
		}
	})
}
