package main

import "fmt"

// goal is one line of the table.
type goal struct {
	name    string
	bound   float64
	atLeast bool   // the bound is a minimum, not a maximum
	unit    string // after the figure
	measure func(results) figure
}

func (g goal) met(value float64) bool {
	if g.atLeast {
		return value >= g.bound
	}
	return value <= g.bound
}

func (g goal) aim() string {
	sign := "≤"
	if g.atLeast {
		sign = "≥"
	}
	return sign + " " + g.show(g.bound)
}

func (g goal) show(value float64) string {
	digits := 2
	switch {
	case value >= 100 || value == float64(int(value)):
		digits = 0
	case value >= 10:
		digits = 1
	}
	return fmt.Sprintf("%.*f%s", digits, value, g.unit)
}

// The market that most goals are about: 66,000 deals, 140 MB of JSON.
const (
	night = "Run/deals=10k/first-night/cores=2"
	floor = "Floor/deals=10k/"
	peer  = "Peers/deals=10k/"
)

// floors is the CPU time of all steps that a first night cannot avoid. Flattening contains tokenising.
func floors(r results) figure {
	var parts []figure
	for _, name := range []string{"download-gzip", "canonicalise", "spool", "flatten", "write"} {
		parts = append(parts, r.metric(floor+name, "cpu-s"))
	}
	return sum(parts...)
}

// The feeds that packages are measured on.
var packageFeeds = []string{"bond/ig/priced", "bond/ig/expected", "loan/ll/priced"}

// flattenAllocations is the number of allocations to flatten a deal, for the worst of the feeds.
func flattenAllocations(r results) figure {
	worst := figure{known: true}
	for _, feed := range packageFeeds {
		f := r.metric("Flatten/"+feed, "allocs/op")
		worst.value, worst.known = max(worst.value, f.value), worst.known && f.known
	}
	return worst
}

// guards are checked by CI for each change, on any machine: ratios of processor time within one execution, and counts. Their bounds
// leave room for noise, but not for the loss of a fast path.
func guards() []goal {
	var all []goal
	for _, feed := range packageFeeds {
		bound := 0.2
		if feed == "bond/ig/expected" { // its talk has several steps, and each is read
			bound = 0.1
		}
		all = append(all, goal{"flattening " + feed + " by bare tokenising, speed", bound, true, " ×", func(r results) figure {
			return r.metric("Tokens/"+feed, "cpu-ns/op").over(r.metric("Flatten/"+feed, "cpu-ns/op"))
		}})
	}
	// `go test` omits the fraction: 0 is less than one per deal.
	return append(all, goal{"flattening, whole allocations a deal", 0, false, "", flattenAllocations})
}

// goals are those of the project, in the order of a run.
func goals() []goal {
	wall := func(name string) func(results) figure {
		return func(r results) figure { return r.metric(name, "wall-s") }
	}
	return []goal{
		{"first night, wall time by that of the bare download with gzip", 4.5, false, " ×", func(r results) figure {
			return r.metric(night, "wall-s").over(r.metric(floor+"download-gzip", "wall-s"))
		}},
		{"dlt's wall time by that of the first night", 9, true, " ×", func(r results) figure {
			return r.metric(peer+"dlt", "wall-s").over(r.metric(night, "wall-s"))
		}},
		{"dlt's CPU time by that of the first night", 6, true, " ×", func(r results) figure {
			return r.metric(peer+"dlt", "cpu-s").over(r.metric(night, "cpu-s"))
		}},
		{"first night, CPU time by that of its floors", 1.5, false, " ×", func(r results) figure {
			return r.metric(night, "cpu-s").over(floors(r))
		}},
		{"usual night, wall time by that of the first", 0.5, false, " ×", func(r results) figure {
			return r.metric("Run/deals=10k/usual-night", "wall-s").over(r.metric(night, "wall-s"))
		}},
		{"usual night of fifteen years with Iceberg tables, wall time by that without", 1.1, false, " ×", func(r results) figure {
			return r.metric("Run/deals=15years/usual-night/iceberg", "wall-s").over(r.metric("Run/deals=15years/usual-night", "wall-s"))
		}},
		{"DuckDB's wall time by that of flattening and writing from memory", 2, true, " ×", func(r results) figure {
			return r.metric(peer+"duckdb", "wall-s").over(r.metric(floor+"flatten-and-write", "wall-s"))
		}},
		{"flattening, JSON a core", 200, true, " MB/s", func(r results) figure {
			return r.metric(floor+"download-gzip", "json-MB").over(r.metric(floor+"flatten", "cpu-s"))
		}},
		{"flattening by bare tokenising, speed", 0.6, true, " ×", func(r results) figure {
			return r.metric(floor+"tokenise", "cpu-s").over(r.metric(floor+"flatten", "cpu-s"))
		}},
		{"flattening, allocations a deal", 1, false, "", flattenAllocations},
		{"peak memory, first night of fifteen years", 256, false, " MiB", func(r results) figure {
			return r.metric("Run/deals=15years/first-night/cores=2", "peak-MiB")
		}},
		{"peak memory, five times the deals (10k to 50k a market)", 1.4, false, " ×", func(r results) figure {
			return r.metric("Run/deals=50k/first-night/cores=2", "peak-MiB").over(r.metric(night, "peak-MiB"))
		}},
		{"sync of a quiet day, requests", 30, false, "", func(r results) figure {
			return r.metric("Run/deals=10k/quiet-sync", "requests")
		}},
		{"sync of a quiet day", 2, false, " s", wall("Run/deals=10k/quiet-sync")},
		{"commit and catalog at night 365 of a lake", 1, false, " s", func(r results) figure {
			return sum(r.metric("Growth", "commit-s-last"), r.metric("Growth", "catalog-s-last"))
		}},
		{"a whole run at night 365 by that of the first nights", 1.1, false, " ×", func(r results) figure {
			return r.metric("Growth", "run-s-ratio")
		}},
		{"attaching the catalog at night 365", 0.1, false, " s", func(r results) figure { return r.metric("Growth", "attach-s-last") }},
		{"first answer at night 365", 0.5, false, " s", func(r results) figure { return r.metric("Growth", "first-answer-s-last") }},
		{"as-of query at night 365", 0.2, false, " s", func(r results) figure { return r.metric("Growth", "as-of-s-last") }},
		{"page of the pipeline of fifteen years, as of another instant", 0.1, false, " s", wall("Pipeline/instant")},
		{"page of the pipeline of fifteen years, with another filter", 0.1, false, " s", wall("Pipeline/filter")},
		{"size of Parquet by that of DuckDB's, zstd", 1.1, false, " ×", func(r results) figure {
			return r.metric("ParquetSize/deals=10k", "MB").over(r.metric("ParquetSize/deals=10k", "duckdb-MB"))
		}},
		{"`dealflow version`", 0.05, false, " s", wall("Start/version")},
		{"`dealflow help`", 0.05, false, " s", wall("Start/help")},
	}
}
