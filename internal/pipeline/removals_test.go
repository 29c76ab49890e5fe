package pipeline_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"dealflow/internal/pipeline"
	"dealflow/schemas/lake"
)

// pricedLink is an expected deal's link to what it became.
const pricedLink = `"_links":{"pricedDeal":{"href":"/v3/bond/ig/priced-deal/900"}}`

// TestFatesOfAbsentDeals follows deals that leave their list in every way there is, and one that comes
// back.
func TestFatesOfAbsentDeals(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	all := feeds(priced, expected, loanExpected)
	b.writeAll(priced, 1, 20, `"message":"A"`)
	b.writeAll(expected, 1, 6, `"message":"B"`)
	b.write(expected, 3, `"_embedded":{"tranches":[{"name":"a"},{"name":"b",`+pricedLink+`}]}`)
	b.writeAll(loanExpected, 1, 3, "")
	b.write(loanExpected, 1, strings.ReplaceAll(pricedLink, "bond/ig", "loan/ll"))
	first := w.night(t, 0, all)

	b.strike(priced, 1)
	b.forbid(priced, 2)
	b.unlist(priced, 3)
	b.write(priced, 4, `"message":"changed"`)
	b.unlist(priced, 4)
	b.strike(expected, 1, 2, 3)
	b.strike(loanExpected, 1, 2)
	second := w.night(t, 1, all)
	wantCounts(t, second, priced, [6]int64{0, 1, 2, 0, 17, 0})
	wantCounts(t, second, expected, [6]int64{0, 0, 3, 0, 3, 0})
	wantCounts(t, second, loanExpected, [6]int64{0, 0, 2, 0, 1, 0})

	b.write(priced, 1, `"message":"A"`)
	b.writeAll(priced, 3, 4, `"message":"changed"`)
	third := w.night(t, 2, all)
	wantCounts(t, third, priced, [6]int64{0, 1, 0, 1, 17, 0})
	wantCounts(t, third, expected, [6]int64{0, 0, 0, 0, 3, 0})

	w.ask(t, func(db *stdsql.DB) {
		wantLines(t, db, versions(priced, 1, 4),
			"1 1 added -", "1 2 removed gone", "1 3 reappeared -",
			"2 1 added -", "2 2 removed out_of_entitlement",
			"3 1 added -", "3 2 changed -",
			"4 1 added -", "4 2 changed -")
		wantLines(t, db, versions(expected, 1, 4),
			"1 1 added -", "1 2 removed gone", "2 1 added -", "2 2 removed gone", "3 1 added -", "3 2 removed priced", "4 1 added -")
		wantLines(t, db, versions(loanExpected, 1, 3),
			"1 1 added -", "1 2 removed priced", "2 1 added -", "2 2 removed gone", "3 1 added -")

		wantLines(t, db, "SELECT count(*) FROM history.deal_versions WHERE change = 'removed' AND (payload IS NOT NULL OR content_hash IS NOT NULL OR payload_hash IS NOT NULL)", "0")
		interval := fmt.Sprintf("SELECT version FROM history.bond_priced_deals WHERE deal_id = 1 AND valid_from = TIMESTAMPTZ '%s' AND valid_to = TIMESTAMPTZ '%s'", first.KnownAt, second.KnownAt)
		wantLines(t, db, interval, "1")

		const live = " WHERE deal_id IN (1, 2) ORDER BY deal_id"
		wantLines(t, db, "SELECT deal_id, version FROM "+asOf(first.KnownAt)("bond_priced_deals")+live, "1 1", "2 1")
		wantLines(t, db, "SELECT deal_id, version FROM "+asOf(second.KnownAt)("bond_priced_deals")+live)
		wantLines(t, db, "SELECT deal_id, version FROM "+asOf(third.KnownAt)("bond_priced_deals")+live, "1 3")
		wantLines(t, db, "SELECT deal_id, version FROM bond_priced_deals"+live, "1 3")
		wantLines(t, db, "SELECT deal_id FROM deals_as_of(TIMESTAMPTZ '"+second.KnownAt.String()+"') WHERE kind = 'expected' ORDER BY deal_id, service", "3", "4", "5", "6")
		wantLines(t, db, "SELECT deal_id FROM deals WHERE kind = 'priced' AND deal_id < 4 ORDER BY deal_id", "1", "3")
		wantAgreement(t, db, priced, expected, loanExpected)
		wantInstants(t, db)
	})
}

// TestRemovalGuard holds a feed of which too much vanished, and nothing else.
func TestRemovalGuard(t *testing.T) {
	t.Parallel()
	for name, vanish := range map[string]struct {
		last int64 // of 30 deals, those up to it vanish
		want string
	}{
		"many":       {12, "12 of 30 deals vanished"},
		"everything": {30, "the list is empty, where 30 deals stood"},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := newBook(t)
			both := feeds(priced, expected)
			b.writeAll(priced, 1, 30, "")
			b.writeAll(expected, 1, 5, "")
			w.night(t, 0, both)

			for id := range vanish.last {
				b.strike(priced, id+1)
			}
			b.strike(expected, 1)
			w.evening(1)
			result, err := w.run(t, both)
			if !errors.Is(err, pipeline.ErrFeedsHeld) || errors.Is(err, pipeline.ErrFeedsFailed) {
				t.Fatalf("got %v, want ErrFeedsHeld alone", err)
			}
			wantOutcomes(t, result, "bond/ig/priced held", "bond/ig/expected done")
			if why := feedRun(t, result, priced).Error; !strings.Contains(why, vanish.want) || !strings.Contains(why, "--accept-removals") {
				t.Errorf("held because of %q, want %q and the way out", why, vanish.want)
			}
			if result.Commit != 2 || result.Outcome != lake.OutcomePartial {
				t.Errorf("commit %d %s, want 2 partial", result.Commit, result.Outcome)
			}
			w.ask(t, func(db *stdsql.DB) {
				wantLines(t, db, "SELECT kind, count(*) FROM deals GROUP BY ALL ORDER BY ALL", "expected 4", "priced 30")
				wantLines(t, db, "SELECT snapshot_date::VARCHAR, count(*) FROM snapshots.bond_priced_deals GROUP BY ALL", "2026-01-05 30")
			})

			again := w.mustRun(t, both, func(c *pipeline.Config) { c.AcceptRemovals = true })
			wantOutcomes(t, again, "bond/ig/priced done")
			wantCounts(t, again, priced, [6]int64{0, 0, vanish.last, 0, 30 - vanish.last, 0})
			w.ask(t, func(db *stdsql.DB) { wantAgreement(t, db, priced, expected) })
		})
	}
}

// TestNobodyIsRemovedOnDoubt holds that a deal stands, and keeps its last version, where it cannot be
// known that it does not.
func TestNobodyIsRemovedOnDoubt(t *testing.T) {
	t.Parallel()
	for name, doubt := range map[string]struct {
		night   func(*world, *book)
		outcome string
	}{
		"a record without a readable id": {outcome: "done", night: func(_ *world, b *book) {
			b.writeBody(expected, 99, `{"market":"IG"}`)
		}},
		"by id it answers, unreadably": {outcome: "done", night: func(_ *world, b *book) {
			b.writeBody(expected, 1, `{"id":1,"message":"a","message":"b","id":1}`)
			b.unlist(expected, 1)
		}},
		"by id it answers, unreadably further in": {outcome: "done", night: func(_ *world, b *book) {
			b.writeBody(expected, 1, `{"id":1,"message":{"a":1,"a":2}}`)
			b.unlist(expected, 1)
		}},
		"nothing answers by id": {outcome: "failed", night: func(w *world, _ *book) {
			w.interfere(refuse(http.StatusNotFound, expected.Path()+"/"))
		}},
		"by id the server fails": {outcome: "failed", night: func(w *world, _ *book) {
			w.interfere(refuse(http.StatusInternalServerError, expected.DealPath(1)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := newBook(t)
			both := feeds(priced, expected)
			b.writeAll(priced, 1, 2, "")
			b.writeAll(expected, 1, 4, `"message":"B"`)
			w.night(t, 0, both)
			b.strike(expected, 1)
			doubt.night(w, b)
			w.evening(1)
			result, err := w.run(t, both)
			if failed := errors.Is(err, pipeline.ErrFeedsFailed); failed != (doubt.outcome == "failed") || !failed && err != nil {
				t.Fatalf("got %v", err)
			}
			wantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected "+doubt.outcome)
			w.ask(t, func(db *stdsql.DB) {
				wantLines(t, db, versions(expected, 1, 99), "1 1 added -", "2 1 added -", "3 1 added -", "4 1 added -")
				if doubt.outcome == "done" {
					wantLines(t, db, "SELECT deal_id FROM snapshots.bond_expected_deals WHERE snapshot_date = '2026-01-06' ORDER BY ALL", "1", "2", "3", "4")
				}
				wantAgreement(t, db, priced, expected)
			})
		})
	}
}
