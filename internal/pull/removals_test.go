package pull_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/lake"
)

// pricedLink is an expected deal's link to its priced deal.
const pricedLink = `"_links":{"pricedDeal":{"href":"/v3/bond/ig/priced-deal/900"}}`

// TestFatesOfAbsentDeals follows deals that leave their list for every reason, and one that comes back.
func TestFatesOfAbsentDeals(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	all := world.Feeds(world.Priced, world.Expected, world.LoanExpected)
	b.WriteAll(world.Priced, 1, 20, `"message":"A"`)
	b.WriteAll(world.Expected, 1, 6, `"message":"B"`)
	b.Write(world.Expected, 3, `"_embedded":{"tranches":[{"name":"a"},{"name":"b",`+pricedLink+`}]}`)
	b.WriteAll(world.LoanExpected, 1, 3, "")
	b.Write(world.LoanExpected, 1, strings.ReplaceAll(pricedLink, "bond/ig", "loan/ll"))
	first := w.Night(t, 0, all)

	b.Strike(world.Priced, 1)
	b.Forbid(world.Priced, 2)
	b.Unlist(world.Priced, 3)
	b.Write(world.Priced, 4, `"message":"changed"`)
	b.Unlist(world.Priced, 4)
	b.Strike(world.Expected, 1, 2, 3)
	b.Strike(world.LoanExpected, 1, 2)
	second := w.Night(t, 1, all)
	world.WantCounts(t, second, world.Priced, [6]int64{0, 1, 2, 0, 17, 0})
	world.WantCounts(t, second, world.Expected, [6]int64{0, 0, 3, 0, 3, 0})
	world.WantCounts(t, second, world.LoanExpected, [6]int64{0, 0, 2, 0, 1, 0})

	b.Write(world.Priced, 1, `"message":"A"`)
	b.WriteAll(world.Priced, 3, 4, `"message":"changed"`)
	third := w.Night(t, 2, all)
	world.WantCounts(t, third, world.Priced, [6]int64{0, 1, 0, 1, 17, 0})
	world.WantCounts(t, third, world.Expected, [6]int64{0, 0, 0, 0, 3, 0})

	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, world.Versions(world.Priced, 1, 4),
			"1 1 added -", "1 2 removed gone", "1 3 reappeared -",
			"2 1 added -", "2 2 removed out_of_entitlement",
			"3 1 added -", "3 2 changed -",
			"4 1 added -", "4 2 changed -")
		world.WantLines(t, db, world.Versions(world.Expected, 1, 4),
			"1 1 added -", "1 2 removed gone", "2 1 added -", "2 2 removed gone", "3 1 added -", "3 2 removed priced", "4 1 added -")
		world.WantLines(t, db, world.Versions(world.LoanExpected, 1, 3),
			"1 1 added -", "1 2 removed priced", "2 1 added -", "2 2 removed gone", "3 1 added -")

		world.WantLines(t, db, "SELECT count(*) FROM history.deal_versions WHERE change = 'removed' AND (payload IS NOT NULL OR content_hash IS NOT NULL OR payload_hash IS NOT NULL)", "0")
		interval := fmt.Sprintf("SELECT version FROM history.bond_priced_deals WHERE deal_id = 1 AND valid_from = TIMESTAMPTZ '%s' AND valid_to = TIMESTAMPTZ '%s'", first.KnownAt, second.KnownAt)
		world.WantLines(t, db, interval, "1")

		const live = " WHERE deal_id IN (1, 2) ORDER BY deal_id"
		world.WantLines(t, db, "SELECT deal_id, version FROM "+world.AsOf(first.KnownAt)("bond_priced_deals")+live, "1 1", "2 1")
		world.WantLines(t, db, "SELECT deal_id, version FROM "+world.AsOf(second.KnownAt)("bond_priced_deals")+live)
		world.WantLines(t, db, "SELECT deal_id, version FROM "+world.AsOf(third.KnownAt)("bond_priced_deals")+live, "1 3")
		world.WantLines(t, db, "SELECT deal_id, version FROM bond_priced_deals"+live, "1 3")
		world.WantLines(t, db, "SELECT deal_id FROM deals_as_of(TIMESTAMPTZ '"+second.KnownAt.String()+"') WHERE kind = 'expected' ORDER BY deal_id, service", "3", "4", "5", "6")
		world.WantLines(t, db, "SELECT deal_id FROM deals WHERE kind = 'priced' AND deal_id < 4 ORDER BY deal_id", "1", "3")
		world.WantAgreement(t, db, world.Priced, world.Expected, world.LoanExpected)
		world.WantInstants(t, db)
	})
}

// TestRemovalGuard checks that a feed is held if too many deals vanished, and only then.
func TestRemovalGuard(t *testing.T) {
	t.Parallel()
	for name, vanish := range map[string]struct {
		last int64 // of 30 deals, those up to it vanish
		want string
	}{
		"many":       {12, "12 of 30 deals vanished"},
		"everything": {30, "the list is empty, but 30 deals are current"},
	} {
		t.Run(name, func(t *testing.T) {
			w, b := world.NewBook(t)
			both := world.Feeds(world.Priced, world.Expected)
			b.WriteAll(world.Priced, 1, 30, "")
			b.WriteAll(world.Expected, 1, 5, "")
			w.Night(t, 0, both)

			for id := range vanish.last {
				b.Strike(world.Priced, id+1)
			}
			b.Strike(world.Expected, 1)
			w.Evening(1)
			result, err := w.Run(t, both)
			if !errors.Is(err, pull.ErrFeedsHeld) || errors.Is(err, pull.ErrFeedsFailed) {
				t.Fatalf("got %v, want ErrFeedsHeld alone", err)
			}
			world.WantOutcomes(t, result, "bond/ig/priced held", "bond/ig/expected done")
			if why := world.FeedRun(t, result, world.Priced).Error; !strings.Contains(why, vanish.want) || !strings.Contains(why, "--accept-removals") {
				t.Errorf("held because of %q, want %q and the way out", why, vanish.want)
			}
			if result.Commit != 2 || result.Outcome != lake.OutcomePartial {
				t.Errorf("commit %d %s, want 2 partial", result.Commit, result.Outcome)
			}
			w.Ask(t, func(db *stdsql.DB) {
				world.WantLines(t, db, "SELECT kind, count(*) FROM deals GROUP BY ALL ORDER BY ALL", "expected 4", "priced 30")
				world.WantLines(t, db, "SELECT snapshot_date::VARCHAR, count(*) FROM snapshots.bond_priced_deals GROUP BY ALL", "2026-01-05 30")
			})

			again := w.MustRun(t, both, world.AcceptRemovals)
			world.WantOutcomes(t, again, "bond/ig/priced done")
			world.WantCounts(t, again, world.Priced, [6]int64{0, 0, vanish.last, 0, 30 - vanish.last, 0})
			w.Ask(t, func(db *stdsql.DB) { world.WantAgreement(t, db, world.Priced, world.Expected) })
		})
	}
}

// TestNobodyIsRemovedOnDoubt checks that a deal stays current, and keeps its last version, unless it is known that it
// is gone.
func TestNobodyIsRemovedOnDoubt(t *testing.T) {
	t.Parallel()
	type doubt struct {
		night   func(*world.World, *world.Book)
		outcome string
	}
	for name, doubt := range testkit.SampleOf(map[string]doubt{
		"its own record has lost its id": {outcome: "done", night: func(w *world.World, b *world.Book) {
			w.Attempts = 5 // three answers without an id are taken for the record
			b.WriteBody(world.Expected, 1, `{"market":"IG"}`)
		}},
		"by id it answers, unreadably": {outcome: "done", night: func(_ *world.World, b *world.Book) {
			b.WriteBody(world.Expected, 1, `{"id":1,"message":"a","message":"b","id":1}`)
			b.Unlist(world.Expected, 1)
		}},
		"by id it answers, unreadably further in": {outcome: "done", night: func(_ *world.World, b *world.Book) {
			b.WriteBody(world.Expected, 1, `{"id":1,"message":{"a":1,"a":2}}`)
			b.Unlist(world.Expected, 1)
		}},
		"nothing answers by id": {outcome: "done", night: func(w *world.World, _ *world.Book) {
			w.Interfere(world.Refuse(http.StatusNotFound, world.Expected.Path()+"/"))
		}},
		"a 404 without a body": {outcome: "done", night: func(w *world.World, _ *world.Book) {
			w.Interfere(world.Refuse(http.StatusNotFound, world.Expected.DealPath(1)))
		}},
		"a 403 without a body": {outcome: "done", night: func(w *world.World, _ *world.Book) {
			w.Interfere(world.Refuse(http.StatusForbidden, world.Expected.DealPath(1)))
		}},
		"by id the server fails": {outcome: "failed", night: func(w *world.World, _ *world.Book) {
			w.Interfere(world.Refuse(http.StatusInternalServerError, world.Expected.DealPath(1)))
		}},
	}, 1) {
		t.Run(name, func(t *testing.T) {
			w, b := world.NewBook(t)
			both := world.Feeds(world.Priced, world.Expected)
			b.WriteAll(world.Priced, 1, 2, "")
			b.WriteAll(world.Expected, 1, 4, `"message":"B"`)
			w.Night(t, 0, both)
			b.Strike(world.Expected, 1)
			doubt.night(w, b)
			w.Evening(1)
			result, err := w.Run(t, both)
			if failed := errors.Is(err, pull.ErrFeedsFailed); failed != (doubt.outcome == "failed") || !failed && err != nil {
				t.Fatalf("got %v", err)
			}
			world.WantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected "+doubt.outcome)
			w.Ask(t, func(db *stdsql.DB) {
				world.WantLines(t, db, world.Versions(world.Expected, 1, 99), "1 1 added -", "2 1 added -", "3 1 added -", "4 1 added -")
				if doubt.outcome == "done" {
					world.WantLines(t, db, "SELECT deal_id FROM snapshots.bond_expected_deals WHERE snapshot_date = '2026-01-06' ORDER BY ALL", "1", "2", "3", "4")
				}
				world.WantAgreement(t, db, world.Priced, world.Expected)
			})
		})
	}
}
