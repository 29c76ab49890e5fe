package pull_test

import (
	stdsql "database/sql"
	"maps"
	"testing"
	"time"

	"github.com/google/uuid"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestCheckpointKnowsItsOwnCommit lets a run make the commit after which a checkpoint is due. The checkpoint's state
// contains what that run has added, changed and removed, so that the next run numbers versions as without a checkpoint.
func TestCheckpointKnowsItsOwnCommit(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 9, `"message":"A"`)
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	idle(t, w, 49)

	b.Write(world.Priced, 1, `"message":"B"`)
	b.Write(world.Priced, 10, "")
	b.Strike(world.Priced, 2)
	if result := w.Night(t, 1, world.Feeds(world.Priced), world.Quiet); result.Commit != 50 || w.Log(t).CheckpointDue() {
		t.Fatalf("commit %d, checkpoint due: %t; want the checkpoint of commit 50", result.Commit, w.Log(t).CheckpointDue())
	}
	with := latest(t, w)
	b.Write(world.Priced, 1, `"message":"C"`)
	b.Write(world.Priced, 2, `"message":"A"`)
	w.Night(t, 2, world.Feeds(world.Priced), world.Quiet)
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, world.Versions(world.Priced, 1, 2), "1 1 added -", "1 2 changed -", "1 3 changed -", "2 1 added -", "2 2 removed gone", "2 3 reappeared -")
	})
	if err := w.Store.Delete(t.Context(), lake.CheckpointKey(50), lake.StateKey(50)); err != nil {
		t.Fatal(err)
	}
	without := latest(t, w)
	for _, id := range []int64{1, 2} { // they changed since
		delete(with[world.Priced], id)
		delete(without[world.Priced], id)
	}
	if !maps.Equal(with[world.Priced], without[world.Priced]) || len(with[world.Priced]) != 8 {
		t.Errorf("the checkpoint knows of other deals than history: %+v, %+v", with[world.Priced], without[world.Priced])
	}
}

// idle makes commits without changes, up to a number.
func idle(t *testing.T, w *world.World, last int64) {
	t.Helper()
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	for l.Log().Number < last {
		run, err := l.Begin(load.TransactionConfig{ID: uuid.Must(uuid.NewV7()).String(), Command: "run", Clock: time.Now, Started: w.Clock.Now(), WorkDir: t.TempDir(), Memory: testkit.Allocator(t)})
		if err != nil {
			t.Fatal(err)
		}
		known := lake.At(l.Log().KnownAt.Add(1000))
		if _, err := run.Commit(t.Context(), lake.Commit{Command: "expire", KnownAt: known, StartedAt: known, FinishedAt: known, Outcome: lake.OutcomeDone, Feeds: []lake.FeedRun{}, Remove: []string{}, Checks: []lake.Check{}}); err != nil {
			t.Fatal(err)
		}
		if err := run.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// latest returns the latest version of every deal.
func latest(t *testing.T, w *world.World) map[api.Feed]lake.Latest {
	t.Helper()
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	latest, err := l.Latest(t.Context(), testkit.Allocator(t))
	if err != nil {
		t.Fatal(err)
	}
	return latest
}
