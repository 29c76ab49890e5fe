package pull_test

import (
	stdsql "database/sql"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// TestNothingNew runs over a market that does not change, and a second time on one day.
func TestNothingNew(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	both := world.Feeds(world.Priced, world.Expected)
	b.WriteAll(world.Priced, 1, 5, `"message":"A"`)
	b.WriteAll(world.Expected, 1, 3, "")
	w.Night(t, 0, both)

	still := w.Night(t, 1, both)
	world.WantCounts(t, still, world.Priced, [6]int64{0, 0, 0, 0, 5, 0})
	world.WantCounts(t, still, world.Expected, [6]int64{0, 0, 0, 0, 3, 0})
	wantTables(t, w.Log(t), still.RunID, "snapshots.bond_expected_deals", "snapshots.bond_priced_deals")
	before := len(w.Log(t).AllFiles())

	// The same day once more: the day's partitions are replaced in one commit.
	w.Clock.Advance(time.Hour)
	b.Write(world.Priced, 5, `"message":"changed"`)
	again := w.MustRun(t, both)
	world.WantOutcomes(t, again, "bond/ig/priced done", "bond/ig/expected done")
	world.WantCounts(t, again, world.Priced, [6]int64{0, 1, 0, 0, 4, 0})
	wantTables(t, w.Log(t), again.RunID, "history.bond_priced_deals", "history.deal_versions", "snapshots.bond_expected_deals", "snapshots.bond_priced_deals")
	wantTables(t, w.Log(t), still.RunID)
	if got := len(w.Log(t).AllFiles()); got != before+2 {
		t.Errorf("live files: got %d, want the %d of before and the two of history", got, before)
	}
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, "SELECT snapshot_date::VARCHAR, count(*), count(DISTINCT deal_id), max(version) FROM snapshots.bond_priced_deals GROUP BY ALL ORDER BY ALL",
			"2026-01-05 5 5 1", "2026-01-06 5 5 2")
		world.WantLines(t, db, "SELECT snapshot_date::VARCHAR, count(*), count(DISTINCT deal_id) FROM snapshots.bond_expected_deals GROUP BY ALL ORDER BY ALL",
			"2026-01-05 3 3", "2026-01-06 3 3")
		world.WantLines(t, db, `SELECT "commit", added, changed, unchanged FROM runs ORDER BY ALL`, "1 8 0 0", "2 0 0 8", "3 0 1 7")
		world.WantAgreement(t, db, world.Priced, world.Expected)
		world.WantInstants(t, db)
	})
}

// wantTables checks into which tables the live files of a run go.
func wantTables(t *testing.T, log *load.Log, runID string, want ...string) {
	t.Helper()
	var got []string
	for _, file := range log.AllFiles() {
		if strings.Contains(file.Path, runID) {
			got = append(got, file.Table)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("live files of run %s: got %q, want %q", runID, got, want)
	}
}

// TestPartialFailure lets one feed fail: the others are committed, and the next run of the day pulls only that feed.
func TestPartialFailure(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	three := world.Feeds(world.Priced, world.Expected, world.LoanExpected)
	b.WriteAll(world.Priced, 1, 5, "")
	b.WriteAll(world.Expected, 1, 3, "")
	b.WriteAll(world.LoanExpected, 1, 2, "")
	w.Night(t, 0, three)

	w.Evening(1)
	b.Write(world.Priced, 1, `"message":"changed"`)
	b.Write(world.Expected, 1, `"message":"changed"`)
	w.Interfere(world.Refuse(http.StatusInternalServerError, world.Expected.Path()))
	result, err := w.Run(t, three)
	if !errors.Is(err, pull.ErrFeedsFailed) || errors.Is(err, pull.ErrFeedsHeld) {
		t.Fatalf("got %v, want ErrFeedsFailed alone", err)
	}
	world.WantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected failed", "loan/ll/expected done")
	if why := world.FeedRun(t, result, world.Expected).Error; !strings.Contains(why, "500") || !strings.Contains(why, world.Expected.Path()) {
		t.Errorf("failed because of %q, want the status and the address", why)
	}
	if result.Commit != 2 || result.Outcome != lake.OutcomePartial || result.Count(func(f *lake.FeedRun) int64 { return f.Deals }) != 7 {
		t.Errorf("got commit %d, %s, %d deals; want 2, partial, 7", result.Commit, result.Outcome, result.Count(func(f *lake.FeedRun) int64 { return f.Deals }))
	}
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, world.Versions(world.Priced, 1, 1), "1 1 added -", "1 2 changed -")
		world.WantLines(t, db, world.Versions(world.Expected, 1, 1), "1 1 added -")
		world.WantLines(t, db, "SELECT count(*) FROM snapshots.bond_expected_deals WHERE snapshot_date = '2026-01-06'", "0")
		world.WantLines(t, db, `SELECT outcome, contains(error, '500') FROM feed_runs WHERE feed = 'bond/ig/expected' ORDER BY started_at`, "done -", "failed true")
		world.WantAgreement(t, db, world.Priced, world.Expected)
	})

	w.Interfere(nil)
	healed := w.MustRun(t, three)
	world.WantOutcomes(t, healed, "bond/ig/expected done")
	world.WantCounts(t, healed, world.Expected, [6]int64{0, 1, 0, 0, 2, 0})
	w.Ask(t, func(db *stdsql.DB) { world.WantAgreement(t, db, world.Priced, world.Expected) })

	// Now no feed lacks the day's snapshot, so all are pulled again.
	all := w.MustRun(t, three)
	world.WantOutcomes(t, all, "bond/ig/priced done", "bond/ig/expected done", "loan/ll/expected done")
}

// TestBrokenPages checks that a feed with unreadable pages fails, and that no other does.
func TestBrokenPages(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"cut short": `{"_embedded":{"expectedDeals":[{"id":1},{"id"`, "of a proxy": "<html>sign in</html>", "no list": `{}`,
		"another key": `{"_embedded":{"deals":[{"id":1}]},"_links":{"first":{"href":"/v3/bond/ig/expected-deal"}}}`, "without links": `{"_embedded":{"expectedDeals":[]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			w, b := world.NewBook(t)
			b.WriteAll(world.Priced, 1, 2, "")
			w.Evening(0)
			w.Interfere(func(out http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != world.Expected.Path() {
					return false
				}
				out.Header().Set("Content-Type", "application/hal+json")
				_, err := io.WriteString(out, page)
				return err == nil
			})
			result, err := w.Run(t, world.Feeds(world.Priced, world.Expected))
			if !errors.Is(err, pull.ErrFeedsFailed) || result.Commit != 1 {
				t.Errorf("got %v, commit %d; want ErrFeedsFailed, commit 1", err, result.Commit)
			}
			world.WantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected failed")
			if why := world.FeedRun(t, result, world.Expected).Error; !strings.Contains(why, world.Expected.Path()) {
				t.Errorf("failed because of %q, want the address", why)
			}
		})
	}
}

// TestEveryFeedFails checks that nothing is committed if every feed fails.
func TestEveryFeedFails(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 5, "")
	w.Evening(0)
	w.Interfere(world.Refuse(http.StatusInternalServerError, "/v3/"))
	result, err := w.Run(t, world.Feeds(world.Priced, world.Expected))
	if !errors.Is(err, pull.ErrNothingDone) || !errors.Is(err, pull.ErrFeedsFailed) {
		t.Errorf("got %v, want ErrNothingDone and ErrFeedsFailed", err)
	}
	if result.Commit != 0 || result.Outcome != lake.OutcomeFailed {
		t.Errorf("got commit %d, %s; want none, failed", result.Commit, result.Outcome)
	}
	world.WantEmpty(t, filepath.Join(w.Root, "_dealflow"))
}

// TestNotPartOfTheAccount checks that feeds that the account never had are skipped, also when the day is run again, and
// that a feed with a snapshot in the lake fails instead.
func TestNotPartOfTheAccount(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			w, b := world.NewBook(t)
			both := world.Feeds(world.Priced, world.LoanExpected)
			b.WriteAll(world.Priced, 1, 5, "")
			b.WriteAll(world.LoanExpected, 1, 5, "")
			w.Evening(0)
			w.Interfere(world.Refuse(status, "/v3/loan/"))
			result := w.MustRun(t, both)
			world.WantOutcomes(t, result, "bond/ig/priced done", "loan/ll/expected skipped")
			if result.Outcome != lake.OutcomeDone {
				t.Errorf("outcome %s, want done", result.Outcome)
			}
			world.WantOutcomes(t, w.MustRun(t, both), "bond/ig/priced done", "loan/ll/expected skipped")

			w.Interfere(nil)
			world.WantOutcomes(t, w.MustRun(t, both), "bond/ig/priced done", "loan/ll/expected done")

			w.Interfere(world.Refuse(status, "/v3/loan/"))
			w.Evening(1)
			result, err := w.Run(t, both)
			if !errors.Is(err, pull.ErrFeedsFailed) {
				t.Errorf("got %v, want ErrFeedsFailed", err)
			}
			world.WantOutcomes(t, result, "bond/ig/priced done", "loan/ll/expected failed")
			w.Ask(t, func(db *stdsql.DB) {
				world.WantLines(t, db, "SELECT count(*) FROM loan_expected_deals", "5")
			})
		})
	}
}
