package pipeline_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"dealflow/internal/pipeline"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// sync syncs now.
func (w *world) sync(t testing.TB, changes ...change) (*pipeline.Result, error) {
	t.Helper()
	cfg := w.config(t)
	for _, adapt := range changes {
		adapt(&cfg)
	}
	return pipeline.Sync(t.Context(), cfg)
}

// mustSync syncs now, and nothing may be wrong.
func (w *world) mustSync(t testing.TB, changes ...change) *pipeline.Result {
	t.Helper()
	result, err := w.sync(t, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// later moves the clock on.
func (w *world) later(d time.Duration) { w.clock.Set(w.clock.Now().Add(d)) }

// TestSync follows one day: changes and additions arrive, removals do not, and a quiet sync commits
// nothing.
func TestSync(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	all := feeds(priced, expected, loanExpected)
	for day, feed := range []api.Feed{priced, expected, loanExpected} {
		w.evening(day - 3)
		b.writeAll(feed, 1, 12, `"message":"A"`)
		w.later(time.Hour)
		b.write(feed, 12, `"message":"A"`) // so that there is a link to go on from
	}
	first := w.night(t, 0, all)

	w.later(time.Hour)
	quiet := w.mustSync(t, all)
	if quiet.Commit != 0 || quiet.Outcome != lake.OutcomeUnchanged {
		t.Errorf("quiet sync: commit %d, %s; want none, unchanged", quiet.Commit, quiet.Outcome)
	}

	b.write(priced, 2, `"message":"changed"`)
	b.write(priced, 20, `"message":"new"`)
	b.strike(priced, 5)
	b.write(expected, 3, `"message":"changed"`)
	b.strike(expected, 4)
	b.write(loanExpected, 1, `"message":"changed"`)
	w.later(time.Minute)
	synced := w.mustSync(t, all)
	if synced.SnapshotDate != "" {
		t.Errorf("a sync has a snapshot date: %s", synced.SnapshotDate)
	}
	for _, feed := range []api.Feed{priced, expected, loanExpected} {
		f := feedRun(t, synced, feed)
		want := [3]int64{0, 1, 0}
		if feed == priced {
			want[0] = 1
		}
		if got := [3]int64{f.Added, f.Changed, f.Removed}; got != want {
			t.Errorf("%s: added, changed, removed: got %v, want %v", feed, got, want)
		}
	}
	for _, file := range w.log(t).AllFiles() {
		if strings.Contains(file.Path, synced.RunID) && !strings.HasPrefix(file.Path, "history/") {
			t.Errorf("a sync wrote %s", file.Path)
		}
	}
	w.later(time.Minute)
	again := w.mustSync(t, all)
	if again.Commit != 0 {
		t.Errorf("the same again: commit %d, want none", again.Commit)
	}

	w.evening(1)
	night := w.mustRun(t, all)
	wantCounts(t, night, priced, [6]int64{0, 0, 1, 0, 12, 0})
	wantCounts(t, night, expected, [6]int64{0, 0, 1, 0, 11, 0})
	w.ask(t, func(db *stdsql.DB) {
		wantLines(t, db, versions(priced, 2, 5), "2 1 added -", "2 2 changed -", "3 1 added -", "4 1 added -", "5 1 added -", "5 2 removed gone")
		const message = " WHERE deal_id IN (2, 20) ORDER BY deal_id"
		wantLines(t, db, "SELECT deal_id, message FROM "+asOf(first.KnownAt)("bond_priced_deals")+message, "2 A")
		wantLines(t, db, "SELECT deal_id, message FROM "+asOf(synced.KnownAt)("bond_priced_deals")+message, "2 changed", "20 new")
		wantLines(t, db, `SELECT command, outcome FROM runs ORDER BY "commit"`, "run done", "sync done", "run done")
		wantAgreement(t, db, priced, expected, loanExpected)
		wantInstants(t, db)
	})
}

// TestSyncIsLight asks for what changed alone: a request for the token and a page a feed.
func TestSyncIsLight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.Config{Seed: 4, Deals: 120})
	w.night(t, 0)
	w.later(5 * time.Minute)
	result := w.mustSync(t)
	var requests int64
	for _, f := range result.Feeds {
		requests += f.Requests
		if f.Feed.HasUpdatedSince() && f.Requests > 1 {
			t.Errorf("%s: %d requests", f.Feed, f.Requests)
		}
	}
	if requests > 30 {
		t.Errorf("%d requests, want at most 30", requests)
	}
}

// TestSyncNeedsASnapshot begins nothing: the deals of a first complete snapshot are known to be those
// that stood before.
func TestSyncNeedsASnapshot(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 3, "")
	b.writeAll(expected, 1, 3, "")
	w.evening(0)
	if _, err := w.sync(t, feeds(priced)); !errors.Is(err, load.ErrNoLake) {
		t.Errorf("without a lake: got %v, want ErrNoLake", err)
	}
	w.mustRun(t, feeds(priced))
	if _, err := w.sync(t, feeds(expected)); !errors.Is(err, pipeline.ErrNothingDone) {
		t.Errorf("without any of the feeds: got %v, want ErrNothingDone", err)
	}
	w.later(time.Hour)
	b.write(priced, 1, `"message":"changed"`)
	result := w.mustSync(t, feeds(priced, expected))
	wantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected skipped")
}

// TestSyncFails leaves the feeds apart: one that fails takes no other with it.
func TestSyncFails(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	both := feeds(priced, expected)
	b.writeAll(priced, 1, 3, "")
	b.writeAll(expected, 1, 3, "")
	w.night(t, 0, both)
	w.later(time.Hour)
	b.write(priced, 1, `"message":"changed"`)
	w.interfere(refuse(http.StatusInternalServerError, expected.Path()))
	result, err := w.sync(t, both)
	if !errors.Is(err, pipeline.ErrFeedsFailed) || result.Commit != 2 || result.Outcome != lake.OutcomePartial {
		t.Errorf("got %v, commit %d %s; want ErrFeedsFailed, commit 2 partial", err, result.Commit, result.Outcome)
	}
	wantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected failed")

	// The next one finds nothing new, and still says that a feed failed.
	w.later(time.Minute)
	result, err = w.sync(t, both)
	if !errors.Is(err, pipeline.ErrFeedsFailed) || errors.Is(err, pipeline.ErrNothingDone) || result.Commit != 0 {
		t.Errorf("got %v, commit %d; want ErrFeedsFailed alone, no commit", err, result.Commit)
	}
}

// TestRunReportsWhatSyncMissed edits a deal without moving it to the front of its list: syncs cannot see
// that, and the nightly run finds it and says so. (A sync that skips rows: an incremental copy that
// nobody compares drifts away from its source.)
func TestRunReportsWhatSyncMissed(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 9, `"message":"A"`)
	quiet := b.body(priced, 4, `"message":"edited in silence"`)
	w.later(time.Hour)
	b.write(priced, 8, "")
	w.later(time.Hour)
	b.write(priced, 9, "")
	w.night(t, 0, feeds(priced))
	w.later(time.Hour)
	b.write(priced, 8, `"message":"changed"`)
	w.later(time.Hour)
	b.write(priced, 9, `"message":"changed"`)
	b.edit(priced, 4, quiet)
	synced := w.mustSync(t, feeds(priced))
	wantCounts(t, synced, priced, [6]int64{0, 2, 0, 0, 0, 0})

	w.evening(1)
	b.write(priced, 7, `"message":"changed after the sync"`)
	result, err := w.run(t, feeds(priced))
	if err != nil {
		t.Fatal(err)
	}
	f := feedRun(t, result, priced)
	if f.Changed != 2 || f.SyncMissed != 1 || len(f.SyncMissedIDs) != 1 || f.SyncMissedIDs[0] != 4 {
		t.Errorf("changed %d, missed %d %v; want 2, 1 [4]", f.Changed, f.SyncMissed, f.SyncMissedIDs)
	}
	if want := "bond/ig/priced: this run found 1 changes that syncs had missed: deals [4]"; len(result.Warnings) != 1 || result.Warnings[0] != want {
		t.Errorf("warnings %q, want %q", result.Warnings, want)
	}
	w.evening(2)
	if f := feedRun(t, w.mustRun(t, feeds(priced)), priced); f.SyncMissed != 0 {
		t.Errorf("the next run: missed %d, want 0", f.SyncMissed)
	}
}

// TestTruthWithSyncs ends each night in the market's own state, whatever syncs were made through the
// day.
func TestTruthWithSyncs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.Config{Seed: 11, Deals: 40})
	tr := newTruth(t, api.Feeds()...)
	for n := range 4 {
		for hour := range n {
			w.clock.Set(epoch.AddDate(0, 0, n).Add(time.Duration(8+5*hour) * time.Hour))
			w.mustSync(t)
		}
		w.evening(n)
		if _, err := w.run(t); err != nil {
			t.Fatal(err)
		}
		want := tr.rows(t, w)
		w.ask(t, func(db *stdsql.DB) {
			tr.compare(t, db, fmt.Sprintf("night %d after %d syncs", n, n), func(table string) string { return table }, want)
			wantAgreement(t, db, api.Feeds()...)
		})
	}
	if syncs := strings.Count(fmt.Sprint(commands(w.log(t))), "sync"); syncs < 4 {
		t.Errorf("only %d syncs committed: the test tries too little", syncs)
	}
}

func commands(log *load.Log) (all []string) {
	for i := range log.Runs {
		all = append(all, log.Runs[i].Command)
	}
	return all
}

// TestSyncGivesWay does nothing while another run holds the lease, and goes on once that has run out.
func TestSyncGivesWay(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 3, "")
	w.night(t, 0, feeds(priced))
	w.later(time.Hour)
	b.write(priced, 1, `"message":"changed"`)
	cfg := w.config(t)
	feeds(priced)(&cfg)
	cfg.FeedDone = func(lake.FeedRun) {
		if result, err := w.sync(t, feeds(priced)); err != nil || result.Outcome != lake.OutcomeSkipped || len(result.Warnings) != 1 {
			t.Errorf("beside a run: got %+v, %v; want it skipped", result, err)
		}
	}
	if _, err := pipeline.Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	l, err := load.Open(t.Context(), w.store)
	if err != nil {
		t.Fatal(err)
	}
	if held := l.Lease(t.Context(), w.clock.Now()); held != nil {
		t.Errorf("the run left its lease: %+v", held)
	}
	crashed := load.Lease{Owner: "elsewhere", RunID: "crashed", Command: "run", ExpiresAt: lake.At(w.clock.Now().Add(load.LeaseLife))}
	if err := l.TakeLease(t.Context(), crashed); err != nil {
		t.Fatal(err)
	}
	b.write(priced, 2, `"message":"changed"`)
	if result := w.mustSync(t, feeds(priced)); result.Outcome != lake.OutcomeSkipped {
		t.Errorf("beside the lease of a crashed run: %s, want skipped", result.Outcome)
	}
	w.later(load.LeaseLife + time.Minute)
	if result := w.mustSync(t, feeds(priced)); result.Outcome != lake.OutcomeDone {
		t.Errorf("after it has run out: %s, want done", result.Outcome)
	}
}
