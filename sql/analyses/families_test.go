package analyses_test

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"dealflow/schemas/api"
)

var _ = expect(familyAnalyses)

func familyAnalyses(*history) []analysis {
	return []analysis{
		{name: "tap_family", question: "FROM tap_family(%s)", key: []string{"market", "root_deal_id"}, answer: func(v view) (rows []fact) {
			for _, f := range bondLines(v) {
				rows = append(rows, f.row(v))
			}
			return rows
		}},
		{name: "maturity_wall", question: "FROM maturity_wall(%s)", key: []string{"year", "basis", "service", "market"}, answer: wallOf},
	}
}

// family is a bond line: its counted members, the earliest first.
type family struct {
	root     record
	original *bond // nil if it is not known
	members  []bond
}

// bondLines puts bonds with equal roots together.
func bondLines(v view) (all []*family) {
	standing := map[record]*bond{}
	every := bonds(v)
	for i := range every {
		standing[record{every[i].feed, every[i].id}] = &every[i]
	}
	families := map[record]*family{}
	for _, b := range every {
		if !b.is("counted") {
			continue
		}
		root := rootOf(standing, record{b.feed, b.id})
		if families[root] == nil {
			families[root] = &family{root: root}
			if at := standing[root]; at != nil && at.text("deal_type") != "INCREASE" {
				families[root].original = at
			}
			all = append(all, families[root])
		}
		families[root].members = append(families[root].members, b)
	}
	for _, f := range all {
		slices.SortFunc(f.members, func(a, b bond) int {
			return cmp.Or(cmp.Compare(a.text("pricing_date"), b.text("pricing_date")), cmp.Compare(a.id, b.id), cmp.Compare(a.feed.Market, b.feed.Market))
		})
	}
	return all
}

// rootOf follows originals, to the deal of the market that keeps each. Of a circle the least deal is the root.
func rootOf(standing map[record]*bond, at record) record {
	var path []record
	for {
		if i := slices.Index(path, at); i >= 0 {
			return slices.MinFunc(path[i:], func(a, b record) int {
				return cmp.Or(cmp.Compare(a.feed.Market, b.feed.Market), cmp.Compare(a.id, b.id))
			})
		}
		path = append(path, at)
		b := standing[at]
		if b == nil {
			return at
		}
		next, ok := linkOf(api.Bond, b.fact, "original")
		if !ok || next.feed.Market == "" {
			return at
		}
		if original := standing[next]; original != nil && !original.is("counted") {
			next = original.kept
		}
		if next == at {
			return at
		}
		at = next
	}
}

// row is the line as a row of tap_family.
func (f *family) row(v view) fact {
	original := f.original
	var taps []bond
	var size, usd *big.Rat
	unconverted := 0
	for i := range f.members {
		b := &f.members[i]
		if (record{b.feed, b.id}) != f.root || original == nil {
			taps = append(taps, *b)
		}
		if nominal := b.rat("nominal_amount"); nominal != nil {
			size = added(size, nominal)
		}
		if worth := converted(b.fact); worth != nil {
			usd = added(usd, worth)
		} else {
			unconverted++
		}
	}
	latest := f.members[len(f.members)-1]
	row := fact{
		"market": string(f.root.feed.Market), "root_deal_id": f.root.id, "unconverted": count(unconverted), "increases": count(len(taps)), "line_size": orNil(size), "line_size_usd": orNil(usd),
		"source_total": latest.fact["total_nominal_amount"], "mismatch": orNil(less(latest.rat("total_nominal_amount"), size)),
		"original_date": nil, "original_nominal": nil, "original_spread_bp": nil, "last_increase_date": nil, "last_tap_spread_bp": nil,
		"tap_spread_change_bp": nil, "original_known": original != nil, "taps_12m": count(f.recent(v, taps)),
	}
	who := &f.members[0]
	if original != nil {
		who = original
		row["original_date"], row["original_nominal"], row["original_spread_bp"] = original.fact["pricing_date"], original.fact["nominal_amount"], original.fact["spread_primary_bp"]
	}
	for _, column := range []string{"borrower", "currency", "isin_code"} {
		row[column] = who.fact[column]
	}
	if len(taps) > 0 {
		tap := taps[len(taps)-1]
		row["last_increase_date"], row["last_tap_spread_bp"] = tap.fact["pricing_date"], tap.fact["spread_primary_bp"]
		if original != nil && tap.fact["spread_primary_benchmark"] != nil && tap.fact["spread_primary_benchmark"] == original.fact["spread_primary_benchmark"] {
			row["tap_spread_change_bp"] = orNil(less(tap.rat("spread_primary_bp"), original.rat("spread_primary_bp")))
		}
	}
	return row
}

// recent counts the increases of the last 365 days.
func (f *family) recent(v view, taps []bond) int {
	n := 0
	for _, tap := range taps {
		if day, err := time.Parse(time.DateOnly, tap.text("pricing_date")); err == nil {
			today, _ := time.Parse(time.DateOnly, v.today())
			if age := between(day, today); age >= 0 && age < 365 {
				n++
			}
		}
	}
	return n
}

// due returns when a line matures: year and basis; ok is false if that is past.
func (f *family) due(v view) (year any, basis string, ok bool) {
	latest := func(column string) (value string) {
		for _, b := range f.members {
			value = cmp.Or(b.text(column), value)
		}
		return value
	}
	maturity, call := latest("maturity"), latest("first_call_date")
	perpetual := f.members[len(f.members)-1].is("perpetual") || maturity >= "9000"
	switch {
	case perpetual && call >= v.today():
		return yearOf(call), "first call", true
	case perpetual || maturity == "":
		return nil, "none", true
	}
	return yearOf(maturity), "date", maturity >= v.today()
}

func yearOf(day string) any {
	if day == "" {
		return nil
	}
	year, err := strconv.ParseInt(day[:4], 10, 64)
	if err != nil {
		panic(err)
	}
	return year
}

func wallOf(v view) (rows []fact) {
	columns := []string{"year", "basis", "service", "market"}
	cells := map[string]fact{}
	add := func(cell fact, usd *big.Rat, whole bool) {
		at, ok := cells[cell.key(columns...)]
		if !ok {
			at = cell.with(fact{"lines": int64(0), "usd": new(big.Rat), "unconverted": int64(0)})
			cells[cell.key(columns...)] = at
			rows = append(rows, at)
		}
		at["lines"] = at["lines"].(int64) + 1
		at["usd"] = sum(at.rat("usd"), usd)
		if !whole {
			at["unconverted"] = at["unconverted"].(int64) + 1
		}
	}
	for _, f := range bondLines(v) {
		year, basis, ok := f.due(v)
		usd, whole := new(big.Rat), true
		for _, b := range f.members {
			worth := converted(b.fact)
			whole = whole && worth != nil
			usd = sum(usd, cmp.Or(worth, new(big.Rat)))
		}
		if ok {
			add(fact{"year": year, "basis": basis, "service": "bond", "market": string(f.root.feed.Market)}, usd, whole)
		}
	}
	for _, l := range loans(v) {
		for _, tranche := range l.counted() {
			cell := fact{"year": tranche.fact["maturity_year"], "basis": "date", "service": "loan", "market": l.fact["market"]}
			if cell["year"] == nil {
				cell["year"], cell["basis"] = yearByTenor(l, tranche.fact)
			}
			usd := converted(tranche.fact)
			if cell["year"] == nil || cell["year"].(int64) >= yearOf(v.today()).(int64) {
				add(cell, cmp.Or(usd, new(big.Rat)), usd != nil)
			}
		}
	}
	return rows
}

// yearByTenor is the year in which a loan's tranche falls due by its tenor, counted from its pricing.
func yearByTenor(l loan, tranche fact) (year any, basis string) {
	day := cmp.Or(tranche.text("pricing_date"), l.date)
	months := tenorMonths(tranche.rat("maturity_tenor_years"), tranche["tenor"])
	if day == "" || months == nil {
		return nil, "none"
	}
	return monthsAfter(day, *months) / 12, "tenor"
}

// tenorMonths is a tenor in months; nil if it is not known, or its unit is not months.
func tenorMonths(years *big.Rat, tenor any) *int64 {
	if years != nil {
		months, _ := new(big.Rat).Mul(years, big.NewRat(12, 1)).Float64()
		rounded := int64(math.Round(months))
		return &rounded
	}
	if months, ok := tenor.(int64); ok && months >= 12 && months <= 480 {
		return &months
	}
	return nil
}

// monthsAfter counts the months since the year 0 up to the month that is some months after a day.
func monthsAfter(day string, months int64) int64 {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return int64(at.Year())*12 + int64(at.Month()) - 1 + months
}
