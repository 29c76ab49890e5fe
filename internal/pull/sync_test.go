package pull_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// TestSync follows one day: changes and additions are pulled, removals are not, and a sync without changes commits
// nothing.
func TestSync(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	all := world.Feeds(world.Priced, world.Expected, world.LoanExpected)
	for day, feed := range []api.Feed{world.Priced, world.Expected, world.LoanExpected} {
		w.Evening(day - 3)
		b.WriteAll(feed, 1, 12, `"message":"A"`)
		w.Later(time.Hour)
		b.Write(feed, 12, `"message":"A"`) // so that there is a link to continue from
	}
	first := w.Night(t, 0, all)

	w.Later(time.Hour)
	quiet := w.MustSync(t, all)
	if quiet.Commit != 0 || quiet.Outcome != lake.OutcomeUnchanged {
		t.Errorf("quiet sync: commit %d, %s; want none, unchanged", quiet.Commit, quiet.Outcome)
	}

	b.Write(world.Priced, 2, `"message":"changed"`)
	b.Write(world.Priced, 20, `"message":"new"`)
	b.Strike(world.Priced, 5)
	b.Write(world.Expected, 3, `"message":"changed"`)
	b.Strike(world.Expected, 4)
	b.Write(world.LoanExpected, 1, `"message":"changed"`)
	w.Later(time.Minute)
	synced := w.MustSync(t, all)
	if synced.SnapshotDate != "" {
		t.Errorf("a sync has a snapshot date: %s", synced.SnapshotDate)
	}
	for _, feed := range []api.Feed{world.Priced, world.Expected, world.LoanExpected} {
		f := world.FeedRun(t, synced, feed)
		want := [3]int64{0, 1, 0}
		if feed == world.Priced {
			want[0] = 1
		}
		if got := [3]int64{f.Added, f.Changed, f.Removed}; got != want {
			t.Errorf("%s: added, changed, removed: got %v, want %v", feed, got, want)
		}
	}
	for _, file := range w.Log(t).AllFiles() {
		if strings.Contains(file.Path, synced.RunID) && !strings.HasPrefix(file.Path, "history/") {
			t.Errorf("a sync wrote %s", file.Path)
		}
	}
	w.Later(time.Minute)
	again := w.MustSync(t, all)
	if again.Commit != 0 {
		t.Errorf("the same again: commit %d, want none", again.Commit)
	}

	w.Evening(1)
	night := w.MustRun(t, all)
	world.WantCounts(t, night, world.Priced, [6]int64{0, 0, 1, 0, 12, 0})
	world.WantCounts(t, night, world.Expected, [6]int64{0, 0, 1, 0, 11, 0})
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, world.Versions(world.Priced, 2, 5), "2 1 added -", "2 2 changed -", "3 1 added -", "4 1 added -", "5 1 added -", "5 2 removed gone")
		const message = " WHERE deal_id IN (2, 20) ORDER BY deal_id"
		world.WantLines(t, db, "SELECT deal_id, message FROM "+world.AsOf(first.KnownAt)("bond_priced_deals")+message, "2 A")
		world.WantLines(t, db, "SELECT deal_id, message FROM "+world.AsOf(synced.KnownAt)("bond_priced_deals")+message, "2 changed", "20 new")
		world.WantLines(t, db, `SELECT command, outcome FROM runs ORDER BY "commit"`, "run done", "sync done", "run done")
		world.WantAgreement(t, db, world.Priced, world.Expected, world.LoanExpected)
		world.WantInstants(t, db)
	})
}

// TestSyncIsLight checks that a sync requests only what changed: one request for the token and one page per feed.
func TestSyncIsLight(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 4, Deals: 120})
	w.Night(t, 0)
	w.Later(5 * time.Minute)
	result := w.MustSync(t)
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

// TestSyncNeedsASnapshot checks that a sync does not begin a lake or a feed: a feed begins with a complete snapshot, so
// that all its deals are known.
func TestSyncNeedsASnapshot(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	b.WriteAll(world.Expected, 1, 3, "")
	w.Evening(0)
	if _, err := w.Sync(t, world.Feeds(world.Priced)); !errors.Is(err, load.ErrNoLake) {
		t.Errorf("without a lake: got %v, want ErrNoLake", err)
	}
	w.MustRun(t, world.Feeds(world.Priced))
	if _, err := w.Sync(t, world.Feeds(world.Expected)); !errors.Is(err, pull.ErrNothingDone) {
		t.Errorf("without any of the feeds: got %v, want ErrNothingDone", err)
	}
	w.Later(time.Hour)
	b.Write(world.Priced, 1, `"message":"changed"`)
	result := w.MustSync(t, world.Feeds(world.Priced, world.Expected))
	world.WantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected skipped")
}

// TestSyncFails checks that the failure of one feed does not affect the others.
func TestSyncFails(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	both := world.Feeds(world.Priced, world.Expected)
	b.WriteAll(world.Priced, 1, 3, "")
	b.WriteAll(world.Expected, 1, 3, "")
	w.Night(t, 0, both)
	w.Later(time.Hour)
	b.Write(world.Priced, 1, `"message":"changed"`)
	w.Interfere(world.Refuse(http.StatusInternalServerError, world.Expected.Path()))
	result, err := w.Sync(t, both)
	if !errors.Is(err, pull.ErrFeedsFailed) || result.Commit != 2 || result.Outcome != lake.OutcomePartial {
		t.Errorf("got %v, commit %d %s; want ErrFeedsFailed, commit 2 partial", err, result.Commit, result.Outcome)
	}
	world.WantOutcomes(t, result, "bond/ig/priced done", "bond/ig/expected failed")

	// The next one finds nothing new, and still says that a feed failed.
	w.Later(time.Minute)
	result, err = w.Sync(t, both)
	if !errors.Is(err, pull.ErrFeedsFailed) || errors.Is(err, pull.ErrNothingDone) || result.Commit != 0 {
		t.Errorf("got %v, commit %d; want ErrFeedsFailed alone, no commit", err, result.Commit)
	}
}

// TestRunReportsWhatSyncMissed edits a deal without moving it to the front of its list. Syncs cannot see that; the
// nightly run finds and reports it. (An incremental copy that is never compared with its source drifts away from it.)
func TestRunReportsWhatSyncMissed(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 9, `"message":"A"`)
	quiet := b.Body(world.Priced, 4, `"message":"edited in silence"`)
	w.Later(time.Hour)
	b.Write(world.Priced, 8, "")
	w.Later(time.Hour)
	b.Write(world.Priced, 9, "")
	w.Night(t, 0, world.Feeds(world.Priced))
	w.Later(time.Hour)
	b.Write(world.Priced, 8, `"message":"changed"`)
	w.Later(time.Hour)
	b.Write(world.Priced, 9, `"message":"changed"`)
	b.Edit(world.Priced, 4, quiet)
	synced := w.MustSync(t, world.Feeds(world.Priced))
	world.WantCounts(t, synced, world.Priced, [6]int64{0, 2, 0, 0, 0, 0})

	w.Evening(1)
	b.Write(world.Priced, 7, `"message":"changed after the sync"`)
	result, err := w.Run(t, world.Feeds(world.Priced))
	if err != nil {
		t.Fatal(err)
	}
	f := world.FeedRun(t, result, world.Priced)
	if f.Changed != 2 || f.SyncMissed != 1 || len(f.SyncMissedIDs) != 1 || f.SyncMissedIDs[0] != 4 {
		t.Errorf("changed %d, missed %d %v; want 2, 1 [4]", f.Changed, f.SyncMissed, f.SyncMissedIDs)
	}
	if want := "bond/ig/priced: this run found 1 changes that syncs had missed: deals [4]"; len(result.Warnings) != 1 || result.Warnings[0] != want {
		t.Errorf("warnings %q, want %q", result.Warnings, want)
	}
	w.Evening(2)
	if f := world.FeedRun(t, w.MustRun(t, world.Feeds(world.Priced)), world.Priced); f.SyncMissed != 0 {
		t.Errorf("the next run: missed %d, want 0", f.SyncMissed)
	}
}

// TestTruthWithSyncs checks that each night ends in the market's own state, for any syncs during the day.
func TestTruthWithSyncs(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 11, Deals: 40})
	tr := world.NewTruth(t, api.Feeds()...)
	for n := range 4 {
		for hour := range n {
			w.Clock.Set(world.Epoch.AddDate(0, 0, n).Add(time.Duration(8+5*hour) * time.Hour))
			w.MustSync(t)
		}
		w.Evening(n)
		if _, err := w.Run(t); err != nil {
			t.Fatal(err)
		}
		want := tr.Rows(t, w)
		w.Ask(t, func(db *stdsql.DB) {
			tr.Compare(t, db, fmt.Sprintf("night %d after %d syncs", n, n), func(table string) string { return table }, want)
			world.WantAgreement(t, db, api.Feeds()...)
		})
	}
	if syncs := strings.Count(fmt.Sprint(commands(w.Log(t))), "sync"); syncs < 4 {
		t.Errorf("only %d syncs committed: the test tries too little", syncs)
	}
}

func commands(log *load.Log) (all []string) {
	for i := range log.Commits {
		all = append(all, log.Commits[i].Command)
	}
	return all
}

// TestSyncGivesWay checks that a sync does nothing while another run holds the lease, and works after the lease has
// expired.
func TestSyncGivesWay(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	w.Night(t, 0, world.Feeds(world.Priced))
	w.Later(time.Hour)
	b.Write(world.Priced, 1, `"message":"changed"`)
	cfg := w.Config(t, world.Feeds(world.Priced))
	cfg.FeedDone = func(lake.FeedRun) {
		if result, err := w.Sync(t, world.Feeds(world.Priced)); err != nil || result.Outcome != lake.OutcomeSkipped || len(result.Warnings) != 1 {
			t.Errorf("beside a run: got %+v, %v; want it skipped", result, err)
		}
	}
	if _, err := pull.Run(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	if held := l.Lease(t.Context(), w.Clock.Now()); held != nil {
		t.Errorf("the run left its lease: %+v", held)
	}
	crashed := load.Lease{Owner: "elsewhere", RunID: "crashed", Command: "run", ExpiresAt: lake.At(w.Clock.Now().Add(load.LeaseLife))}
	if err := l.TakeLease(t.Context(), crashed); err != nil {
		t.Fatal(err)
	}
	b.Write(world.Priced, 2, `"message":"changed"`)
	if result := w.MustSync(t, world.Feeds(world.Priced)); result.Outcome != lake.OutcomeSkipped {
		t.Errorf("beside the lease of a crashed run: %s, want skipped", result.Outcome)
	}
	w.Later(load.LeaseLife + time.Minute)
	if result := w.MustSync(t, world.Feeds(world.Priced)); result.Outcome != lake.OutcomeDone {
		t.Errorf("after it has run out: %s, want done", result.Outcome)
	}
}
