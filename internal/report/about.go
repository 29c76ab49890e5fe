package report

import (
	"fmt"

	"dealflow/internal/chart"
)

// aboutSection describes the lake, the report's instant, and the last run.
func aboutSection(d *Data) section {
	asOf := d.AsOf
	if asOf == "infinity" {
		asOf = "all that is known"
	}
	return section{
		ID: "about", Title: "What this is",
		Facts: []fact{
			{"Lake", d.Lake},
			{"As of", asOf},
			{"Commit", fmt.Sprintf("%s, known at %s", chart.Count(d.State.Commit), instant(d.State.KnownAt))},
			{"Last pull", fmt.Sprintf("%s, known at %s", d.State.Outcome, instant(d.State.ObservedAt))},
			{"Observed", fmt.Sprintf("%s since %s", plural(d.State.Pulls, "pull", "pulls"), instant(d.State.FirstKnown))},
		},
		Figures: []figure{feedsFigure(d.Feeds), checksFigure(d.Checks)},
	}
}

func feedsFigure(feeds []Feed) figure {
	f := figure{
		Title:    "The last complete run, feed by feed",
		Defined:  "Deals that the run saw for the first time, with other content than before, or no longer in the list; deals is the size of the snapshot",
		Analysis: "feed_runs", Query: "feeds",
		Table: table{Columns: columns("feed", "outcome", ">deals", ">added", ">changed", ">removed", ">reappeared", ">quarantined", ">drift")},
	}
	c := &chart.Chart{
		Title: f.Title, Desc: "Horizontal bars: for each feed, the number of deals that were added, changed, removed, or back.", Unit: "deals",
		Series: chart.Changes("added"),
	}
	var sums [4]int64
	var deals int64
	for _, feed := range feeds {
		name := feedName(feed.Service, feed.Market, feed.Kind)
		c.Categories = append(c.Categories, name)
		c.Notes = append(c.Notes, fmt.Sprintf("of %s", chart.Count(feed.Deals)))
		for i, n := range []int64{feed.Added, feed.Changed, feed.Removed, feed.Reappeared} {
			c.Series[i].Values = append(c.Series[i].Values, float64(n))
			sums[i] += n
		}
		deals += feed.Deals
		f.Table.Rows = append(f.Table.Rows, []string{
			name, feed.Outcome, chart.Count(feed.Deals), chart.Count(feed.Added), chart.Count(feed.Changed), chart.Count(feed.Removed), chart.Count(feed.Reappeared), chart.Count(feed.Quarantined), chart.Count(feed.Drift),
		})
	}
	f.picture(c, chart.Bars, "Nothing changed in the last run, or there was none.")
	if len(feeds) > 0 {
		f.Notes = []string{fmt.Sprintf("%s in %s: %s added, %s changed, %s removed, %s back.", plural(deals, "deal", "deals"),
			plural(int64(len(feeds)), "feed", "feeds"), chart.Count(sums[0]), chart.Count(sums[1]), chart.Count(sums[2]), chart.Count(sums[3]))}
	}
	return f
}

func checksFigure(checks []Check) figure {
	f := figure{
		Title:    "Quality checks",
		Defined:  "What the declared checks said before the last checked commit; one that holds lets nothing be committed",
		Analysis: "checks", Query: "checks",
		Table: table{Columns: columns("check", "severity", "outcome", ">found", "what"), Open: true},
	}
	if len(checks) == 0 {
		f.Empty = "No commit was checked."
	}
	var passed int64
	for _, c := range checks {
		if c.Outcome == "passed" {
			passed++
		}
		f.Table.Rows = append(f.Table.Rows, []string{c.Name, c.Severity, c.Outcome, chart.Count(c.Count), c.Detail})
	}
	if len(checks) > 0 {
		f.Notes = []string{outOf(passed, int64(len(checks))) + " checks passed."}
	}
	return f
}
