package analyses_test

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"time"

	"dealflow/schemas/lake"
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
		{name: "execution_summary", question: "FROM execution_summary(%s)", key: []string{"market", "rating"}, answer: executionSummary},
	}
}

// talkStep is a step of price talk: its level as a spread or a yield, and whether it is the price.
type talkStep struct {
	fact
	benchmark  string
	mid, yield *big.Rat // of a range, the middle; nil if the text gives none
	guides     bool     // guidance or revised
	final      bool
}

// talkOf reads the price talk of a bond in the order of its dates.
func talkOf(b bond) (all []talkStep) {
	talk := slices.Clone(b.rows(b.now, "price_evolution"))
	slices.SortStableFunc(talk, func(x, y fact) int {
		return cmp.Or(cmp.Compare(cmp.Or(x.text("date"), "9"), cmp.Or(y.text("date"), "9")), x.rat("ordinal").Cmp(y.rat("ordinal")))
	})
	for i, f := range talk {
		status := f.text("value_status")
		step := talkStep{fact: f, benchmark: curve(f.text("value_benchmark")), yield: middle(f.rat("value_yield_lo_pct"), f.rat("value_yield_hi_pct"))}
		if status == "OK" || status == "RANGE" {
			step.mid = middle(f.rat("value_lo_bp"), f.rat("value_hi_bp"))
		}
		step.guides = f["value_stage"] == "GUIDANCE" || f["value_stage"] == "REVISED"
		step.final = f["value_stage"] == "FINAL"
		if f["value_stage"] == nil && f["value_quality"] == nil && i == len(talk)-1 && (status == "OK" || status == "OK_YIELD") && (isNumber(f, "value_lo_bp", "value_hi_bp") || isNumber(f, "value_yield_lo_pct", "value_yield_hi_pct")) {
			step.final = true
		}
		all = append(all, step)
	}
	return all
}

// isNumber says whether a range is one number.
func isNumber(f fact, low, high string) bool {
	lo, hi := f.rat(low), f.rat(high)
	return lo != nil && hi != nil && lo.Cmp(hi) == 0
}

// curve is the benchmark without the index of a swap: SOFR MS is MS.
func curve(benchmark string) string {
	if strings.HasSuffix(benchmark, " MS") {
		return "MS"
	}
	return benchmark
}

// firstOf returns the first step that a test accepts.
func firstOf(talk []talkStep, accepts func(talkStep) bool) *talkStep {
	for i := range talk {
		if accepts(talk[i]) {
			return &talk[i]
		}
	}
	return nil
}

func backwards(talk []talkStep) []talkStep {
	talk = slices.Clone(talk)
	slices.Reverse(talk)
	return talk
}

func executionOf(b bond) fact {
	talk := talkOf(b)
	row := b.only("market", "deal_id", "pricing_date", "currency", "borrower").with(fact{
		"rating": ratingOf(b.fact), "final_yield_pct": nil, "nip_bp": b.fact["nip_primary_bp"], "cover": nil, "cover_flagged": nil,
	})
	if b.fact["yield_status"] == "OK" {
		row["final_yield_pct"] = b.fact["yield_pct"]
	}
	spread := firstOf(talk, func(s talkStep) bool { return s.mid != nil && !s.final })
	yields := firstOf(talk, func(s talkStep) bool { return s.yield != nil && !s.final })
	row = row.with(spreadOf("first_talk", spread).only("first_talk_benchmark", "first_talk_mid_bp")).with(fact{"first_talk_yield_mid_pct": yieldOf(yields)})
	row = row.with(spreadOf("ipt", firstOf(talk, func(s talkStep) bool { return s.mid != nil && !s.final && !s.guides })))
	row["ipt_yield_mid_pct"] = yieldOf(firstOf(talk, func(s talkStep) bool { return s.yield != nil && !s.final && !s.guides }))
	row = row.with(spreadOf("guidance", firstOf(backwards(talk), func(s talkStep) bool { return s.mid != nil && s.guides })))
	row["guidance_yield_mid_pct"] = yieldOf(firstOf(backwards(talk), func(s talkStep) bool { return s.yield != nil && s.guides }))
	earlier := func(s talkStep) bool { return (s.mid != nil || s.yield != nil) && !s.final }
	row = row.with(quoteOf("last_talk", firstOf(backwards(talk), earlier)))
	row = row.with(priceOf(b, talk, spread)).with(coverOf(b))
	row = row.with(tightening(row))
	from := firstOf(talk, earlier)
	switch row["tightening_basis"] {
	case "spread":
		from = spread
	case "yield":
		from = yields
	}
	row = row.with(quoteOf("first_talk", from))
	row["only_final_talk"] = nil
	if says := firstOf(talk, func(s talkStep) bool { return s.mid != nil || s.yield != nil }); says != nil {
		row["only_final_talk"] = firstOf(talk, earlier) == nil
	}
	row = row.with(guidance(row, talk)).with(window(talk))
	return doubles(row, "ipt_mid_bp", "first_talk_mid_bp", "guidance_mid_bp", "ipt_yield_mid_pct", "first_talk_yield_mid_pct",
		"guidance_yield_mid_pct", "final_bp", "final_yield_pct", "tightening_bp", "nip_bp")
}

// spreadOf is a step as the columns of a spread.
func spreadOf(name string, s *talkStep) fact {
	if s == nil {
		return fact{name + "_text": nil, name + "_benchmark": nil, name + "_mid_bp": nil}
	}
	return fact{name + "_text": s.fact["value"], name + "_benchmark": textOrNil(s.benchmark), name + "_mid_bp": orNil(s.mid)}
}

// quoteOf is a step as written.
func quoteOf(name string, s *talkStep) fact {
	if s == nil {
		return fact{name + "_stage": nil, name + "_text": nil}
	}
	return fact{name + "_stage": s.fact["value_stage"], name + "_text": s.fact["value"]}
}

func yieldOf(s *talkStep) any {
	if s == nil {
		return nil
	}
	return orNil(s.yield)
}

// priceOf is the spread at pricing. In EM it is that of two with the benchmark of the first talk.
func priceOf(b bond, talk []talkStep, first *talkStep) fact {
	stated := func(column string) fact {
		if b.fact[column+"_status"] != "OK" {
			return nil
		}
		return fact{"final_source": column, "final_benchmark": textOrNil(curve(b.text(column + "_benchmark"))), "final_benchmark_index": b.fact[column+"_benchmark_index"], "final_bp": b.fact[column+"_bp"]}
	}
	choices := []fact{stated("spread")}
	if b.fact["market"] == "EM" {
		swap, gov := stated("swap"), stated("gov")
		choices = []fact{swap, gov}
		if first != nil && first.benchmark != "" {
			set := firstOf(backwards(talk), func(s talkStep) bool { return s.final && s.fact["value_bp"] != nil && s.benchmark == first.benchmark })
			var last fact
			if set != nil {
				last = fact{"final_source": "final talk", "final_benchmark": set.benchmark, "final_benchmark_index": set.fact["value_benchmark_index"], "final_bp": set.fact["value_bp"]}
			}
			choices = []fact{same(swap, first), same(gov, first), last, swap, gov}
		}
	}
	for _, choice := range choices {
		if choice != nil {
			return choice
		}
	}
	return fact{"final_source": nil, "final_benchmark": nil, "final_benchmark_index": nil, "final_bp": nil}
}

// same is a stated spread if it has the benchmark of a talk.
func same(stated fact, talk *talkStep) fact {
	if stated == nil || stated["final_benchmark"] != talk.benchmark {
		return nil
	}
	return stated
}

// coverOf is books by nominal, unless one of them has the wrong unit.
func coverOf(b bond) fact {
	books, nominal := b.rat("stats_final_books"), b.rat("nominal_amount")
	if books == nil || books.Sign() <= 0 || nominal == nil || nominal.Sign() <= 0 {
		return nil
	}
	times := new(big.Rat).Quo(books, nominal)
	if times.Cmp(big.NewRat(1, 2)) < 0 || times.Cmp(big.NewRat(20, 1)) > 0 {
		return fact{"cover_flagged": true}
	}
	return fact{"cover_flagged": false, "cover": near(times)}
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

func tightening(row fact) fact {
	if bp := less(row.rat("first_talk_yield_mid_pct"), row.rat("final_yield_pct")); row["market"] == "HY" && bp != nil {
		return fact{"tightening_bp": new(big.Rat).Mul(bp, big.NewRat(100, 1)), "tightening_basis": "yield"}
	}
	bp := less(row.rat("first_talk_mid_bp"), row.rat("final_bp"))
	if bp == nil || row["first_talk_benchmark"] == nil || row["first_talk_benchmark"] != row["final_benchmark"] {
		return fact{"tightening_bp": nil, "tightening_basis": nil}
	}
	return fact{"tightening_bp": bp, "tightening_basis": "spread"}
}

// guidance counts the revisions of price talk, and reports whether the deal priced in the last range.
func guidance(row fact, talk []talkStep) fact {
	revisions := 0
	var last fact
	for _, f := range talk {
		if f.guides {
			revisions++
		}
		if (f.guides || f.fact["value_stage"] == "TALK") && f.fact["value_lo_bp"] != nil && f.fact["value_hi_bp"] != nil && f.benchmark != "" && f.benchmark == row["final_benchmark"] {
			last = f.fact
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
func window(talk []talkStep) fact {
	var dates []string
	for _, f := range talk {
		if f.fact["date"] != nil {
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
		row["nominal_usd"] = b.fact["nominal_usd"]
		for _, rating := range []string{"all", cmp.Or(row.text("rating"), "unread")} {
			cohort := fact{"market": row["market"], "rating": rating}.key("market", "rating")
			deals[cohort] = append(deals[cohort], row.with(fact{"rating": rating}))
		}
	}
	var rows []fact
	for _, bonds := range deals {
		row := bonds[0].only("market", "rating").with(fact{"deals": count(len(bonds))})
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
		row = row.with(talkCounts(bonds))
		rows = append(rows, row)
	}
	return rows
}

// talkCounts are the numbers of deals in the averages, and of those that are left out.
func talkCounts(bonds []fact) fact {
	flagged, says, only, guided := 0, 0, 0, 0
	for _, f := range bonds {
		if f.is("cover_flagged") {
			flagged++
		}
		if f["only_final_talk"] != nil {
			says++
		}
		if f.is("only_final_talk") {
			only++
		}
		if stage := f["first_talk_stage"]; f["tightening_bp"] != nil && (stage == "GUIDANCE" || stage == "REVISED") {
			guided++
		}
	}
	return fact{
		"cover_flagged": count(flagged), "talk_n": count(says), "only_final_talk": count(only),
		"only_final_talk_share": ratioOf(1, only, says), "tightening_from_guidance_n": count(guided),
	}
}

// ratingOf is the letter of the composite rating; NULL if there is none, and a text was not read.
func ratingOf(row fact) any {
	n, ok := row["rating_composite_notch"].(int64)
	if !ok {
		for _, column := range lake.RatingColumns("rating") {
			if row[column] != nil && row[column+"_status"] != lake.ParsedNoNumber {
				return nil
			}
		}
		return "unrated"
	}
	for _, letter := range []struct {
		last int64
		text string
	}{{1, "AAA"}, {4, "AA"}, {7, "A"}, {10, "BBB"}, {13, "BB"}, {16, "B"}} {
		if n <= letter.last {
			return letter.text
		}
	}
	return "CCC"
}
