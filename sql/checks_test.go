package sql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql"
)

var (
	pricedIG   = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}
	pricedHY   = api.Feed{Service: api.Bond, Market: api.HY, Kind: api.Priced}
	pricedLL   = api.Feed{Service: api.Loan, Market: api.LL, Kind: api.Priced}
	expectedIG = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Expected}
	expectedLL = api.Feed{Service: api.Loan, Market: api.LL, Kind: api.Expected}
)

// own is a change of a column of a feed's own table.
func own(feed api.Feed, field, change, was, is string) lake.FieldChange {
	return lake.FieldChange{Table: lake.FeedTables(feed)[0].Name, Field: field, Change: change, Was: was, Is: is}
}

func cleared(field string) lake.FieldChange { return own(pricedIG, field, lake.FieldCleared, "x", "") }

func amount(was, is string) lake.FieldChange {
	return own(pricedIG, "nominal_amount", lake.FieldEdited, was, is)
}

func set(field string) lake.FieldChange { return own(pricedIG, field, lake.FieldSet, "", "x") }

func removedRow(table string) lake.FieldChange {
	return lake.FieldChange{Table: table, RowKey: "Aspen", Change: lake.RowRemoved, Was: "Aspen"}
}

// lists are the lists of priced deals, each with its feed.
func lists() map[string]api.Feed {
	found := map[string]api.Feed{}
	for _, feed := range []api.Feed{pricedIG, pricedLL} {
		for _, table := range lake.FeedTables(feed)[1:] {
			found[table.Name] = feed
		}
	}
	return found
}

// ordinals are the ordinals of a list's first row.
func ordinals(table string) []string {
	if found, _ := lake.TableByName(table); found.Depth() == 2 {
		return []string{"1 AS tranche_ordinal", "1 AS ordinal"}
	}
	return []string{"1 AS ordinal"}
}

// checkCases contains commits just inside and just outside the bounds of each declared check. found is the check's
// count for the commit that the last call of write prepares; 0: it passes. All other checks pass.
var checkCases = []struct {
	check, name string
	found       int64
	write       func(*history)
}{
	{"backfills", "20 deals", 20, func(h *history) {
		h.deals(pricedIG, 1, 1, 30)
		h.commit()
		h.deals(pricedIG, 2, 1, 20, "'x' AS tier")
		h.says(pricedIG, 2, 1, 20, set("tier"))
	}},
	{"backfills", "19 deals", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 30)
		h.commit()
		h.deals(pricedIG, 2, 1, 19, "'x' AS tier")
		h.says(pricedIG, 2, 1, 19, set("tier"))
	}},
	{"backfills", "20 deals, 10 of each of two feeds", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 10)
		h.deals(pricedHY, 1, 1, 10)
		h.commit()
		h.deals(pricedIG, 2, 1, 10, "'x' AS tier")
		h.says(pricedIG, 2, 1, 10, set("tier"))
		h.deals(pricedHY, 2, 1, 10, "'x' AS tier")
		h.says(pricedHY, 2, 1, 10, set("tier"))
	}},
	{"backfills", "a field that another deal had before", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 30)
		h.deals(pricedIG, 1, 31, 31, "'x' AS tier")
		h.commit()
		h.deals(pricedIG, 2, 1, 20, "'x' AS tier")
		h.says(pricedIG, 2, 1, 20, set("tier"))
	}},
	{"backfills", "in the commit before", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 30)
		h.commit()
		h.deals(pricedIG, 2, 1, 20, "'x' AS tier")
		h.says(pricedIG, 2, 1, 20, set("tier"))
		h.commit()
	}},

	{"deals_without_rows", "a row for each version", 0, func(h *history) {
		for _, feed := range api.Feeds() {
			h.deals(feed, 1, 1, 2)
		}
	}},
	{"deals_without_rows", "a removal", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 2)
		h.commit()
		h.versions(pricedIG, lake.Removed, 2, 2, 2)
	}},
	{"deals_without_rows", "a version without row in each feed", 12, func(h *history) {
		for _, feed := range api.Feeds() {
			h.deals(feed, 1, 1, 2)
			h.versions(feed, lake.Added, 1, 3, 3)
		}
	}},
	{"deals_without_rows", "rows of another market, service and kind", 1, func(h *history) {
		h.versions(pricedIG, lake.Added, 1, 1, 1)
		h.deals(pricedHY, 1, 1, 1)
		h.deals(pricedLL, 1, 1, 1)
		h.deals(expectedIG, 1, 1, 1)
	}},
	{"deals_without_rows", "a row of the version before", 1, func(h *history) {
		h.deals(pricedIG, 1, 1, 1)
		h.commit()
		h.versions(pricedIG, lake.Changed, 2, 1, 1)
	}},
	{"deals_without_rows", "a row that calls itself another version", 1, func(h *history) {
		h.deals(pricedIG, 1, 1, 1)
		h.commit()
		h.versions(pricedIG, lake.Changed, 2, 1, 1)
		h.rows("bond_priced_deals", api.IG, 3, 1, 1)
	}},

	{"duplicate_deals", "one id everywhere", 0, func(h *history) {
		for _, feed := range api.Feeds() {
			h.deals(feed, 1, 1, 1)
		}
		h.commit()
		for _, feed := range api.Feeds() {
			h.edit(feed, 2, 1, 1)
		}
	}},
	{"duplicate_deals", "a row twice in each feed", 12, func(h *history) {
		for _, feed := range api.Feeds() {
			h.deals(feed, 1, 1, 2)
			h.rows(lake.FeedTables(feed)[0].Name, feed.Market, 1, 1, 1)
		}
	}},
	{"duplicate_deals", "a version twice in its commit", 1, func(h *history) {
		h.deals(expectedLL, 1, 1, 2)
		h.versions(expectedLL, lake.Added, 1, 2, 2)
	}},
	{"duplicate_deals", "a version of an earlier commit again", 1, func(h *history) {
		h.deals(pricedIG, 1, 1, 2)
		h.commit()
		h.deals(pricedIG, 1, 2, 2)
	}},
	{"duplicate_deals", "a version twice in the commit before", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 2)
		h.deals(pricedIG, 1, 2, 2)
		h.commit()
		h.edit(pricedIG, 2, 1, 1)
	}},

	{"emptied_columns", "50 of 250 deals", 50, func(h *history) {
		h.deals(pricedIG, 1, 1, 250)
		h.commit()
		h.edit(pricedIG, 2, 1, 50, cleared("cpn"))
	}},
	{"emptied_columns", "49 of 49 deals", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 49)
		h.commit()
		h.edit(pricedIG, 2, 1, 49, cleared("cpn"))
	}},
	{"emptied_columns", "50 of 251 deals", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 251)
		h.commit()
		h.edit(pricedIG, 2, 1, 50, cleared("cpn"))
	}},
	{"emptied_columns", "50 of 250 deals, 200 of them in another market", 50, func(h *history) {
		h.deals(pricedIG, 1, 1, 50)
		h.deals(pricedHY, 1, 1, 201)
		h.commit()
		h.edit(pricedIG, 2, 1, 50, cleared("cpn"))
	}},
	{"emptied_columns", "two columns, each in 49 deals", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 98)
		h.commit()
		h.edit(pricedIG, 2, 1, 49, cleared("cpn"))
		h.edit(pricedIG, 2, 50, 98, cleared("tier"))
	}},
	{"emptied_columns", "49 deals in two rows each", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 49)
		h.commit()
		h.edit(pricedIG, 2, 1, 49,
			lake.FieldChange{Table: "bond_priced_banks", RowKey: "Aspen", Field: "status", Change: lake.FieldCleared, Was: "Bookrunner"},
			lake.FieldChange{Table: "bond_priced_banks", RowKey: "Birch", Field: "status", Change: lake.FieldCleared, Was: "Bookrunner"})
	}},
	{"emptied_columns", "50 deals that changed otherwise", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 50)
		h.commit()
		h.edit(pricedIG, 2, 1, 50, own(pricedIG, "cpn", lake.FieldEdited, "3%", "4%"))
	}},
	{"emptied_columns", "30 deals now, 30 the night before", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 60)
		h.commit()
		h.edit(pricedIG, 2, 1, 30, cleared("cpn"))
		h.commit()
		h.edit(pricedIG, 2, 31, 60, cleared("cpn"))
	}},
	{"emptied_columns", "50 of 250 deals, of which 1 is gone", 50, func(h *history) {
		h.deals(pricedIG, 1, 1, 251)
		h.commit()
		h.edit(pricedIG, 2, 1, 50, cleared("cpn"))
		h.versions(pricedIG, lake.Removed, 2, 251, 251)
	}},

	{"emptied_lists", "each list, in 50 of 250 deals", 8 * 50, func(h *history) {
		emptyLists(h, 250, 50)
	}},
	{"emptied_lists", "each list, in 49 of 49 deals", 0, func(h *history) {
		emptyLists(h, 49, 49)
	}},
	{"emptied_lists", "each list, in 50 of 251 deals", 0, func(h *history) {
		emptyLists(h, 251, 50)
	}},
	{"emptied_lists", "each list, shorter in 50 deals and empty in 49 of them", 0, func(h *history) {
		emptyLists(h, 50, 50)
		for table, feed := range lists() {
			h.rows(table, feed.Market, 2, 50, 50, ordinals(table)...)
		}
	}},
	{"emptied_lists", "50 deals, of which one deal of another market has rows", 50, func(h *history) {
		h.deals(pricedIG, 1, 1, 50)
		h.deals(pricedHY, 1, 1, 50)
		h.commit()
		h.edit(pricedIG, 2, 1, 50, removedRow("bond_priced_banks"))
		h.edit(pricedHY, 2, 1, 1)
		h.rows("bond_priced_banks", api.HY, 2, 1, 1, ordinals("bond_priced_banks")...)
	}},
	{"emptied_lists", "50 expected deals, beside 50 priced ones", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 50)
		h.deals(expectedIG, 1, 1, 50)
		h.commit()
		h.edit(expectedIG, 2, 1, 50, removedRow("bond_expected_regions"))
	}},
	{"emptied_lists", "30 deals now, 30 the night before", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 60)
		h.commit()
		h.edit(pricedIG, 2, 1, 30, removedRow("bond_priced_banks"))
		h.commit()
		h.edit(pricedIG, 2, 31, 60, removedRow("bond_priced_banks"))
	}},

	{"mass_edits", "101 of 201 deals", 101, func(h *history) { editMany(h, pricedIG, 201, 101) }},
	{"mass_edits", "101 of 202 deals", 0, func(h *history) { editMany(h, pricedIG, 202, 101) }},
	{"mass_edits", "100 of 100 deals", 0, func(h *history) { editMany(h, pricedIG, 100, 100) }},
	{"mass_edits", "101 of 101 loans", 101, func(h *history) { editMany(h, pricedLL, 101, 101) }},
	{"mass_edits", "101 of 101 expected deals, beside 101 priced ones", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 101)
		editMany(h, expectedIG, 101, 101)
	}},
	{"mass_edits", "101 of 101 deals, 1 of them where no column differs", 0, func(h *history) {
		editMany(h, pricedIG, 101, 100)
		h.edit(pricedIG, 2, 101, 101)
	}},
	{"mass_edits", "101 of 101 deals, half of them the night before", 0, func(h *history) {
		editMany(h, pricedIG, 101, 50)
		h.commit()
		h.edit(pricedIG, 2, 51, 101, own(pricedIG, "cpn", lake.FieldEdited, "3%", "4%"))
	}},

	{"pricing_in_future", "a week ahead", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 1, "DATE '2026-01-12' AS pricing_date")
		h.deals(pricedLL, 1, 1, 1, "DATE '2026-01-12' AS priced_date")
	}},
	{"pricing_in_future", "a week and a day ahead", 2, func(h *history) {
		h.deals(pricedIG, 1, 1, 1, "DATE '2026-01-13' AS pricing_date")
		h.deals(pricedLL, 1, 1, 1, "DATE '2026-01-13' AS priced_date")
	}},
	{"pricing_in_future", "in the commit before", 0, func(h *history) {
		h.deals(pricedIG, 1, 1, 1, "DATE '2036-01-01' AS pricing_date")
		h.commit()
		h.deals(pricedIG, 1, 2, 2, "DATE '2026-01-01' AS pricing_date")
	}},

	{"rescaled_amounts", "20 of 400 deals, a hundred times more", 20, func(h *history) { rescale(h, 400, 20, amount("5000000", "500000000")) }},
	{"rescaled_amounts", "20 of 400 deals, a hundredth", 20, func(h *history) { rescale(h, 400, 20, amount("500000000", "5000000")) }},
	{"rescaled_amounts", "19 of 19 deals", 0, func(h *history) { rescale(h, 19, 19, amount("5000000", "500000000")) }},
	{"rescaled_amounts", "20 of 401 deals", 0, func(h *history) { rescale(h, 401, 20, amount("5000000", "500000000")) }},
	{"rescaled_amounts", "less than a hundred times more", 0, func(h *history) { rescale(h, 20, 20, amount("5000000", "499999999")) }},
	{"rescaled_amounts", "more than a hundredth", 0, func(h *history) { rescale(h, 20, 20, amount("499999999", "5000000")) }},
	{"rescaled_amounts", "nothing becomes something", 0, func(h *history) { rescale(h, 20, 20, amount("0", "500000000")) }},
	{"rescaled_amounts", "something becomes nothing", 0, func(h *history) { rescale(h, 20, 20, amount("500000000", "0")) }},
	{"rescaled_amounts", "in US dollars", 20, func(h *history) {
		rescale(h, 20, 20, own(pricedIG, "nominal_usd", lake.FieldEdited, "5000000", "500000000"))
	}},
	{"rescaled_amounts", "final books", 20, func(h *history) {
		rescale(h, 20, 20, own(pricedIG, "stats_final_books", lake.FieldEdited, "5", "5000"))
	}},
	{"rescaled_amounts", "amounts in lists of a deal", 20, func(h *history) {
		rescale(h, 20, 20, lake.FieldChange{Table: "loan_priced_deal_total_currencies", Field: "amount", Change: lake.FieldEdited, Was: "500000000", Is: "500"})
	}},
	{"rescaled_amounts", "a column that is no amount", 0, func(h *history) {
		rescale(h, 20, 20, own(pricedIG, "fpr", lake.FieldEdited, "1", "100"))
	}},
	{"rescaled_amounts", "19 deals in two rows each", 0, func(h *history) {
		total := lake.FieldChange{Table: "bond_priced_deals", Field: "total_amount", Change: lake.FieldEdited, Was: "1", Is: "100"}
		rescale(h, 19, 19, total, total)
	}},
	{"rescaled_amounts", "15 deals now, 15 the night before", 0, func(h *history) {
		rescale(h, 30, 15, amount("5000000", "500000000"))
		h.commit()
		h.edit(pricedIG, 2, 16, 30, amount("5000000", "500000000"))
	}},
}

// emptyLists writes the given number of deals, then empties the one-row lists of the first n.
func emptyLists(h *history, standing, n int64) {
	h.deals(pricedIG, 1, 1, standing)
	h.deals(pricedLL, 1, 1, standing)
	h.commit()
	h.deals(pricedIG, 2, 1, n)
	h.deals(pricedLL, 2, 1, n)
	for table, feed := range lists() {
		h.says(feed, 2, 1, n, removedRow(table))
	}
}

func editMany(h *history, feed api.Feed, standing, n int64) {
	h.deals(feed, 1, 1, standing)
	h.commit()
	h.edit(feed, 2, 1, n, own(feed, "cpn", lake.FieldEdited, "3%", "4%"))
}

func rescale(h *history, standing, n int64, changes ...lake.FieldChange) {
	h.deals(pricedIG, 1, 1, standing)
	h.commit()
	h.edit(pricedIG, 2, 1, n, changes...)
}

// TestCheckBounds runs every declared check on commits just inside and just outside its bounds: with TEST_FULL in all
// cases, else in one of four.
func TestCheckBounds(t *testing.T) {
	t.Parallel()
	for _, c := range testkit.Sample(checkCases, 4) {
		t.Run(c.check+"/"+c.name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			c.write(h)
			for _, result := range h.check() {
				want := lake.Check{Name: result.Name, Severity: result.Severity, Outcome: lake.CheckPassed}
				if result.Name == c.check && c.found > 0 {
					want.Count, want.Detail, want.Outcome = c.found, result.Detail, lake.CheckWarned
					if result.Severity == lake.SeverityHold {
						want.Outcome = lake.CheckHeld
					}
				}
				if result != want {
					t.Errorf("got %+v, want %+v", result, want)
				}
			}
		})
	}
}

// TestCheckCases fails for a check without a case in which it finds something, or without one in which it finds
// nothing.
func TestCheckCases(t *testing.T) {
	t.Parallel()
	for _, check := range sql.QualityChecks() {
		for _, finds := range []bool{true, false} {
			if !slices.ContainsFunc(checkCases, func(c struct {
				check, name string
				found       int64
				write       func(*history)
			}) bool {
				return c.check == check.Name && (c.found > 0) == finds
			}) {
				t.Errorf("check %s has no case in checkCases where it finds something: %t; add one at its bound", check.Name, finds)
			}
		}
	}
}

// TestCheckAccepted lets a hold through by name, and only that one.
func TestCheckAccepted(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.deals(pricedIG, 1, 1, 50)
	h.commit()
	h.edit(pricedIG, 2, 1, 50, cleared("cpn"), amount("1", "100"))
	for _, result := range h.check("emptied_columns") {
		want := map[string]string{"emptied_columns": lake.CheckAccepted, "rescaled_amounts": lake.CheckHeld}[result.Name]
		if want == "" {
			want = lake.CheckPassed
		}
		if result.Outcome != want {
			t.Errorf("%s: got %s, want %s (%s)", result.Name, result.Outcome, want, result.Detail)
		}
	}
}

// TestCheckDetail checks that a finding names its feed, its count and an example. Of many findings it lists the first
// five and the number of the others.
func TestCheckDetail(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for _, feed := range api.Feeds() {
		h.versions(feed, lake.Added, 1, 7, 9)
	}
	results := h.check()
	i := slices.IndexFunc(results, func(c lake.Check) bool { return c.Name == "deals_without_rows" })
	want := sql.QualityChecks()[i].Doc
	for n, feed := range []string{"bond/em/expected", "bond/em/priced", "bond/hy/expected", "bond/hy/priced", "bond/ig/expected"} {
		want += fmt.Sprintf("%s %s: 3 (such as deal 7)", strings.Repeat(";", min(n, 1)), feed)
	}
	if want += "; and 7 more"; results[i].Detail != want || results[i].Count != 36 {
		t.Errorf("got %d, %q, want 36, %q", results[i].Count, results[i].Detail, want)
	}
}

// TestCheckExamples checks that a finding of many deals names the first three.
func TestCheckExamples(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.deals(pricedIG, 1, 1, 60)
	h.commit()
	h.edit(pricedIG, 2, 8, 60, cleared("cpn"), removedRow("bond_priced_banks"))
	for _, result := range h.check() {
		if want := " of 60 deals, such as 8, 9, 10)"; strings.HasPrefix(result.Name, "emptied_") && !strings.HasSuffix(result.Detail, want) {
			t.Errorf("%s: got %q, want %q at its end", result.Name, result.Detail, want)
		}
	}
}
