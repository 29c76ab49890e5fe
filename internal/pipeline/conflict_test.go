package pipeline_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/pipeline"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// TestDecidesAgain lets a run commit while another, from the same state, is about to: that one takes the
// new state in and commits behind it. Per deal the later observation wins.
func TestDecidesAgain(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 20, `"message":"A"`)
	w.night(t, 0, feeds(priced))
	w.evening(1)
	b.write(priced, 1, `"message":"seen by both"`)
	b.write(priced, 2, `"message":"seen by the slow one, before it changes again"`)
	b.strike(priced, 3)
	cfg := w.config(t)
	feeds(priced)(&cfg)
	meets := 0
	cfg.FeedDone = func(lake.FeedRun) {
		meets++
		w.later(time.Minute)
		b.write(priced, 2, `"message":"seen by the fast one alone"`)
		b.write(priced, 21, `"message":"new to the fast one alone"`)
		b.strike(priced, 4)
		won := w.mustRun(t, feeds(priced))
		wantCounts(t, won, priced, [6]int64{1, 2, 2, 0, 16, 0})
	}
	result, err := pipeline.Run(t.Context(), cfg)
	if err != nil || result.Commit != 3 || meets != 1 {
		t.Fatalf("got %v, commit %d; want commit 3", err, result.Commit)
	}
	wantCounts(t, result, priced, [6]int64{0, 0, 0, 0, 19, 0})
	log := w.log(t)
	for _, file := range log.Files("snapshots.bond_priced_deals") {
		if file.Partition["snapshot_date"] == "2026-01-06" && file.Rows != 19 {
			t.Errorf("the day's snapshot %s has %d rows, want 19", file.Path, file.Rows)
		}
	}
	w.ask(t, func(db *stdsql.DB) {
		wantLines(t, db, versions(priced, 1, 4),
			"1 1 added -", "1 2 changed -", "2 1 added -", "2 2 changed -", "3 1 added -", "3 2 removed gone", "4 1 added -", "4 2 removed gone")
		wantLines(t, db, "SELECT deal_id, message FROM bond_priced_deals WHERE deal_id IN (1, 2, 21) ORDER BY deal_id",
			"1 seen by both", "2 seen by the fast one alone", "21 new to the fast one alone")
		wantAgreement(t, db, priced)
		wantInstants(t, db)
	})
}

// TestDecidesAgainLater is the other way round: what the run that lost has observed is later than what
// the other one has committed.
func TestDecidesAgainLater(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 20, `"message":"A"`)
	w.night(t, 0, feeds(priced))
	w.evening(1)
	early := w.config(t)
	feeds(priced)(&early)
	late := w.config(t)
	feeds(priced)(&late)
	b.write(priced, 1, `"message":"early"`)
	b.write(priced, 2, `"message":"same"`)
	var lateResult *pipeline.Result
	var lateErr error
	ready, committed, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	early.FeedDone = func(lake.FeedRun) {
		// The early run has read; the late one reads now, and waits until the early one has committed.
		w.later(time.Minute)
		b.write(priced, 1, `"message":"late"`)
		late.FeedDone = func(lake.FeedRun) {
			close(ready)
			<-committed
		}
		go func() {
			lateResult, lateErr = pipeline.Run(t.Context(), late)
			close(ended)
		}()
		<-ready
	}
	if _, err := pipeline.Run(t.Context(), early); err != nil {
		t.Fatal(err)
	}
	close(committed)
	<-ended
	if lateErr != nil || lateResult.Commit != 3 {
		t.Fatalf("got %v, commit %d; want commit 3", lateErr, lateResult.Commit)
	}
	wantCounts(t, lateResult, priced, [6]int64{0, 1, 0, 0, 19, 0})
	w.ask(t, func(db *stdsql.DB) {
		wantLines(t, db, versions(priced, 1, 2), "1 1 added -", "1 2 changed -", "1 3 changed -", "2 1 added -", "2 2 changed -")
		wantLines(t, db, "SELECT message FROM bond_priced_deals WHERE deal_id = 1", "late")
		wantAgreement(t, db, priced)
	})
}

// TestLosesForGood lets another run commit first each time: in the end the one that always loses says so,
// and nothing of it is visible.
func TestLosesForGood(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 5, `"message":"A"`)
	w.night(t, 0, feeds(priced))
	w.evening(1)
	cfg := w.config(t)
	feeds(priced)(&cfg)
	cfg.Store = &overtaken{Store: w.store, before: func() {
		w.later(time.Minute)
		b.write(priced, 1, `"message":"again"`)
		w.mustRun(t, feeds(priced))
	}}
	result, err := pipeline.Run(t.Context(), cfg)
	if !errors.Is(err, load.ErrConflict) || result.Commit != 0 || result.Outcome != lake.OutcomeFailed {
		t.Errorf("got %v, commit %d %s; want ErrConflict, no commit", err, result.Commit, result.Outcome)
	}
	log := w.log(t)
	if slices.ContainsFunc(log.Runs, func(c lake.Commit) bool { return c.RunID == cfg.RunID }) || log.Number != 5 {
		t.Errorf("the log has %d commits, want 5, none of the run that lost", log.Number)
	}
	wholeState(t, w.store)
	wantEmpty(t, cfg.WorkDir)
}

// TestSyncLosesAtOnce gives up: the next sync is never far.
func TestSyncLosesAtOnce(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 5, `"message":"A"`)
	w.night(t, 0, feeds(priced))
	w.later(time.Hour)
	b.write(priced, 1, `"message":"B"`)
	cfg := w.config(t)
	feeds(priced)(&cfg)
	lost := 0
	cfg.Store = &overtaken{Store: w.store, before: func() {
		lost++
		w.mustRun(t, feeds(priced))
	}}
	if _, err := pipeline.Sync(t.Context(), cfg); !errors.Is(err, load.ErrConflict) || lost != 1 {
		t.Errorf("got %v after %d tries, want ErrConflict after 1", err, lost)
	}
}

// overtaken is a store on which something happens before each commit of the run that uses it.
type overtaken struct {
	store.Store
	before func()
}

func (s *overtaken) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if strings.HasPrefix(key, lake.CommitsPrefix) {
		s.before()
	}
	return s.Store.Put(ctx, key, body, mode)
}
