package pipeline_test

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

	"dealflow/internal/pipeline"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// TestNothingNew runs over a market that stands still, and a second time on one day.
func TestNothingNew(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	both := feeds(priced, expected)
	b.writeAll(priced, 1, 5, `"message":"A"`)
	b.writeAll(expected, 1, 3, "")
	w.night(t, 0, both)

	still := w.night(t, 1, both)
	wantCounts(t, still, priced, [6]int64{0, 0, 0, 0, 5, 0})
	wantCounts(t, still, expected, [6]int64{0, 0, 0, 0, 3, 0})
	wantTables(t, w.log(t), still.RunID, "snapshots.bond_expected_deals", "snapshots.bond_priced_deals")
	before := len(w.log(t).AllFiles())

	// The same day once more: the day's partitions are replaced in one commit.
	w.clock.Advance(time.Hour)
	b.write(priced, 5, `"message":"changed"`)
	again := w.mustRun(t, both)
	wantOutcomes(t, again, "bond/ig/priced done", "bond/ig/expected done")
	wantCounts(t, again, priced, [6]int64{0, 1, 0, 0, 4, 0})
	wantTables(t, w.log(t), again.RunID, "history.bond_priced_deals", "history.deal_versions", "snapshots.bond_expected_deals", "snapshots.bond_priced_deals")
	wantTables(t, w.log(t), still.RunID)
	if got := len(w.log(t).AllFiles()); got != before+2 {
		t.Errorf("live files: got %d, want the %d of before and the two of history", got, before)
	}
	w.ask(t, func(db *stdsql.DB) {
		wantLines(t, db, "SELECT snapshot_date::VARCHAR, count(*), count(DISTINCT deal_id), max(version) FROM snapshots.bond_priced_deals GROUP BY ALL ORDER BY ALL",
			"2026-01-05 5 5 1", "2026-01-06 5 5 2")
		wantLines(t, db, "SELECT snapshot_date::VARCHAR, count(*), count(DISTINCT deal_id) FROM snapshots.bond_expected_deals GROUP BY ALL ORDER BY ALL",
			"2026-01-05 3 3", "2026-01-06 3 3")
		wantLines(t, db, `SELECT "commit", added, changed, unchanged FROM runs ORDER BY ALL`, "1 8 0 0", "2 0 0 8", "3 0 1 7")
		wantAgreement(t, db, priced, expected)
		wantInstants(t, db)
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

// TestPartialFailure lets one feed fail: the others are committed, and the next run of the day pulls
// that feed alone.
func TestPartialFailure(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	three := feeds(priced, expected, loanExpected)
	b.writeAll(priced, 1, 5, "")
	b.writeAll(expected, 1, 3, "")
	b.writeAll(loanExpected, 1, 2, "")
	w.night(t, 0, three)

	w.evening(1)
	b.write(priced, 1, `"message":"changed"`)
	b.write(expected, 1, `"message":"changed"`)
	w.interfere(refuse(http.StatusInternalServerError, expected.Path()))
	result, err := w.run(t, three)
	if !errors.Is(err, pipeline.ErrFeedsFailed) || errors.Is(err, pipeline.ErrFeedsHeld) {
		t.Fatalf("got %v, want ErrFeedsFailed alone", err)
	}
	wantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected failed", "loan/ll/expected done")
	if why := feedRun(t, result, expected).Error; !strings.Contains(why, "500") || !strings.Contains(why, expected.Path()) {
		t.Errorf("failed because of %q, want the status and the address", why)
	}
	if result.Commit != 2 || result.Outcome != lake.OutcomePartial || result.Count(func(f *lake.FeedRun) int64 { return f.Deals }) != 7 {
		t.Errorf("got commit %d, %s, %d deals; want 2, partial, 7", result.Commit, result.Outcome, result.Count(func(f *lake.FeedRun) int64 { return f.Deals }))
	}
	w.ask(t, func(db *stdsql.DB) {
		wantLines(t, db, versions(priced, 1, 1), "1 1 added -", "1 2 changed -")
		wantLines(t, db, versions(expected, 1, 1), "1 1 added -")
		wantLines(t, db, "SELECT count(*) FROM snapshots.bond_expected_deals WHERE snapshot_date = '2026-01-06'", "0")
		wantLines(t, db, `SELECT outcome, contains(error, '500') FROM feed_runs WHERE feed = 'bond/ig/expected' ORDER BY started_at`, "done -", "failed true")
		wantAgreement(t, db, priced, expected)
	})

	w.interfere(nil)
	healed := w.mustRun(t, three)
	wantOutcomes(t, healed, "bond/ig/expected done")
	wantCounts(t, healed, expected, [6]int64{0, 1, 0, 0, 2, 0})
	w.ask(t, func(db *stdsql.DB) { wantAgreement(t, db, priced, expected) })

	// Now none lacks the day: all go again.
	all := w.mustRun(t, three)
	wantOutcomes(t, all, "bond/ig/priced done", "bond/ig/expected done", "loan/ll/expected done")
}

// TestBrokenPages fails a feed whose pages cannot be read, and that one alone.
func TestBrokenPages(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"cut short": `{"_embedded":{"expectedDeals":[{"id":1},{"id"`, "of a proxy": "<html>sign in</html>", "no list": `{}`,
	} {
		t.Run(name, func(t *testing.T) {
			w, b := newBook(t)
			b.writeAll(priced, 1, 2, "")
			w.evening(0)
			w.interfere(func(out http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != expected.Path() {
					return false
				}
				out.Header().Set("Content-Type", "application/hal+json")
				_, err := io.WriteString(out, page)
				return err == nil
			})
			result, err := w.run(t, feeds(priced, expected))
			if !errors.Is(err, pipeline.ErrFeedsFailed) || result.Commit != 1 {
				t.Errorf("got %v, commit %d; want ErrFeedsFailed, commit 1", err, result.Commit)
			}
			wantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected failed")
			if why := feedRun(t, result, expected).Error; !strings.Contains(why, expected.Path()) {
				t.Errorf("failed because of %q, want the address", why)
			}
		})
	}
}

// TestEveryFeedFails commits nothing.
func TestEveryFeedFails(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 5, "")
	w.evening(0)
	w.interfere(refuse(http.StatusInternalServerError, "/v3/"))
	result, err := w.run(t, feeds(priced, expected))
	if !errors.Is(err, pipeline.ErrNothingDone) || !errors.Is(err, pipeline.ErrFeedsFailed) {
		t.Errorf("got %v, want ErrNothingDone and ErrFeedsFailed", err)
	}
	if result.Commit != 0 || result.Outcome != lake.OutcomeFailed {
		t.Errorf("got commit %d, %s; want none, failed", result.Commit, result.Outcome)
	}
	wantEmpty(t, filepath.Join(w.root, "_dealflow"))
}

// TestNotPartOfTheAccount skips feeds that the account has never seen, also when the day is run
// again; one that the lake holds has failed.
func TestNotPartOfTheAccount(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			w, b := newBook(t)
			both := feeds(priced, loanExpected)
			b.writeAll(priced, 1, 5, "")
			b.writeAll(loanExpected, 1, 5, "")
			w.evening(0)
			w.interfere(refuse(status, "/v3/loan/"))
			result := w.mustRun(t, both)
			wantOutcomes(t, result, "bond/ig/priced done", "loan/ll/expected skipped")
			if result.Outcome != lake.OutcomeDone {
				t.Errorf("outcome %s, want done", result.Outcome)
			}
			wantOutcomes(t, w.mustRun(t, both), "bond/ig/priced done", "loan/ll/expected skipped")

			w.interfere(nil)
			wantOutcomes(t, w.mustRun(t, both), "bond/ig/priced done", "loan/ll/expected done")

			w.interfere(refuse(status, "/v3/loan/"))
			w.evening(1)
			result, err := w.run(t, both)
			if !errors.Is(err, pipeline.ErrFeedsFailed) {
				t.Errorf("got %v, want ErrFeedsFailed", err)
			}
			wantOutcomes(t, result, "bond/ig/priced done", "loan/ll/expected failed")
			w.ask(t, func(db *stdsql.DB) {
				wantLines(t, db, "SELECT count(*) FROM loan_expected_deals", "5")
			})
		})
	}
}
