package analyses_test

import (
	"cmp"
	"math/big"
	"slices"
	"time"
)

var _ = expect(executionAnalyses)

func executionAnalyses(*history) []analysis {
	return []analysis{
		{name: "execution_metrics", question: "FROM execution_metrics(%s)", key: byDeal, answer: func(v view) (rows []fact) {
			for _, b := range countedBonds(v) {
				rows = append(rows, executionOf(b))
			}
			return rows
		}},
		{name: "execution_summary", question: "FROM execution_summary(%s)", key: []string{"market"}, answer: executionSummary},
	}
}

func executionOf(b bond) fact {
	talk := slices.Clone(b.rows(b.now, "price_evolution"))
	slices.SortStableFunc(talk, func(x, y fact) int {
		return cmp.Or(cmp.Compare(cmp.Or(x.text("date"), "9"), cmp.Or(y.text("date"), "9")), x.rat("ordinal").Cmp(y.rat("ordinal")))
	})
	row := b.only("market", "deal_id", "pricing_date", "currency", "borrower").with(fact{
		"ipt_text": nil, "ipt_benchmark": nil, "ipt_mid_bp": nil, "ipt_yield_mid_pct": nil,
		"final_benchmark": b.fact["spread_primary_benchmark"], "final_bp": b.fact["spread_primary_bp"], "final_yield_pct": nil,
		"nip_bp": b.fact["nip_primary_bp"], "cover": nil,
	})
	if b.fact["yield_status"] == "OK" {
		row["final_yield_pct"] = b.fact["yield_pct"]
	}
	if i := slices.IndexFunc(talk, saysSpread); i >= 0 {
		row["ipt_text"], row["ipt_benchmark"] = talk[i]["value"], talk[i]["value_benchmark"]
		row["ipt_mid_bp"] = orNil(middle(talk[i].rat("value_lo_bp"), talk[i].rat("value_hi_bp")))
	}
	if i := slices.IndexFunc(talk, func(f fact) bool { return f["value_yield_lo_pct"] != nil }); i >= 0 {
		row["ipt_yield_mid_pct"] = orNil(middle(talk[i].rat("value_yield_lo_pct"), talk[i].rat("value_yield_hi_pct")))
	}
	books, nominal := b.rat("stats_final_books"), b.rat("nominal_amount")
	if books != nil && books.Sign() > 0 && nominal != nil && nominal.Sign() > 0 {
		row["cover"] = ratio(1, books, nominal)
	}
	for column, value := range tightening(row) {
		row[column] = value
	}
	for column, value := range guidance(row, talk) {
		row[column] = value
	}
	return doubles(row.with(window(talk)), "ipt_mid_bp", "ipt_yield_mid_pct", "tightening_bp", "nip_bp")
}

// doubles converts exact numbers to values that are compared as DOUBLE.
func doubles(row fact, columns ...string) fact {
	for _, c := range columns {
		if r := row.rat(c); r != nil {
			row[c] = near(r)
		}
	}
	return row
}

func saysSpread(f fact) bool {
	return (f["value_status"] == "OK" || f["value_status"] == "RANGE") && f["value_lo_bp"] != nil
}

func tightening(row fact) fact {
	if bp := less(row.rat("ipt_yield_mid_pct"), row.rat("final_yield_pct")); row["market"] == "HY" && bp != nil {
		return fact{"tightening_bp": new(big.Rat).Mul(bp, big.NewRat(100, 1)), "tightening_basis": "yield"}
	}
	bp := less(row.rat("ipt_mid_bp"), row.rat("final_bp"))
	if bp == nil || row["ipt_benchmark"] == nil || row["ipt_benchmark"] != row["final_benchmark"] {
		return fact{"tightening_bp": nil, "tightening_basis": nil}
	}
	return fact{"tightening_bp": bp, "tightening_basis": "spread"}
}

// guidance counts the revisions of price talk, and reports whether the deal priced in the last range.
func guidance(row fact, talk []fact) fact {
	revisions := 0
	var last fact
	for _, f := range talk {
		guides := f["value_stage"] == "GUIDANCE" || f["value_stage"] == "REVISED"
		if guides {
			revisions++
		}
		if (guides || f["value_stage"] == "TALK") && f["value_lo_bp"] != nil && f["value_hi_bp"] != nil && f["value_benchmark"] != nil && f["value_benchmark"] == row["final_benchmark"] {
			last = f
		}
	}
	where := fact{"guidance_revisions": count(max(revisions-1, 0)), "final_vs_guidance": nil}
	final := row.rat("final_bp")
	if last == nil || final == nil {
		return where
	}
	lo, hi := last.rat("value_lo_bp"), last.rat("value_hi_bp")
	switch {
	case final.Cmp(lo) < 0:
		where["final_vs_guidance"] = "inside"
	case final.Cmp(hi) > 0:
		where["final_vs_guidance"] = "outside"
	case lo.Cmp(hi) < 0 && final.Cmp(lo) == 0:
		where["final_vs_guidance"] = "tight"
	case lo.Cmp(hi) < 0 && final.Cmp(hi) == 0:
		where["final_vs_guidance"] = "wide"
	default:
		where["final_vs_guidance"] = "mid"
	}
	return where
}

// window is the time between first talk and pricing.
func window(talk []fact) fact {
	var dates []string
	for _, f := range talk {
		if f["date"] != nil {
			dates = append(dates, f.text("date"))
		}
	}
	if len(dates) == 0 {
		return fact{"first_talk": nil, "last_talk": nil, "window_minutes": nil}
	}
	first, last := slices.Min(dates), slices.Max(dates)
	return fact{"first_talk": first, "last_talk": last, "window_minutes": parsed(last).Sub(parsed(first)).Minutes()}
}

// parsed parses an instant.
func parsed(text string) time.Time {
	at, err := time.Parse(instantForm, text)
	if err != nil {
		panic(err)
	}
	return at
}

func executionSummary(v view) []fact {
	deals := map[string][]fact{}
	for _, b := range countedBonds(v) {
		row := executionOf(b)
		deals[row.text("market")] = append(deals[row.text("market")], row.with(fact{"nominal_usd": b.fact["nominal_usd"]}))
	}
	var rows []fact
	for market, bonds := range deals {
		row := fact{"market": market, "deals": count(len(bonds))}
		for _, column := range []string{"tightening_bp", "cover", "nip_bp", "window_minutes"} {
			var values []*big.Rat
			for _, f := range bonds {
				if number, ok := f[column].(float64); ok {
					values = append(values, new(big.Rat).SetFloat64(number))
				}
			}
			row[column+"_n"], row[column+"_mean"], row[column+"_median"] = count(len(values)), mean(values), median(values)
		}
		weighted, weight := new(big.Rat), new(big.Rat)
		for _, f := range bonds {
			cover, ok := f["cover"].(float64)
			if usd := converted(f); ok && usd != nil {
				weighted = sum(weighted, new(big.Rat).Mul(usd, new(big.Rat).SetFloat64(cover)))
				weight = sum(weight, usd)
			}
		}
		row["cover_usd_weighted"] = ratio(1, weighted, weight)
		rows = append(rows, row)
	}
	return rows
}
