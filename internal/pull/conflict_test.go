package pull_test

import (
	stdsql "database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// TestDecidesAgain lets another run commit just before a run with the same start does. The run reads the new state and
// commits after it. For each deal the later observation wins.
func TestDecidesAgain(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 20, `"message":"A"`)
	w.Night(t, 0, world.Feeds(world.Priced))
	w.Evening(1)
	b.Write(world.Priced, 1, `"message":"seen by both"`)
	b.Write(world.Priced, 2, `"message":"seen by the slow one, before it changes again"`)
	b.Strike(world.Priced, 3)
	cfg := w.Config(t, world.Feeds(world.Priced))
	meets := 0
	cfg.FeedDone = func(lake.FeedRun) {
		meets++
		w.Later(time.Minute)
		b.Write(world.Priced, 2, `"message":"seen by the fast one alone"`)
		b.Write(world.Priced, 21, `"message":"new to the fast one alone"`)
		b.Strike(world.Priced, 4)
		won := w.MustRun(t, world.Feeds(world.Priced))
		world.WantCounts(t, won, world.Priced, [6]int64{1, 2, 2, 0, 16, 0})
	}
	result, err := pull.Run(t.Context(), cfg)
	if err != nil || result.Commit != 3 || meets != 1 {
		t.Fatalf("got %v, commit %d; want commit 3", err, result.Commit)
	}
	world.WantCounts(t, result, world.Priced, [6]int64{0, 0, 0, 0, 19, 0})
	log := w.Log(t)
	for _, file := range log.Files("snapshots.bond_priced_deals") {
		if file.Partition["snapshot_date"] == "2026-01-06" && file.Rows != 19 {
			t.Errorf("the day's snapshot %s has %d rows, want 19", file.Path, file.Rows)
		}
	}
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, world.Versions(world.Priced, 1, 4),
			"1 1 added -", "1 2 changed -", "2 1 added -", "2 2 changed -", "3 1 added -", "3 2 removed gone", "4 1 added -", "4 2 removed gone")
		world.WantLines(t, db, "SELECT deal_id, message FROM bond_priced_deals WHERE deal_id IN (1, 2, 21) ORDER BY deal_id",
			"1 seen by both", "2 seen by the fast one alone", "21 new to the fast one alone")
		world.WantAgreement(t, db, world.Priced)
		world.WantInstants(t, db)
	})
}

// TestDecidesAgainLater is the opposite case: the losing run's observations are later than the committed ones.
func TestDecidesAgainLater(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 20, `"message":"A"`)
	w.Night(t, 0, world.Feeds(world.Priced))
	w.Evening(1)
	early := w.Config(t, world.Feeds(world.Priced))
	late := w.Config(t, world.Feeds(world.Priced))
	b.Write(world.Priced, 1, `"message":"early"`)
	b.Write(world.Priced, 2, `"message":"same"`)
	var lateResult *pull.Result
	var lateErr error
	ready, committed, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	early.FeedDone = func(lake.FeedRun) {
		// The early run has read; the late one reads now, and waits until the early one has committed.
		w.Later(time.Minute)
		b.Write(world.Priced, 1, `"message":"late"`)
		late.FeedDone = func(lake.FeedRun) {
			close(ready)
			<-committed
		}
		go func() {
			lateResult, lateErr = pull.Run(t.Context(), late)
			close(ended)
		}()
		<-ready
	}
	if _, err := pull.Run(t.Context(), early); err != nil {
		t.Fatal(err)
	}
	close(committed)
	<-ended
	if lateErr != nil || lateResult.Commit != 3 {
		t.Fatalf("got %v, commit %d; want commit 3", lateErr, lateResult.Commit)
	}
	world.WantCounts(t, lateResult, world.Priced, [6]int64{0, 1, 0, 0, 19, 0})
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, world.Versions(world.Priced, 1, 2), "1 1 added -", "1 2 changed -", "1 3 changed -", "2 1 added -", "2 2 changed -")
		world.WantLines(t, db, "SELECT message FROM bond_priced_deals WHERE deal_id = 1", "late")
		world.WantAgreement(t, db, world.Priced)
	})
}

// TestDecidesAgainTwice lets two runs commit first, one after the other. The first has seen a deal later than this run, the second
// says nothing of that deal: it stays as the first has seen it.
func TestDecidesAgainTwice(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 5, `"message":"A"`)
	w.Night(t, 0, world.Feeds(world.Priced))
	w.Evening(1)
	cfg := w.Config(t, world.Feeds(world.Priced))
	commits := 0
	cfg.Store = &world.Overtaken{Store: w.Store, Before: func() {
		commits++
		w.Later(time.Minute)
		switch commits {
		case 1:
			b.Write(world.Priced, 1, `"message":"B"`)
			b.Strike(world.Priced, 2)
		case 2:
			b.Write(world.Priced, 3, `"message":"C"`)
		default:
			return
		}
		w.MustRun(t, world.Feeds(world.Priced))
	}}
	result, err := pull.Run(t.Context(), cfg)
	if err != nil || result.Commit != 4 || commits != 3 {
		t.Fatalf("got %v, commit %d after %d tries; want commit 4 after 3", err, result.Commit, commits)
	}
	world.WantCounts(t, result, world.Priced, [6]int64{0, 0, 0, 0, 4, 0})
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, world.Versions(world.Priced, 1, 3), "1 1 added -", "1 2 changed -", "2 1 added -", "2 2 removed gone", "3 1 added -", "3 2 changed -")
		world.WantLines(t, db, "SELECT deal_id, message FROM bond_priced_deals ORDER BY deal_id", "1 B", "3 C", "4 A", "5 A")
		world.WantAgreement(t, db, world.Priced)
		world.WantInstants(t, db)
	})
}

// TestLaterReadingWins lets another run read the feed after this one, when the source has taken everything back: it makes no
// version of that, and this run adds none of what it has seen before.
func TestLaterReadingWins(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 5, `"message":"A"`)
	w.Night(t, 0, world.Feeds(world.Priced))
	w.Evening(1)
	b.Write(world.Priced, 1, `"message":"B"`)
	b.Write(world.Priced, 6, `"message":"new"`)
	cfg := w.Config(t, world.Feeds(world.Priced))
	cfg.FeedDone = func(lake.FeedRun) {
		w.Later(time.Minute)
		b.Write(world.Priced, 1, `"message":"A"`)
		b.Strike(world.Priced, 6)
		world.WantCounts(t, w.MustRun(t, world.Feeds(world.Priced)), world.Priced, [6]int64{0, 0, 0, 0, 5, 0})
	}
	result, err := pull.Run(t.Context(), cfg)
	if err != nil || result.Commit != 3 {
		t.Fatalf("got %v, commit %d; want commit 3", err, result.Commit)
	}
	world.WantCounts(t, result, world.Priced, [6]int64{0, 0, 0, 0, 5, 0})
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, world.Versions(world.Priced, 1, 6), "1 1 added -", "2 1 added -", "3 1 added -", "4 1 added -", "5 1 added -")
		world.WantLines(t, db, "SELECT deal_id, message FROM snapshots.bond_priced_deals WHERE snapshot_date = '2026-01-06' ORDER BY deal_id", "1 A", "2 A", "3 A", "4 A", "5 A")
		world.WantAgreement(t, db, world.Priced)
		world.WantInstants(t, db)
	})
}

// TestLosesForGood lets another run commit first each time. In the end the run fails with ErrConflict, and nothing of
// it is visible.
func TestLosesForGood(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 5, `"message":"A"`)
	w.Night(t, 0, world.Feeds(world.Priced))
	w.Evening(1)
	cfg := w.Config(t, world.Feeds(world.Priced))
	cfg.Store = &world.Overtaken{Store: w.Store, Before: func() {
		w.Later(time.Minute)
		b.Write(world.Priced, 1, `"message":"again"`)
		w.MustRun(t, world.Feeds(world.Priced))
	}}
	result, err := pull.Run(t.Context(), cfg)
	if !errors.Is(err, load.ErrConflict) || result.Commit != 0 || result.Outcome != lake.OutcomeFailed {
		t.Errorf("got %v, commit %d %s; want ErrConflict, no commit", err, result.Commit, result.Outcome)
	}
	log := w.Log(t)
	if slices.ContainsFunc(log.Commits, func(c lake.Commit) bool { return c.RunID == cfg.RunID }) || log.Number != 5 {
		t.Errorf("the log has %d commits, want 5, none of the run that lost", log.Number)
	}
	world.StateOf(t, w.Store)
	world.WantEmpty(t, cfg.WorkDir)
}

// TestSyncLosesAtOnce checks that a sync does not try again: the next one is soon.
func TestSyncLosesAtOnce(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 5, `"message":"A"`)
	w.Night(t, 0, world.Feeds(world.Priced))
	w.Later(time.Hour)
	b.Write(world.Priced, 1, `"message":"B"`)
	cfg := w.Config(t, world.Feeds(world.Priced))
	lost := 0
	cfg.Store = &world.Overtaken{Store: w.Store, Before: func() {
		lost++
		w.MustRun(t, world.Feeds(world.Priced))
	}}
	if _, err := pull.Sync(t.Context(), cfg); !errors.Is(err, load.ErrConflict) || lost != 1 {
		t.Errorf("got %v after %d tries, want ErrConflict after 1", err, lost)
	}
}
