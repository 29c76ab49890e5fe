package analyses_test

import (
	"fmt"
	"math/big"
	"strings"

	"dealflow/schemas/api"
)

var _ = expect(loanAnalyses)

func loanAnalyses(*history) []analysis {
	return []analysis{
		{name: "loan_flex_and_terms", question: "FROM loan_flex_and_terms(%s)", key: []string{"market", "deal_id", "ordinal"}, answer: flexOf},
		{name: "loan_terms_summary", question: "FROM loan_terms_summary(%s)", key: []string{"market", "year"}, answer: termsSummary},
	}
}

func flexOf(v view) (rows []fact) {
	for _, l := range loans(v) {
		origin := v.expectedOf(l.feed.Market, l.id)
		taken := map[int]bool{}
		for _, tranche := range l.tranches {
			row := tranche.only("market", "deal_id", "tranche_id", "ordinal", "name", "short_type", "currency", "covenant_light").with(l.terms()).with(ownPrice(tranche.fact))
			row = row.with(fact{
				"expected_deal_id": nil, "expected_tranche_uid": nil, "launch_margin_mid_bp": nil, "launch_oid_mid": nil, "launch_volume_lo": nil,
				"margin_flex_bp": nil, "oid_flex": nil, "yield_flex_bp": nil, "size_ratio": nil, "flex": nil, "duplicate_of": tranche.keeper,
			})
			if origin != nil {
				row["expected_deal_id"] = origin.id
				row = row.with(v.launchOf(origin, tranche.fact, row, taken))
			}
			rows = append(rows, doubles(row, "margin_mid_bp", "oid_mid", "yield_bp", "launch_margin_mid_bp", "launch_oid_mid", "margin_flex_bp", "oid_flex", "yield_flex_bp", "leverage_total", "size_ratio"))
		}
	}
	return rows
}

// terms are those of the whole deal.
func (l *loan) terms() fact {
	terms := fact{
		"priced_date": l.fact["priced_date"], "borrower": l.fact["borrower"], "sponsor_backed": l.fact["borrower_sponsor_backed"],
		"leverage_total": l.fact["borrower_leveraged_multiple_total"], "purpose": nil,
	}
	for _, purpose := range [][2]string{{"lbo", "lbo"}, {"sbo", "sbo"}, {"dividend_recap", "dividend_recap"}, {"mergers_and_acquisitions", "m&a"}, {"pre_post_ipo", "ipo"}, {"refi", "refi"}, {"gcp", "gcp"}, {"other", "other"}} {
		if terms["purpose"] == nil && l.is("use_of_proceeds_"+purpose[0]) {
			terms["purpose"] = purpose[1]
		}
	}
	return terms
}

// ownPrice is what a tranche costs: a discount counts for three years.
func ownPrice(tranche fact) fact {
	margin, oid := middleOf(tranche, "margin", "_bp"), middleOf(tranche, "oid", "")
	price := fact{"margin_mid_bp": orNil(margin), "oid_mid": orNil(oid), "yield_bp": nil}
	if margin != nil && oid != nil {
		discount := less(big.NewRat(100, 1), oid)
		price["yield_bp"] = sum(margin, discount.Mul(discount, big.NewRat(100, 3)))
	}
	return price
}

func middleOf(row fact, column, unit string) *big.Rat {
	if status := row[column+"_status"]; status != "OK" && status != "RANGE" {
		return nil
	}
	return middle(row.rat(column+"_lo"+unit), row.rat(column+"_hi"+unit))
}

// expectedOf returns the expected loan that became a priced one: the one with the greatest id of those that ever linked
// to it.
func (v view) expectedOf(market api.Market, id int64) (origin *deal) {
	for _, k := range v.ever(api.Loan, api.Expected) {
		for _, version := range v.versions(k.deal) {
			if k.feed.Market != market || version.change == "removed" {
				continue
			}
			if to, ok := linkOf(api.Loan, k.rows(version, "deals")[0], "priced_deal"); ok && to.feed.Market == market && to.id == id {
				origin = k.deal
			}
		}
	}
	return origin
}

// launchOf returns the tranche in the expected deal, and its first terms.
func (v view) launchOf(origin *deal, tranche, row fact, taken map[int]bool) fact {
	var newest *version
	for _, version := range v.versions(origin) {
		if version.change != "removed" {
			newest = version
		}
	}
	pair := func(f fact) string {
		if normalName(f["name"]) == "" || f["currency"] == nil {
			return ""
		}
		return normalName(f["name"]) + "|" + f.text("currency")
	}
	for i, was := range origin.rows(newest, "tranches") {
		if taken[i] || pair(was) == "" || pair(was) != pair(tranche) {
			continue
		}
		taken[i] = true
		found := fact{"expected_tranche_uid": newest.uids[i]}
		for _, version := range v.versions(origin) {
			for at, launched := range origin.rows(version, "tranches") {
				if version.uids[at] == newest.uids[i] && middleOf(launched, "margin", "_bp") != nil {
					return found.with(flexSince(launched, tranche, row))
				}
			}
		}
		return found
	}
	return nil
}

// flexSince compares a tranche's terms at pricing with those at launch.
func flexSince(launched, tranche, row fact) fact {
	then := ownPrice(launched)
	margin, oid := less(row.rat("margin_mid_bp"), then.rat("margin_mid_bp")), less(row.rat("oid_mid"), then.rat("oid_mid"))
	f := fact{
		"launch_margin_mid_bp": then["margin_mid_bp"], "launch_oid_mid": then["oid_mid"], "launch_volume_lo": launched["volume_lo"],
		"margin_flex_bp": orNil(margin), "oid_flex": orNil(oid), "yield_flex_bp": nil, "size_ratio": nil, "flex": nil,
	}
	if size, from := tranche.rat("nominal_amount"), launched.rat("volume_lo"); size != nil && from != nil && launched["volume_currency"] == tranche["currency"] {
		f["size_ratio"] = ratio(1, size, from)
	}
	if margin != nil || oid != nil {
		// A point of price counts for 25 basis points a year, over four years.
		moved := less(orZero(margin), new(big.Rat).Mul(orZero(oid), big.NewRat(25, 1)))
		f["yield_flex_bp"], f["flex"] = moved, []string{"tighter", "none", "wider"}[moved.Sign()+1]
	}
	return f
}

func orZero(r *big.Rat) *big.Rat {
	if r == nil {
		return new(big.Rat)
	}
	return r
}

func termsSummary(v view) (rows []fact) {
	tranches := map[string][]fact{}
	for _, row := range flexOf(v) {
		if row["duplicate_of"] != nil {
			continue
		}
		year := yearOf(row.text("priced_date"))
		key := fact{"market": row["market"], "year": year}.key("market", "year")
		tranches[key] = append(tranches[key], row.with(fact{"year": year}))
	}
	worth := map[string]*big.Rat{}
	for _, l := range loans(v) {
		for _, tranche := range l.tranches {
			worth[tranche.key("market", "deal_id", "ordinal")] = converted(tranche.fact)
		}
	}
	for _, tranche := range tranches {
		rows = append(rows, summaryOf(tranche, worth))
	}
	return rows
}

func summaryOf(tranches []fact, worth map[string]*big.Rat) fact {
	var usd, tlb *big.Rat
	light := new(big.Rat)
	var leverage, yields []*big.Rat
	deals, sponsors, flexes := map[string]bool{}, map[bool]int{}, map[string]int{}
	tlbs, unconverted := 0, 0
	for _, row := range tranches {
		if deal := row.key(byDeal...); !deals[deal] {
			deals[deal] = true
			if row["sponsor_backed"] != nil {
				sponsors[row.is("sponsor_backed")]++
			}
			if x, ok := row["leverage_total"].(float64); ok {
				leverage = append(leverage, new(big.Rat).SetFloat64(x))
			}
		}
		flexes[fmt.Sprint(row["flex"])]++
		if bp, ok := row["yield_bp"].(float64); ok {
			yields = append(yields, new(big.Rat).SetFloat64(bp))
		}
		r := worth[row.key("market", "deal_id", "ordinal")]
		if r == nil {
			unconverted++
			continue
		}
		usd = added(usd, r)
		if isTLB(row) {
			tlbs++
			tlb = added(tlb, r)
			if row.is("covenant_light") {
				light = sum(light, r)
			}
		}
	}
	flexed := flexes["tighter"] + flexes["wider"] + flexes["none"]
	return fact{
		"market": tranches[0]["market"], "year": tranches[0]["year"], "deals": count(len(deals)), "tranches": count(len(tranches)),
		"tranches_unconverted": count(unconverted), "usd": orNil(usd), "tlb_n": count(tlbs), "tlb_usd": orNil(tlb), "cov_lite_usd_share": ratio(1, light, orZero(tlb)),
		"sponsor_n": count(sponsors[true] + sponsors[false]), "sponsor_share": ratioOf(1, sponsors[true], sponsors[true]+sponsors[false]),
		"leverage_n": count(len(leverage)), "leverage_median": median(leverage),
		"flex_n": count(flexed), "tighter_pct": ratioOf(100, flexes["tighter"], flexed), "wider_pct": ratioOf(100, flexes["wider"], flexed),
		"yield_n": count(len(yields)), "yield_median": median(yields),
	}
}

// joined joins texts without those that are NULL.
func joined(separator string, texts ...any) string {
	var there []string
	for _, text := range texts {
		if text, ok := text.(string); ok {
			there = append(there, text)
		}
	}
	return strings.Join(there, separator)
}
