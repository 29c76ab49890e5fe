package analyses_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

var _ = expect(leagueAnalyses)

func leagueAnalyses(*history) []analysis {
	var all []analysis
	for _, market := range []string{"IG", "HY", "EM", "BOND", "LL", "CF", "AF", "LOAN"} {
		all = append(all, league(market, "2023-06-15", "2026-01-08", "lead"))
	}
	for _, market := range []string{"BOND", "LOAN"} {
		all = append(all, league(market, "2023-06-15", "2026-01-08", "all"))
	}
	all = append(all, league("BOND", "2025-12-01", "2026-01-06", "lead"))
	for _, credit := range []string{"full", "lead"} {
		for _, market := range []string{"BOND", "LOAN"} {
			all = append(all, credited(market, "2023-06-15", "2026-01-08", "all", credit))
		}
	}
	for _, nothing := range []analysis{league("IG", "1999-01-01", "1999-12-31", "all")} {
		nothing.none = true
		all = append(all, nothing)
	}
	return all
}

func league(market, from, to, scope string) analysis {
	a := credited(market, from, to, scope, "split")
	a.question = strings.Replace(a.question, ", credit := 'split'", "", 1)
	return a
}

func credited(market, from, to, scope, credit string) analysis {
	return analysis{
		name:     fmt.Sprintf("league_table %s %s %s %s", market, from, scope, credit),
		question: fmt.Sprintf("FROM league_table('%s', DATE '%s', DATE '%s', %%s, scope := '%s', credit := '%s')", market, from, to, scope, credit),
		key:      []string{"bank"},
		answer:   func(v view) []fact { return leagueOf(v, market, from, to, scope, credit) },
	}
}

// unit is a bond deal or a loan's tranche, whose volume its banks share.
type unit struct {
	deal  string
	usd   *big.Rat // nil if it was not converted
	banks []string
}

func leagueOf(v view, market, from, to, scope, credits string) []fact {
	if credits == "lead" {
		scope = "lead"
	}
	credit, deals := map[string]*big.Int{}, map[string][]string{}
	total := new(big.Int)
	var behind, unconverted []string
	for _, u := range unitsOf(v, market, from, to, scope) {
		if u.usd == nil {
			unconverted = append(unconverted, u.deal)
			continue
		}
		behind = append(behind, u.deal)
		millionths := new(big.Int).Quo(new(big.Int).Mul(u.usd.Num(), big.NewInt(1_000_000)), u.usd.Denom())
		total.Add(total, millionths)
		parts := shares(millionths, u.banks)
		for bank, part := range parts {
			if credits == "full" {
				part = millionths
			}
			if credit[bank] == nil {
				credit[bank] = new(big.Int)
			}
			credit[bank].Add(credit[bank], part)
			deals[bank] = append(deals[bank], u.deal)
		}
	}
	banks := sortedKeys(credit)
	slices.SortStableFunc(banks, func(a, b string) int { return credit[b].Cmp(credit[a]) })
	var table []fact
	rank := int64(0)
	for _, bank := range banks {
		row := fact{
			"rank": nil, "bank": bank, "credit_usd": new(big.Rat).SetFrac(credit[bank], big.NewInt(1_000_000)),
			"share": ratio(1, new(big.Rat).SetInt(credit[bank]), new(big.Rat).SetInt(total)),
			"deals": count(distinct(deals[bank])), "total_usd": new(big.Rat).SetFrac(total, big.NewInt(1_000_000)),
			"deals_total": count(distinct(behind)), "deals_unconverted": count(distinct(unconverted)),
		}
		if bank != "unallocated" {
			rank++
			row["rank"] = rank
		}
		table = append(table, row)
	}
	return table
}

// shares cuts an amount into equal parts of whole millionths, and adds the remainder to the first bank's part.
func shares(amount *big.Int, banks []string) map[string]*big.Int {
	slices.Sort(banks)
	banks = slices.DeleteFunc(slices.Compact(banks), func(name string) bool { return name == "" })
	if len(banks) == 0 {
		return map[string]*big.Int{"unallocated": amount}
	}
	part, rest := new(big.Int).QuoRem(amount, big.NewInt(int64(len(banks))), new(big.Int))
	all := map[string]*big.Int{banks[0]: rest.Add(rest, part)}
	for _, bank := range banks[1:] {
		all[bank] = part
	}
	return all
}

func unitsOf(v view, market, from, to, scope string) (units []unit) {
	within := func(row fact, service, date string) bool {
		return (row["market"] == market || market == service) && row.text(date) >= from && row.text(date) <= to
	}
	for _, b := range countedBonds(v) {
		if within(b.fact, "BOND", "pricing_date") && b.is("league_table_eligible") {
			units = append(units, unit{b.key(byDeal...), converted(b.fact), scoped(scope, b.leads, b.banks)})
		}
	}
	for _, l := range loans(v) {
		if !within(l.fact, "LOAN", "priced_date") {
			continue
		}
		for _, tranche := range l.counted() {
			units = append(units, unit{l.key(byDeal...), converted(tranche.fact), scoped(scope, tranche.leads, tranche.banks)})
		}
	}
	return units
}

func scoped(scope string, leads, all []string) []string {
	if scope == "lead" {
		return slices.Clone(leads)
	}
	return slices.Clone(all)
}
