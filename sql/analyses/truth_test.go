package analyses_test

import (
	stdsql "database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
	"dealflow/sql"
)

// analysis is a query of the catalog, and its answer computed in a simple way from the market's states.
type analysis struct {
	name     string
	question string   // with %s for the instant
	key      []string // columns that identify a row
	answer   func(view) []fact
	none     bool // the answer may have no rows
}

// expectations compute expected answers from a market's history. Each file of this package adds its own by expect.
var expectations []func(*history) []analysis

// expect adds to the expectations: `var _ = expect(pricedAnalyses)`.
func expect(answers func(*history) []analysis) bool {
	expectations = append(expectations, answers)
	return true
}

// analysesOf returns all analyses that are compared with the truth.
func analysesOf(h *history) []analysis {
	var all []analysis
	for _, answers := range expectations {
		all = append(all, answers(h)...)
	}
	return all
}

// wantExpectations fails for an analysis of which no expectation asks.
func wantExpectations(t *testing.T, all []analysis) {
	t.Helper()
	declared, err := sql.Analyses()
	if err != nil {
		t.Fatal(err)
	}
	var asked strings.Builder
	for _, a := range all {
		asked.WriteString(a.question + "\n")
	}
	for _, a := range declared {
		if !strings.Contains(asked.String(), a.Name+"(") {
			t.Errorf("%s: no test expects its answer: write sql/analyses/%s_test.go (CONTRIBUTING.md, An analysis)", a.Name, a.Name)
		}
	}
}

// TestAnalyses computes every analysis a second time, from the simulated market's own state night by night and without
// any SQL. It compares the catalog's answers row for row and column for column, with all that is known and as of an
// earlier night.
//
// TEST_ANALYSES is the number of markets; the default is 1.
func TestAnalyses(t *testing.T) {
	t.Parallel()
	testkit.Seeds(t, analysed(t), func(t *testing.T, seed uint64) {
		w, h := observed(t, seed)
		checkAnalyses(t, w, h, false)
	})
}

// analysed reads TEST_ANALYSES. Short runs, those under the race detector, skip such tests: other tests run the same
// code concurrently.
func analysed(t *testing.T) int {
	t.Helper()
	if testing.Short() {
		t.Skip("the analyses are asked in the tests without -short")
	}
	return testkit.Count(t, "TEST_ANALYSES", 1)
}

// checkAnalyses compares all answers with the truth; none permits queries without rows.
func checkAnalyses(t *testing.T, w *world.World, h *history, none bool) {
	t.Helper()
	earlier := h.nights[3].at
	analyses := analysesOf(h)
	wantExpectations(t, analyses)
	w.Ask(t, func(db *stdsql.DB) {
		for _, a := range analyses {
			a.none = a.none || none
			t.Run(a.name, func(t *testing.T) {
				a.check(t, db, view{h, h.nights[len(h.nights)-1].at}, "'infinity'")
				a.check(t, db, view{h, earlier}, fmt.Sprintf("TIMESTAMPTZ '%s'", lake.At(earlier)))
			})
		}
	})
}

// check runs a query as of an instant, and compares the rows. Every column must be expected, except those of the
// flattened table that the answer extends.
func (a *analysis) check(t *testing.T, db *stdsql.DB, v view, at string) {
	t.Helper()
	got, columns := factsOf(t, db, fmt.Sprintf(a.question, at))
	want := a.answer(v)
	if len(want) > 0 {
		if unexpected := slices.DeleteFunc(columns, func(c string) bool { _, ok := want[0][c]; return ok }); len(unexpected) > 0 {
			t.Errorf("as of %s: columns %q are not expected", at, unexpected)
		}
	}
	const shown = 12
	lines := differences(got, want, a.key)
	if len(lines) > 0 {
		t.Errorf("as of %s: %d rows, want %d; %d differences, such as\n%s", at, len(got), len(want), len(lines), strings.Join(lines[:min(shown, len(lines))], "\n"))
	}
	if len(want) == 0 && !a.none && v.at.Equal(v.nights[len(v.nights)-1].at) {
		t.Errorf("as of %s: nothing is expected: the market is too small for this question", at)
	}
}

// observed runs a market for some nights, pulls them into a lake, and remembers the market's states. Two feeds are read
// from the second night on only. Before the last night but one there is a gap of five days.
func observed(t *testing.T, seed uint64) (*world.World, *history) {
	t.Helper()
	quirks := awkward()
	w := world.New(t, sim.Config{Seed: seed, Deals: 40, Expected: 14, PerDay: 4, Birthdays: seed%2 == 1, Quirks: &quirks})
	tr := world.NewTruth(t, api.Feeds()...)
	h := newHistory(tr)
	declareNames(t, w, h)
	for n, day := range observedDays {
		feeds := api.Feeds()
		if n == 0 {
			feeds = slices.DeleteFunc(feeds, func(f api.Feed) bool {
				return f == api.Feed{Service: api.Bond, Market: api.HY, Kind: api.Expected} || f == api.Feed{Service: api.Loan, Market: api.CF, Kind: api.Priced}
			})
		}
		result := w.Night(t, day, world.Quiet, world.Feeds(feeds...), world.AcceptRemovals)
		h.observe(t, w.URL, result.KnownAt.Time, feeds, func(feed api.Feed) []serve.Record { return tr.Visible(t, w, feed) })
	}
	h.follow()
	return w, h
}

// observedDays are the days, after the epoch, of the nights on which markets are read.
var observedDays = []int{0, 1, 2, 3, 8, 9}

// awkward returns irregularities that the API's documentation permits, many times as frequent as in reality.
func awkward() sim.Quirks {
	q := sim.AwkwardQuirks()
	q.Misfit, q.UnknownField, q.UnknownEnum = 0, 0, 0
	q.ZeroUSD, q.EmptyList, q.NoBorrower, q.DuplicateBank = 0.06, 0.05, 0.03, 0.1
	q.NoMaturity, q.FarMaturity, q.HugeNumber = 0.04, 0.04, 0.01
	q.OriginalMissing, q.TwoLists, q.DanglingLink = 0.1, 0.25, 0.1
	q.Removal, q.Reappear, q.FlipFlop, q.SilentEdit, q.MarketMove = 15, 0.7, 0.1, 0.1, 0.02
	return q
}

// between is the number of whole days from one instant to another.
func between(from, to time.Time) int64 { return int64(to.Sub(from) / (24 * time.Hour)) }
