package report

import "fmt"

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
			{"Commit", fmt.Sprintf("%s, known at %s", count(d.State.Commit), instant(d.State.KnownAt))},
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
	c := &chart{
		Title: f.Title, Desc: "Horizontal bars: for each feed, the number of deals that were added, changed, removed, or back.", Unit: "deals",
		Series: []series{{Name: "added", Class: "s0"}, {Name: "changed", Class: "s1"}, {Name: "removed", Class: "s2"}, {Name: "reappeared", Class: "s3"}},
	}
	var sums [4]int64
	var deals int64
	for _, feed := range feeds {
		name := feedName(feed.Service, feed.Market, feed.Kind)
		c.Categories = append(c.Categories, name)
		c.Notes = append(c.Notes, fmt.Sprintf("of %s", count(feed.Deals)))
		for i, n := range []int64{feed.Added, feed.Changed, feed.Removed, feed.Reappeared} {
			c.Series[i].Values = append(c.Series[i].Values, float64(n))
			sums[i] += n
		}
		deals += feed.Deals
		f.Table.Rows = append(f.Table.Rows, []string{
			name, feed.Outcome, count(feed.Deals), count(feed.Added), count(feed.Changed), count(feed.Removed), count(feed.Reappeared), count(feed.Quarantined), count(feed.Drift),
		})
	}
	f.picture(c, bars, "Nothing changed in the last run, or there was none.")
	if len(feeds) > 0 {
		f.Notes = []string{fmt.Sprintf("%s in %s: %s added, %s changed, %s removed, %s back.", plural(deals, "deal", "deals"),
			plural(int64(len(feeds)), "feed", "feeds"), count(sums[0]), count(sums[1]), count(sums[2]), count(sums[3]))}
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
		f.Table.Rows = append(f.Table.Rows, []string{c.Name, c.Severity, c.Outcome, count(c.Count), c.Detail})
	}
	if len(checks) > 0 {
		f.Notes = []string{outOf(passed, int64(len(checks))) + " checks passed."}
	}
	return f
}
