package analyses_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dealflow/schemas/api"
)

var _ = expect(coreAnalyses)

func coreAnalyses(h *history) []analysis {
	all := []analysis{
		{name: "bond_deals_core_as_of", question: "SELECT * EXCLUDE (known_at) FROM bond_deals_core_as_of(%s)", key: byDeal, answer: coreBonds},
		{name: "loan_deals_core_as_of", question: "SELECT * EXCLUDE (known_at) FROM loan_deals_core_as_of(%s)", key: byDeal, answer: coreLoans},
		{name: "pipeline_core_as_of", question: "FROM pipeline_core_as_of(%s)", key: []string{"service", "market", "deal_id", "tranche_uid"}, answer: corePipeline},
	}
	for _, feed := range []api.Feed{{Service: api.Bond, Market: api.IG, Kind: api.Priced}, {Service: api.Loan, Market: api.LL, Kind: api.Priced}, {Service: api.Bond, Market: api.HY, Kind: api.Expected}} {
		if d := h.liveliest(feed); d != nil {
			all = append(all, vintages(d, "borrower_name"))
		}
	}
	return append(all, analysis{
		name: "vintages_wide", key: []string{"deal_id", "field"}, none: true,
		question: "SELECT deal_id, field, map_values(by_known_at) AS by_known_at FROM vintages_wide('bond', 'IG', (SELECT list(deal_id) FROM history.bond_priced_deals WHERE market = 'IG'), ['isin_code', 'borrower_name'], as_of := %s)",
		answer:   wideVintages,
	})
}

// liveliest is the deal of a feed with the most versions.
func (h *history) liveliest(feed api.Feed) (best *deal) {
	for _, d := range h.deals[feed] {
		if best == nil || len(d.versions) > len(best.versions) || len(d.versions) == len(best.versions) && d.id < best.id {
			best = d
		}
	}
	return best
}

// canonicalLeads joins the leads' names, each once.
func canonicalLeads(names []string) any {
	names = slices.Clone(names)
	slices.Sort(names)
	return textOrNil(strings.Join(slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" }), "; "))
}

func coreBonds(v view) (rows []fact) {
	for _, b := range bonds(v) {
		row := b.only("market", "deal_id", "pricing_date", "borrower", "deal_type", "currency", "nominal_amount", "maturity", "ranking", "esg_label", "counted")
		row = row.with(fact{
			"country": b.fact["borrower_country"], "sector": b.fact["borrower_sector"], "nominal_usd": orNil(converted(b.fact)),
			"rating": b.fact["rating_composite_grade"], "coupon_pct": b.fact["cpn_pct"], "yield_pct": nil,
			"benchmark": b.fact["spread_primary_benchmark"], "spread_bp": b.fact["spread_primary_bp"], "nip_bp": b.fact["nip_primary_bp"], "leads": canonicalLeads(b.leads),
		})
		if b.fact["yield_status"] == "OK" {
			row["yield_pct"] = b.fact["yield_pct"]
		}
		rows = append(rows, doubles(row, "coupon_pct", "yield_pct", "spread_bp", "nip_bp"))
	}
	return rows
}

func coreLoans(v view) (rows []fact) {
	for _, l := range loans(v) {
		row := l.only("market", "deal_id", "priced_date", "borrower", "sponsors", "tranches", "margin_lo_bp", "margin_hi_bp", "oid_lo", "oid_hi", "latest_maturity_year", "covenant_light")
		var types, currencies, leads []string
		for _, t := range l.tranches {
			if t.fact["short_type"] != nil {
				types = append(types, t.text("short_type"))
			}
			if t.fact["currency"] != nil {
				currencies = append(currencies, t.text("currency"))
			}
			leads = append(leads, t.leads...)
		}
		slices.Sort(currencies)
		row = row.with(fact{
			"country": l.fact["borrower_country"], "sector": l.fact["borrower_sector"], "leverage_total": l.fact["borrower_leveraged_multiple_total"],
			"tranche_types": joinedOrNil(types), "currencies": joinedOrNil(slices.Compact(currencies)),
			"usd": l.fact["tranches_usd"], "unconverted": l.fact["tranches_unconverted"], "leads": canonicalLeads(leads),
		})
		rows = append(rows, doubles(row, "margin_lo_bp", "margin_hi_bp", "oid_lo", "oid_hi", "leverage_total"))
	}
	return rows
}

// joinedOrNil joins texts; NULL if there are none.
func joinedOrNil(texts []string) any {
	if texts == nil {
		return nil
	}
	return strings.Join(texts, "; ")
}

func corePipeline(v view) (rows []fact) {
	for _, p := range pipelineRows(v) {
		if p.is("is_priced") {
			continue
		}
		row := p.only("service", "market", "deal_id", "tranche_uid", "borrower", "status", "stage", "currency", "volume", "volume_lo", "volume_currency", "price", "price_benchmark", "timing", "days_listed", "first_known_at")
		row["tranche"], row["structure"] = p["tranche_name"], p["structure"]
		if p["structure"] == nil {
			row["structure"] = p["type"]
		}
		row["price_bp"] = near(middle(p.rat("price_lo_bp"), p.rat("price_hi_bp")))
		row["price_yield_pct"] = near(middle(p.rat("price_yield_lo_pct"), p.rat("price_yield_hi_pct")))
		rows = append(rows, row)
	}
	return rows
}

// vintage is a value from the instant at which it became known.
type vintage struct {
	at      string
	version *version
	value   any
}

// vintagesOf lists the values of a column of a deal, each from when it was known.
func (v view) vintagesOf(d *deal, field string) (all []vintage) {
	var before any
	for i, version := range v.versions(d) {
		var value any
		if version.change != "removed" {
			value = d.rows(version, "deals")[0][field]
		}
		if i == 0 || version.change == "removed" || version.change == "reappeared" || spell(value) != spell(before) {
			all = append(all, vintage{instant(version.at), version, value})
		}
		before = value
	}
	return all
}

func vintages(d *deal, field string) analysis {
	return analysis{
		name: fmt.Sprintf("vintages %s %d %s", d.feed, d.id, field), key: []string{"known_at"}, none: true,
		question: fmt.Sprintf("FROM vintages('%s', '%s', %d, '%s', of_kind := '%s', as_of := %%s)", d.feed.Service, d.feed.Market, d.id, field, d.feed.Kind),
		answer: func(v view) (rows []fact) {
			all := v.vintagesOf(d, field)
			for i, one := range all {
				row := fact{"known_at": one.at, "known_until": nil, "version": one.version.number, "change": one.version.change, "value": one.value}
				if i+1 < len(all) {
					row["known_until"] = all[i+1].at
				}
				rows = append(rows, row)
			}
			return rows
		},
	}
}

func wideVintages(v view) (rows []fact) {
	for _, k := range v.ever(api.Bond, api.Priced) {
		for _, field := range []string{"isin_code", "borrower_name"} {
			if k.feed.Market != api.IG {
				continue
			}
			var values []string
			for _, one := range v.vintagesOf(k.deal, field) {
				values = append(values, fmt.Sprint(cmp.Or(one.value, any("<nil>"))))
			}
			rows = append(rows, fact{"deal_id": k.id, "field": field, "by_known_at": strings.Join(values, ",")})
		}
	}
	return rows
}
