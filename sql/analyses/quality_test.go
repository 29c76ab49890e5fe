package analyses_test

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

var _ = expect(qualityAnalyses)

func qualityAnalyses(*history) []analysis {
	return []analysis{
		{
			name: "data_quality", question: "SELECT * EXCLUDE (note) FROM data_quality(%s)",
			key: []string{"service", "market", "kind", "name"}, answer: qualityOf,
		},
		{
			name: "parse_coverage", question: "FROM parse_coverage(%s)",
			key: []string{"service", "market", "table_name", "field", "year"}, answer: coverageOf,
		},
	}
}

// inspection contains the findings of the checks.
type inspection struct {
	checks map[string]*findings
}

// findings is what one check found in one feed.
type findings struct {
	feed          api.Feed
	name          string
	failed, total int
	ids           []int64
	names         bool // it counts names, which have other examples
}

// look records one thing that was checked.
func (i *inspection) look(d *deal, name string, failed bool) {
	key := d.feed.String() + name
	if i.checks[key] == nil {
		i.checks[key] = &findings{feed: d.feed, name: name}
	}
	f := i.checks[key]
	f.total++
	if failed {
		f.failed++
		f.ids = append(f.ids, d.id)
	}
}

func qualityOf(v view) (rows []fact) {
	i := inspection{map[string]*findings{}}
	i.lookAtBonds(v)
	i.lookAtLoans(v)
	i.lookAtLinks(v)
	i.lookAtNames(v)
	for _, service := range []api.Service{api.Bond, api.Loan} {
		for _, kind := range []api.Kind{api.Priced, api.Expected} {
			for _, k := range v.standing(service, kind) {
				i.lookAtTexts(&k)
				i.lookAtDates(v, &k)
			}
		}
	}
	for _, f := range i.checks {
		row := fact{
			"service": string(f.feed.Service), "market": string(f.feed.Market), "kind": string(f.feed.Kind), "name": f.name,
			"value": count(f.failed), "total": count(f.total), "share": ratioOf(1, f.failed, f.total),
		}
		if !f.names {
			row["example"] = textOrNil(examples(f.ids))
		}
		rows = append(rows, row)
	}
	return slices.SortedFunc(slices.Values(rows), func(a, b fact) int { return b2i(len(a) < len(b)) - b2i(len(b) < len(a)) })
}

// examples are the five least ids.
func examples(ids []int64) string {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var texts []string
	for _, id := range ids[:min(5, len(ids))] {
		texts = append(texts, fmt.Sprint(id))
	}
	return strings.Join(texts, ", ")
}

func (i *inspection) lookAtBonds(v view) {
	for _, b := range bonds(v) {
		i.lookAtAmount(b.deal, b.fact)
		books, nominal := b.rat("stats_final_books"), b.rat("nominal_amount")
		if books != nil && nominal != nil && nominal.Sign() != 0 {
			cover := new(big.Rat).Quo(books, nominal)
			i.look(b.deal, "unit_outlier_books", cover.Cmp(big.NewRat(1, 2)) < 0 || cover.Cmp(big.NewRat(20, 1)) > 0)
		}
		i.look(b.deal, "duplicate_in_two_markets", !b.is("counted"))
		for _, table := range []string{"investor_types", "geographies"} {
			total := new(big.Rat)
			for _, row := range b.rows(b.now, table) {
				total = sum(total, orZero(row.rat("value")))
			}
			if len(b.rows(b.now, table)) > 0 {
				i.look(b.deal, "map_sum_off_"+table, total.Cmp(big.NewRat(97, 1)) < 0 || total.Cmp(big.NewRat(103, 1)) > 0)
			}
		}
		if banks := b.rows(b.now, "banks"); named(banks) {
			i.look(b.deal, "duplicate_banks", twice(banks))
		}
	}
}

// lookAtAmount checks the size of a bond or of a loan's tranche.
func (i *inspection) lookAtAmount(d *deal, row fact) {
	usd, amount, rate := converted(row), row.rat("nominal_amount"), row.rat("fx_rate_usd")
	i.look(d, "usd_zero", usd == nil)
	i.look(d, "missing_currency", row.text("currency") == "")
	if usd == nil {
		return
	}
	worth := new(big.Rat).Abs(usd)
	i.look(d, "unit_outlier_nominal", usd.Cmp(big.NewRat(100_000_000_000, 1)) >= 0 || usd.Sign() > 0 && usd.Cmp(big.NewRat(100_000, 1)) < 0)
	if amount == nil || rate == nil || rate.Sign() == 0 {
		return
	}
	off := func(by *big.Rat) bool {
		distance := less(by, usd)
		return distance.Abs(distance).Cmp(new(big.Rat).Quo(worth, big.NewRat(100, 1))) > 0
	}
	i.look(d, "usd_off", off(new(big.Rat).Mul(amount, rate)) && off(new(big.Rat).Quo(amount, rate)))
}

// named reports whether any bank has a name.
func named(banks []fact) bool {
	return slices.ContainsFunc(banks, func(bank fact) bool { return normalName(bank["name"]) != "" })
}

// twice reports whether a bank is in a list twice.
func twice(banks []fact) bool {
	seen := map[string]bool{}
	for _, bank := range banks {
		name := normalName(bank["name"])
		if name != "" && seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

func (i *inspection) lookAtLoans(v view) {
	for _, l := range loans(v) {
		all := l.rows(l.now, "tranche_banks")
		duplicate := false
		for _, tranche := range l.tranches {
			i.lookAtAmount(l.deal, tranche.fact)
			i.lookAtTenor(&l, &tranche)
			duplicate = duplicate || twice(slices.DeleteFunc(slices.Clone(all), func(bank fact) bool { return bank["tranche_ordinal"] != tranche.fact["ordinal"] }))
		}
		if named(all) {
			i.look(l.deal, "duplicate_banks", duplicate)
		}
	}
}

// lookAtTenor checks a loan's tenor, and compares it with the maturity.
func (i *inspection) lookAtTenor(l *loan, tranche *loanTranche) {
	i.look(l.deal, "duplicate_in_two_markets", tranche.keeper != nil)
	if tranche.fact["tenor"] == nil {
		return
	}
	months := tenorMonths(nil, tranche.fact["tenor"])
	i.look(l.deal, "tenor_unit", months == nil)
	day := cmp.Or(tranche.text("pricing_date"), l.date)
	year, isYear := tranche.fact["maturity_year"].(int64)
	month, isMonth := tranche.fact["maturity_month"].(int64)
	stated := tenorMonths(tranche.rat("maturity_tenor_years"), nil)
	switch {
	case months == nil:
	case isYear && day != "":
		earliest, latest := year*12, year*12+11 // months since the year 0
		if isMonth {
			earliest, latest = year*12+month-1, year*12+month-1
		}
		due := monthsAfter(day, *months)
		i.look(l.deal, "maturity_off_tenor", earliest-due > 6 || due-latest > 6)
	case !isYear && stated != nil:
		i.look(l.deal, "maturity_off_tenor", max(*stated-*months, *months-*stated) > 6)
	}
}

func (i *inspection) lookAtLinks(v view) {
	for _, b := range bonds(v) {
		if to, ok := linkOf(api.Bond, b.fact, "original"); ok {
			original := v.deals[to.feed][to.id]
			i.look(b.deal, "dangling_original", original == nil || !v.stands(original))
		}
	}
	for _, service := range []api.Service{api.Bond, api.Loan} {
		for _, k := range v.standing(service, api.Expected) {
			for _, link := range linksOf(k.deal, k.now) {
				priced := v.deals[link.feed][link.id]
				i.look(k.deal, "dangling_priced_deal", priced == nil || len(v.versions(priced)) == 0)
			}
		}
	}
}

// roles are the roles of banks that the program knows, in normal form.
var roles = []string{
	"bookrunner", "active bookrunner", "passive bookrunner", "joint bookrunner", "sole bookrunner", "lead manager", "joint lead manager",
	"sole lead manager", "global coordinator", "joint global coordinator", "sole global coordinator", "b&d", "bookrunners", "jlm", "global co-ordinator",
	"co-lead", "co-lead manager", "co-manager", "senior co-manager", "junior co-manager", "structurer", "structuring agent",
}

func (v view) stands(d *deal) bool {
	versions := v.versions(d)
	return len(versions) > 0 && versions[len(versions)-1].change != "removed"
}

func (i *inspection) lookAtNames(v view) {
	type place struct{ feed, check, name string }
	seen := map[place]bool{}
	look := func(d *deal, check string, known aliases, name any) {
		at := place{d.feed.String(), check, normalName(name)}
		if at.name == "" || seen[at] {
			return
		}
		seen[at] = true
		i.look(d, check, known != nil && !known.knows(at.name) || known == nil && !slices.Contains(roles, at.name))
		i.checks[d.feed.String()+check].names = true
	}
	for _, service := range []api.Service{api.Bond, api.Loan} {
		for _, kind := range []api.Kind{api.Priced, api.Expected} {
			for _, k := range v.standing(service, kind) {
				look(k.deal, "unknown_borrowers", v.companyNames, k.row()["borrower_name"])
				for _, table := range []string{"banks", "tranche_banks"} {
					for _, bank := range k.rows(k.now, table) {
						look(k.deal, "unknown_banks", v.bankNames, bank["name"])
						look(k.deal, "unknown_roles", nil, bank["status"])
					}
				}
			}
		}
	}
}

func (i *inspection) lookAtTexts(k *known) {
	for _, table := range lake.FeedTables(k.feed) {
		for _, row := range k.now.tables[table.Name] {
			for _, field := range textColumns(table) {
				if row[field] != nil {
					status := row[field+"_status"]
					i.look(k.deal, "unparsed_"+table.Name+"."+field, status == "UNPARSED" || status == "AMBIGUOUS")
				}
			}
		}
	}
}

// textColumns are those that parsers read.
func textColumns(table *lake.Table) (names []string) {
	for _, helper := range table.Helpers {
		if helper.Parse.Part == lake.PartStatus {
			names = append(names, helper.Parse.From)
		}
	}
	return names
}

func (i *inspection) lookAtDates(v view, k *known) {
	if k.feed.Kind != api.Priced {
		return
	}
	date := k.date()
	i.look(k.deal, "pricing_date_missing", date == "")
	if date != "" {
		i.look(k.deal, "pricing_in_future", date > v.clock().AddDate(0, 0, 1).Format(time.DateOnly))
	}
}

// date is the day of pricing; "" for none.
func (k *known) date() string {
	if k.feed.Service == api.Loan {
		return k.row().text("priced_date")
	}
	return k.row().text("pricing_date")
}

func coverageOf(v view) (rows []fact) {
	cells := map[string]fact{}
	for _, service := range []api.Service{api.Bond, api.Loan} {
		for _, kind := range []api.Kind{api.Priced, api.Expected} {
			for _, k := range v.standing(service, kind) {
				year := yearOf(k.now.at.Format(time.DateOnly))
				if kind == api.Priced {
					year = yearOf(k.date())
				}
				for _, table := range lake.FeedTables(k.feed) {
					for _, row := range k.now.tables[table.Name] {
						for _, field := range textColumns(table) {
							if row[field] != nil {
								cell := fact{"service": string(service), "market": string(k.feed.Market), "table_name": table.Name, "field": field, "year": year, "parser_version": row["parser_version"]}
								coverText(cells, cell, row.text(field+"_status"))
							}
						}
					}
				}
			}
		}
	}
	for _, cell := range cells {
		n := func(column string) int { return int(cell[column].(int64)) }
		rows = append(rows, cell.with(fact{"parsed_share": ratioOf(1, n("ok")+n("range"), n("texts")-n("no_number"))}))
	}
	return rows
}

// coverText counts a text by its parsing status.
func coverText(cells map[string]fact, cell fact, status string) {
	key := cell.all()
	if cells[key] == nil {
		cells[key] = cell
		for _, column := range []string{"texts", "ok", "range", "verbal", "no_number", "ambiguous", "unparsed"} {
			cell[column] = int64(0)
		}
	}
	column := strings.ToLower(strings.TrimSuffix(status, "_YIELD"))
	cells[key]["texts"] = cells[key]["texts"].(int64) + 1
	cells[key][column] = cells[key][column].(int64) + 1
}
