package analyses_test

import (
	"math/big"
	"slices"
	"time"
)

var _ = expect(volumeAnalyses)

func volumeAnalyses(*history) []analysis {
	var all []analysis
	for _, grain := range []string{"week", "month", "quarter", "year"} {
		all = append(all,
			analysis{
				name: "issuance_volume " + grain, question: "FROM issuance_volume('" + grain + "', %s)",
				key:    []string{"period", "service", "market", "currency"},
				answer: func(v view) []fact { return volumeOf(v, grain) },
			},
			analysis{
				name: "issuance_growth " + grain, question: "FROM issuance_growth('" + grain + "', %s)",
				key:    []string{"period", "service", "market"},
				answer: func(v view) []fact { return growthOf(v, grain) },
			})
	}
	return all
}

// issue is what a deal adds to the volume.
type issue struct {
	cell          fact // period, service, market, currency
	usd, esg, tap *big.Rat
	unconverted   bool
}

func issuesOf(v view, grain string) (issues []issue) {
	for _, b := range countedBonds(v) {
		i := issue{cell: fact{"period": periodOf(grain, b.text("pricing_date")), "service": "bond", "market": b.fact["market"], "currency": b.fact["currency"]}, usd: new(big.Rat), esg: new(big.Rat), tap: new(big.Rat)}
		if usd := converted(b.fact); usd == nil {
			i.unconverted = true
		} else {
			i.usd = usd
			if b.fact["esg_label"] != nil {
				i.esg = usd
			}
			if b.fact["deal_type"] == "INCREASE" {
				i.tap = usd
			}
		}
		issues = append(issues, i)
	}
	for _, l := range loans(v) {
		if len(l.tranches) > 0 && len(l.counted()) == 0 {
			continue
		}
		i := issue{cell: fact{"period": periodOf(grain, l.date), "service": "loan", "market": l.fact["market"], "currency": nil}, usd: new(big.Rat), esg: new(big.Rat), tap: new(big.Rat), unconverted: len(l.tranches) == 0}
		for _, tranche := range l.counted() {
			if currency := tranche.text("currency"); i.cell["currency"] == nil {
				i.cell["currency"] = tranche.fact["currency"]
			} else if tranche.fact["currency"] != nil && i.cell["currency"] != currency {
				i.cell["currency"] = "multiple"
			}
			usd := converted(tranche.fact)
			if usd == nil {
				i.unconverted = true
				continue
			}
			i.usd = sum(i.usd, usd)
			if labelOf(tranche.fact, "green_loan", "sustainability_linked") != nil {
				i.esg = sum(i.esg, usd)
			}
		}
		issues = append(issues, i)
	}
	return issues
}

// volumeOf sums the issues of each cell.
func volumeOf(v view, grain string) []fact {
	columns := []string{"period", "service", "market", "currency"}
	cells := map[string]fact{}
	for _, i := range issuesOf(v, grain) {
		cell, ok := cells[i.cell.key(columns...)]
		if !ok {
			cell = i.cell.with(fact{"deals": int64(0), "deals_unconverted": int64(0), "usd": new(big.Rat), "nominal_increases_usd": new(big.Rat), "esg_usd": new(big.Rat)})
			cells[i.cell.key(columns...)] = cell
		}
		cell["deals"] = cell["deals"].(int64) + 1
		if i.unconverted {
			cell["deals_unconverted"] = cell["deals_unconverted"].(int64) + 1
		}
		cell["usd"] = sum(cell.rat("usd"), i.usd)
		cell["esg_usd"] = sum(cell.rat("esg_usd"), i.esg)
		cell["nominal_increases_usd"] = sum(cell.rat("nominal_increases_usd"), i.tap)
	}
	var rows []fact
	for _, cell := range cells {
		cell["esg_share"] = ratio(1, cell.rat("esg_usd"), cell.rat("usd"))
		before := cells[cell.with(fact{"period": yearBefore(grain, cell["period"])}).key(columns...)]
		cell["usd_year_before"] = nil
		if before != nil && cell["period"] != nil {
			cell["usd_year_before"] = before["usd"]
		}
		rows = append(rows, cell)
	}
	return rows
}

// growthOf is the volume over all currencies, with that of the year before as it was known a year before.
func growthOf(v view, grain string) []fact {
	columns := []string{"period", "service", "market"}
	then := map[string]*big.Rat{}
	for _, row := range volumeOf(view{v.history, v.clock().AddDate(-1, 0, 0)}, grain) {
		if row["period"] != nil {
			then[row.key(columns...)] = added(then[row.key(columns...)], row.rat("usd"))
		}
	}
	now := map[string]fact{}
	for _, row := range volumeOf(v, grain) {
		key := row.key(columns...)
		if now[key] == nil {
			now[key] = row.only(columns...)
		}
		now[key]["usd"] = added(now[key].rat("usd"), row.rat("usd"))
	}
	var rows []fact
	for _, row := range now {
		before := then[row.with(fact{"period": yearBefore(grain, row["period"])}).key(columns...)]
		row["usd_year_before_then"], row["growth_pct"] = orNil(before), nil
		if before != nil {
			row["growth_pct"] = ratio(100, less(row.rat("usd"), before), before)
		}
		rows = append(rows, row)
	}
	return rows
}

// periodOf is the first day of the period of a day.
func periodOf(grain, day string) any {
	d, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return nil
	}
	year, month, _ := d.Date()
	switch grain {
	case "week":
		d = d.AddDate(0, 0, -int(d.Weekday()+6)%7)
	case "month":
		d = time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	case "quarter":
		d = time.Date(year, (month-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	case "year":
		d = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return d.Format(time.DateOnly)
}

// yearBefore is the period a year before one: of a week, 52 weeks.
func yearBefore(grain string, period any) any {
	text, _ := period.(string)
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return nil
	}
	if grain == "week" {
		return d.AddDate(0, 0, -7*52).Format(time.DateOnly)
	}
	return d.AddDate(-1, 0, 0).Format(time.DateOnly)
}

// weekdaysAfter is the n-th Monday to Friday after a day.
func weekdaysAfter(day string, n int) string {
	d, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	for n > 0 {
		d = d.AddDate(0, 0, 1)
		if !slices.Contains([]time.Weekday{time.Saturday, time.Sunday}, d.Weekday()) {
			n--
		}
	}
	return d.Format(time.DateOnly)
}
