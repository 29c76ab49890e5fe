package report

import (
	"fmt"

	"dealflow/internal/chart"
)

// leagueSection shows the league tables.
func leagueSection(d *Data) section {
	return section{ID: "league", Title: "League table", Figures: []figure{
		leagueFigure("Bonds: banks that led, last twelve months", "league_bond", "s0", d.BondLeague),
		leagueFigure("Loans: banks that led, last twelve months", "league_loan", "s4", d.LoanLeague),
	}}
}

func leagueFigure(title, query, class string, rows []Credit) figure {
	f := figure{
		Title:    title,
		Defined:  "Each deal that priced in the twelve months up to the last pull gives its nominal in USD to its lead banks in equal parts (loans: tranche by tranche)",
		Analysis: "league_table", Query: query,
		Table: table{Columns: columns(">rank", "bank", ">credit, USD bn", ">share, %", ">deals")},
	}
	c := &chart.Chart{Title: title, Desc: "Horizontal bars: the fifteen banks with the most credit, in USD, and their share of the whole.", Unit: "USD bn"}
	bar := chart.Series{Name: "credit", Class: class}
	for _, row := range rows {
		rank := chart.None
		if row.Rank != nil {
			rank = chart.Count(*row.Rank)
			c.Categories = append(c.Categories, row.Bank)
			c.Notes = append(c.Notes, fmt.Sprintf("%s · %s %%", chart.Decimals(row.USD/1e9, 2), percent(row.Share)))
			bar.Values = append(bar.Values, row.USD/1e9)
		}
		f.Table.Rows = append(f.Table.Rows, []string{rank, row.Bank, billions(row.USD), percent(row.Share), chart.Count(row.Deals)})
	}
	c.Series = []chart.Series{bar}
	f.picture(c, chart.Bars, "Nothing priced in these months that counts for a bank.")
	if len(rows) > 0 {
		f.Notes = []string{fmt.Sprintf("USD %s bn of %s with an amount in USD; %s an amount without it, which no bank gets.",
			chart.Decimals(rows[0].TotalUSD/1e9, 1), plural(rows[0].DealsTotal, "deal", "deals"), plural(rows[0].DealsUnconverted, "deal has", "deals have"))}
	}
	return f
}
