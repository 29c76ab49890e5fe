package deals

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dealflow/internal/chart"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/grid"
)

// talkCharts draws the price talk of a bond in the order of its dates: a drawing for each benchmark, because spreads over
// different ones do not compare, and one for yields. Texts that give no number are in the table alone.
func talkCharts(found *asof.Answer) []*chart.Drawing {
	rows := found.All()
	slices.SortStableFunc(rows, func(a, b asof.Row) int { return strings.Compare(a.Text("date"), b.Text("date")) })
	var names []string
	panels := map[string][]chart.Range{}
	for _, r := range rows {
		for _, measure := range []struct{ lo, hi, unit string }{
			{"value_lo_bp", "value_hi_bp", "bp over " + r.Text("value_benchmark")}, {"value_yield_lo_pct", "value_yield_hi_pct", "% yield"},
		} {
			lo, noLo := strconv.ParseFloat(r.Text(measure.lo), 64)
			hi, noHi := strconv.ParseFloat(r.Text(measure.hi), 64)
			if noLo != nil || noHi != nil {
				continue
			}
			if panels[measure.unit] == nil {
				names = append(names, measure.unit)
			}
			note := plain(lo)
			if hi > lo {
				note += " to " + plain(hi)
			}
			when := ""
			if at, err := asof.ParseInstant(r.Text("date")); err == nil {
				when = grid.ShortTime(at.Time) + " "
			}
			panels[measure.unit] = append(panels[measure.unit], chart.Range{Label: when + r.Text("value"), Lo: lo, Hi: hi, Note: note, Solid: r.Text("value_stage") == "FINAL"})
		}
	}
	var all []*chart.Drawing
	for _, name := range names {
		desc := fmt.Sprintf("A row for each of %s, from the first to the last: a line from its lower to its upper end. The mark of a final one is filled.", grid.Plural(int64(len(panels[name])), "talk", "talks"))
		all = append(all, chart.Both(func(narrow bool) *chart.Drawing {
			return chart.Ranges("Price talk, "+strings.TrimSuffix(name, " over "), desc, name, panels[name], narrow)
		}))
	}
	return all
}

// plain returns a number without zeros at its end.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
