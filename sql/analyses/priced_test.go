package analyses_test

import (
	"math/big"
	"slices"
	"strings"

	"dealflow/schemas/api"
)

// Columns that several answers have in common.
var (
	byDeal   = []string{"market", "deal_id"}
	bondAdds = []string{
		"first_known_at", "left_censored", "versions", "borrower", "grade_canon", "spread_primary_bp", "spread_primary_benchmark", "spread_primary_source",
		"nip_primary_bp", "nip_primary_source", "esg_label", "banks", "lead_banks", "price_steps", "counted", "duplicate_of",
	}
	loanAdds = []string{
		"first_known_at", "left_censored", "borrower", "sponsors", "tranches", "tranches_usd", "tranches_unconverted", "banks", "lead_banks",
		"margin_lo_bp", "margin_hi_bp", "oid_lo", "oid_hi", "latest_maturity_year", "covenant_light", "has_tlb",
	}
)

var _ = expect(pricedAnalyses)

func pricedAnalyses(h *history) []analysis {
	bond, loan := append(h.columns("bond_priced_deals"), bondAdds...), append(h.columns("loan_priced_deals"), loanAdds...)
	return []analysis{
		{name: "bond_priced_as_of", question: selected(bond) + " FROM bond_priced_as_of(%s)", key: byDeal, answer: func(v view) (rows []fact) {
			for _, b := range bonds(v) {
				rows = append(rows, b.only(bond...))
			}
			return rows
		}},
		{name: "loan_priced_as_of", question: selected(loan) + " FROM loan_priced_as_of(%s)", key: byDeal, answer: func(v view) (rows []fact) {
			for _, l := range loans(v) {
				rows = append(rows, l.only(loan...))
			}
			return rows
		}},
	}
}

// columns are the key and the documented columns of a flattened table.
func (h *history) columns(table string) (names []string) {
	for _, c := range h.tables[table].Columns {
		names = append(names, c.Name)
	}
	return names
}

func selected(columns []string) string { return `SELECT "` + strings.Join(columns, `", "`) + `"` }

// bonds returns the current priced bond deals, with what analyses add to them.
func bonds(v view) []bond {
	var all []bond
	keeper := map[string]string{} // market in which a security counts
	keeps := map[string]int64{}   // its least deal there
	standing := v.standing(api.Bond, api.Priced)
	for _, k := range standing {
		// IG comes before HY, and HY before EM: the reverse of the alphabet.
		if s := security(k.row()); s != "" && k.row().text("market") > keeper[s] {
			keeper[s], keeps[s] = k.row().text("market"), k.id
		} else if s != "" && k.row().text("market") == keeper[s] {
			keeps[s] = min(keeps[s], k.id)
		}
	}
	for i := range standing {
		k := &standing[i]
		row := k.row()
		b := bond{fact: row.with(primaries(row)), known: *k}
		for _, bank := range k.rows(k.now, "banks") {
			name := v.bankNames.canonical(bank["name"], row.text("pricing_date"))
			b.banks = append(b.banks, name)
			if isLead(bank) {
				b.leads = append(b.leads, name)
			}
		}
		market := keeper[security(row)]
		counted := security(row) == "" || market == row.text("market")
		more := fact{
			"first_known_at": instant(k.first), "left_censored": k.left, "versions": k.now.number,
			"borrower":    textOrNil(v.companyNames.canonical(row["borrower_name"], row.text("pricing_date"))),
			"grade_canon": gradeOf(row), "esg_label": labelOf(row, "green", "social", "sustainable", "sustainability_linked"),
			"banks": count(distinct(b.banks)), "lead_banks": count(distinct(b.leads)),
			"price_steps": count(len(k.rows(k.now, "price_evolution"))), "counted": counted, "duplicate_of": nil,
		}
		if !counted {
			more["duplicate_of"] = market
			b.kept = record{api.Feed{Service: api.Bond, Market: api.Market(market), Kind: api.Priced}, keeps[security(row)]}
		}
		b.fact = b.with(more)
		all = append(all, b)
	}
	return all
}

// bond is a priced bond deal as known at an instant.
type bond struct {
	fact
	known
	banks, leads []string // canonical names, one per entry
	kept         record   // the deal of another market that counts in its place
}

// countedBonds returns the bonds that no other market counts.
func countedBonds(v view) []bond {
	return slices.DeleteFunc(bonds(v), func(b bond) bool { return !b.is("counted") })
}

// security identifies a security that two markets may list; "" if that is unknown.
func security(row fact) string {
	if row.text("isin_code") == "" || row["pricing_date"] == nil || row["deal_type"] == nil || row["nominal_amount"] == nil {
		return ""
	}
	return row.key("isin_code", "pricing_date", "deal_type", "nominal_amount")
}

func isLead(bank fact) bool {
	return slices.Contains([]string{
		"bookrunner", "active bookrunner", "passive bookrunner", "joint bookrunner", "bookrunners", "lead manager", "joint lead manager", "jlm",
		"global coordinator", "joint global coordinator", "global co-ordinator", "b&d",
	}, normalName(bank["status"]))
}

func gradeOf(row fact) any {
	grade := strings.ToUpper(row.text("grade"))
	if grade == "HIGH_YIELD" {
		return "SUB_INVESTMENT"
	}
	return textOrNil(grade)
}

// labelOf is the one label of green, social, sustainable and linked columns.
func labelOf(row fact, columns ...string) any {
	words := map[string]string{
		"green": "green", "green_loan": "green", "social": "social", "sustainable": "sustainability", "sustainability_linked": "slb",
	}
	var labels []string
	for _, c := range columns {
		if row.is(c) {
			labels = append(labels, words[c])
		}
	}
	switch len(labels) {
	case 0:
		return nil
	case 1:
		return labels[0]
	}
	return "multiple"
}

// primaries are the spread and the premium that a market states.
func primaries(row fact) fact {
	source, nip := "spread", "nip"
	if row["market"] == "EM" {
		source = "swap"
		if status := row.text("premium_nip_status"); (status == "OK" || status == "RANGE") && middle(row.rat("premium_nip_lo_bp"), row.rat("premium_nip_hi_bp")) != nil {
			nip = "premium_nip"
		}
	}
	var bp, premium any
	if row[source+"_status"] == "OK" {
		bp = row[source+"_bp"]
	}
	if status := row[nip+"_status"]; status == "OK" || status == "RANGE" {
		premium = near(middle(row.rat(nip+"_lo_bp"), row.rat(nip+"_hi_bp")))
	}
	return fact{
		"spread_primary_bp": bp, "spread_primary_benchmark": row[source+"_benchmark"], "spread_primary_source": source,
		"nip_primary_bp": premium, "nip_primary_source": nip,
	}
}

// loan is a priced loan deal as known at an instant.
type loan struct {
	fact
	known
	date     string // of pricing
	tranches []loanTranche
}

// loanTranche is one of its tranches.
type loanTranche struct {
	fact
	banks, leads []string // canonical
	keeper       any      // the market that keeps it if several list it and this one does not; nil if it counts
}

func loans(v view) []loan {
	all := everyLoan(v)
	// A tranche that several markets list is kept by the first of LL, CF and AF.
	listed := map[string]int{}
	order := []string{"LL", "CF", "AF"}
	identity := func(l *loan, t *loanTranche) string {
		if t.text("figi_code") == "" || l.date == "" || t.fact["currency"] == nil || t.fact["nominal_amount"] == nil {
			return ""
		}
		return t.key("figi_code", "currency", "nominal_amount") + l.date
	}
	each := func(do func(l *loan, t *loanTranche, key string, market int)) {
		for i := range all {
			for j := range all[i].tranches {
				l, t := &all[i], &all[i].tranches[j]
				if key := identity(l, t); key != "" {
					do(l, t, key, slices.Index(order, l.text("market")))
				}
			}
		}
	}
	each(func(_ *loan, _ *loanTranche, key string, market int) {
		if first, ok := listed[key]; !ok || market < first {
			listed[key] = market
		}
	})
	each(func(_ *loan, t *loanTranche, key string, market int) {
		if listed[key] < market {
			t.keeper = order[listed[key]]
		}
	})
	return all
}

// counted are the tranches that no other market keeps.
func (l *loan) counted() []loanTranche {
	return slices.DeleteFunc(slices.Clone(l.tranches), func(t loanTranche) bool { return t.keeper != nil })
}

func everyLoan(v view) []loan {
	var all []loan
	for _, k := range v.standing(api.Loan, api.Priced) {
		row := k.row()
		l := loan{known: k, date: row.text("priced_date")}
		var names []string
		for _, sponsor := range k.rows(k.now, "sponsors") {
			if sponsor["name"] != nil {
				names = append(names, sponsor.text("name"))
			}
		}
		for _, tranche := range k.rows(k.now, "tranches") {
			l.tranches = append(l.tranches, v.loanTranche(&k, tranche, l.date))
		}
		l.fact = row.with(trancheSums(l.tranches)).with(fact{
			"first_known_at": instant(k.first), "left_censored": k.left, "sponsors": nil,
			"borrower": textOrNil(v.companyNames.canonical(row["borrower_name"], l.date)),
		})
		if len(names) > 0 {
			l.fact["sponsors"] = strings.Join(names, "; ")
		}
		all = append(all, l)
	}
	return all
}

func (v view) loanTranche(k *known, tranche fact, date string) loanTranche {
	t := loanTranche{fact: tranche}
	for _, bank := range k.rows(k.now, "tranche_banks") {
		if bank["tranche_ordinal"] != tranche["ordinal"] {
			continue
		}
		name := v.bankNames.canonical(bank["name"], date)
		t.banks = append(t.banks, name)
		if bank.is("type_bookrunner") || bank.is("type_mla") {
			t.leads = append(t.leads, name)
		}
	}
	return t
}

// trancheSums are the sums over a deal's tranches.
func trancheSums(tranches []loanTranche) fact {
	f := fact{
		"tranches": count(len(tranches)), "tranches_usd": nil, "tranches_unconverted": nil, "margin_lo_bp": nil, "margin_hi_bp": nil, "oid_lo": nil,
		"oid_hi": nil, "latest_maturity_year": nil, "covenant_light": nil, "has_tlb": false,
	}
	unconverted := 0
	var banks, leads []string
	for _, t := range tranches {
		if usd := converted(t.fact); usd != nil {
			f["tranches_usd"] = added(f.rat("tranches_usd"), usd)
		} else {
			unconverted++
		}
		banks, leads = append(banks, t.banks...), append(leads, t.leads...)
		f["margin_lo_bp"] = extreme(f.rat("margin_lo_bp"), t.rat("margin_lo_bp"), -1)
		f["margin_hi_bp"] = extreme(f.rat("margin_hi_bp"), t.rat("margin_hi_bp"), 1)
		f["oid_lo"] = extreme(f.rat("oid_lo"), t.rat("oid_lo"), -1)
		f["oid_hi"] = extreme(f.rat("oid_hi"), t.rat("oid_hi"), 1)
		f["latest_maturity_year"] = extreme(f.rat("latest_maturity_year"), t.rat("maturity_year"), 1)
		if t.fact["covenant_light"] != nil {
			f["covenant_light"] = f.is("covenant_light") || t.is("covenant_light")
		}
		f["has_tlb"] = f.is("has_tlb") || isTLB(t.fact)
	}
	f["tranches_unconverted"], f["banks"], f["lead_banks"] = count(unconverted), count(distinct(banks)), count(distinct(leads))
	return f
}

func isTLB(tranche fact) bool { return strings.ToUpper(tranche.text("short_type")) == "TLB" }

// converted returns a record's amount in USD; nil if it was not converted.
func converted(row fact) *big.Rat {
	usd := row.rat("nominal_usd")
	if usd == nil || usd.Sign() == 0 {
		return nil
	}
	return usd
}

// added is a sum that may not have begun.
func added(to, r *big.Rat) *big.Rat {
	if to == nil {
		return r
	}
	return sum(to, r)
}

// extreme is the greater of two (sign 1) or the lesser (-1); if one is nil, the other.
func extreme(a, b *big.Rat, sign int) any {
	if a == nil || b != nil && b.Cmp(a) == sign {
		a = b
	}
	return orNil(a)
}
