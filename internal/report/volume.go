package report

import (
	"fmt"

	"dealflow/internal/chart"
)

// volumeSection shows the issuance by month.
func volumeSection(d *Data) section {
	f := figure{
		Title:    "Issuance by month",
		Defined:  "Nominal in USD of priced deals, by month of pricing; a security that two markets list counts once, an increase by itself",
		Analysis: "issuance_volume", Query: "volume",
		Table: table{Columns: columns("month")},
	}
	keys, shown := months(d.State.ObservedAt), markets()
	c := &chart.Chart{Title: f.Title, Desc: "Vertical bars: issuance in each of 24 months, by market.", Unit: "USD bn", Categories: keys}
	c.Series = byMarket(shown, keys, d.Volume, func(v *Volume) (string, string, float64) { return v.Month, v.Market, v.USD / 1e9 })
	for _, m := range shown {
		f.Table.Columns = append(f.Table.Columns, column{m.Name(), true})
	}
	f.Table.Columns = append(f.Table.Columns, columns(">all, USD bn", ">deals", ">without USD")...)
	sums := map[string]*Volume{}
	var all Volume
	for _, v := range d.Volume {
		if sums[v.Month] == nil {
			sums[v.Month] = &Volume{}
		}
		for _, sum := range []*Volume{sums[v.Month], &all} {
			sum.Deals += v.Deals
			sum.Unconverted += v.Unconverted
			sum.USD += v.USD
		}
	}
	for i, key := range keys {
		cells := []string{key}
		for j := range c.Series {
			v, _ := c.Series[j].ValueAt(i)
			cells = append(cells, chart.Decimals(v, 3))
		}
		sum := sums[key]
		if sum == nil {
			sum = &Volume{}
		}
		f.Table.Rows = append(f.Table.Rows, append(cells, billions(sum.USD), chart.Count(sum.Deals), chart.Count(sum.Unconverted)))
	}
	f.Notes = []string{fmt.Sprintf("USD %s bn. %s deals are included in full; the others have amounts that were not converted to USD.", chart.Decimals(all.USD/1e9, 1), outOf(all.Deals-all.Unconverted, all.Deals))}
	f.picture(c, chart.Stacked, "Nothing priced in these months.")
	return section{ID: "volume", Title: "Issuance volume", Figures: []figure{f}}
}
