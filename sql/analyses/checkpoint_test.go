package pipeline_test

import (
	stdsql "database/sql"
	"maps"
	"testing"

	"github.com/google/uuid"

	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestCheckpointKnowsItsOwnCommit has a run make the commit that a checkpoint is due after: the state beside it holds what
// that run has added, changed and removed, so that the next run numbers versions as it would without a checkpoint.
func TestCheckpointKnowsItsOwnCommit(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 9, `"message":"A"`)
	w.night(t, 0, feeds(priced), quiet)
	w.idle(t, 49)

	b.write(priced, 1, `"message":"B"`)
	b.write(priced, 10, "")
	b.strike(priced, 2)
	if result := w.night(t, 1, feeds(priced), quiet); result.Commit != 50 || w.log(t).CheckpointDue() {
		t.Fatalf("commit %d, checkpoint due: %t; want the checkpoint of commit 50", result.Commit, w.log(t).CheckpointDue())
	}
	with := w.heads(t)
	b.write(priced, 1, `"message":"C"`)
	b.write(priced, 2, `"message":"A"`)
	w.night(t, 2, feeds(priced), quiet)
	w.ask(t, func(db *stdsql.DB) {
		wantLines(t, db, versions(priced, 1, 2), "1 1 added -", "1 2 changed -", "1 3 changed -", "2 1 added -", "2 2 removed gone", "2 3 reappeared -")
	})
	if err := w.store.Delete(t.Context(), lake.CheckpointKey(50), lake.StateKey(50)); err != nil {
		t.Fatal(err)
	}
	without := w.heads(t)
	for _, id := range []int64{1, 2} { // they changed since
		delete(with[priced], id)
		delete(without[priced], id)
	}
	if !maps.Equal(with[priced], without[priced]) || len(with[priced]) != 8 {
		t.Errorf("the checkpoint knows of other deals than history: %+v, %+v", with[priced], without[priced])
	}
}

// idle makes commits that bring nothing, up to one of a number.
func (w *world) idle(t *testing.T, last int64) {
	t.Helper()
	l, err := load.Open(t.Context(), w.store)
	if err != nil {
		t.Fatal(err)
	}
	for l.Log().Number < last {
		run, err := l.Begin(load.TransactionConfig{ID: uuid.Must(uuid.NewV7()).String(), Started: w.clock.Now(), WorkDir: t.TempDir(), Memory: testkit.Allocator(t)})
		if err != nil {
			t.Fatal(err)
		}
		known := lake.At(l.Log().KnownAt.Add(1000))
		if _, err := run.Commit(t.Context(), lake.Commit{Command: "expire", KnownAt: known, StartedAt: known, FinishedAt: known, Outcome: lake.OutcomeDone, Feeds: []lake.FeedRun{}, Remove: []string{}, Checks: []lake.Check{}}); err != nil {
			t.Fatal(err)
		}
		if err := run.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// heads is what the lake knows of every deal.
func (w *world) heads(t *testing.T) map[api.Feed]lake.Heads {
	t.Helper()
	l, err := load.Open(t.Context(), w.store)
	if err != nil {
		t.Fatal(err)
	}
	heads, err := l.Heads(t.Context(), testkit.Allocator(t))
	if err != nil {
		t.Fatal(err)
	}
	return heads
}
