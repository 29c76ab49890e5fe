package pull_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// lostNight is a lake of three nights whose last commit is gone. The hint and the published catalog name it.
func lostNight(t *testing.T) (w *world.World, b *world.Book, lost lake.NamedCommit) {
	t.Helper()
	w, b = world.NewBook(t)
	w.Store = new(memstore.Mem)
	for night := range 3 {
		b.Write(world.Priced, int64(night+1), "")
		w.Night(t, night, world.Feeds(world.Priced))
	}
	lost = w.Log(t).Newest()
	storetest.Remove(t, w.Store, lake.CommitKey(3))
	return w, b, lost
}

// writers are the commands that write into a lake. Each returns the number of its commit.
var writers = map[string]func(t *testing.T, w *world.World, acceptLost bool) (int64, error){
	"run": func(t *testing.T, w *world.World, accept bool) (int64, error) {
		return pulled(w.Run(t, accepting(accept)))
	},
	"sync": func(t *testing.T, w *world.World, accept bool) (int64, error) {
		return pulled(w.Sync(t, accepting(accept)))
	},
	"quarantine": func(t *testing.T, w *world.World, accept bool) (int64, error) {
		return pulled(pull.RetryQuarantined(t.Context(), w.Config(t, accepting(accept))))
	},
	"compact": func(t *testing.T, w *world.World, accept bool) (int64, error) {
		r, err := maintain.Compact(t.Context(), w.Upkeep(t, func(c *maintain.Config) { c.AcceptLost = accept }))
		if r == nil {
			return 0, err
		}
		return r.Commit, err
	},
	"expire": func(t *testing.T, w *world.World, accept bool) (int64, error) {
		r, err := w.Expire(t, maintain.Retention{Days: 30}, true, func(c *maintain.Config) { c.AcceptLost = accept })
		if r == nil {
			return 0, err
		}
		return r.Commit, err
	},
	"replay": func(t *testing.T, w *world.World, accept bool) (int64, error) {
		r, err := maintain.Replay(t.Context(), maintain.ReplayConfig{Config: w.Upkeep(t, func(c *maintain.Config) { c.AcceptLost = accept })})
		if r == nil {
			return 0, err
		}
		return r.Commit, err
	},
}

func accepting(accept bool) world.Change {
	return func(c *pull.Config) { c.AcceptLost, c.Feeds = accept, []api.Feed{world.Priced} }
}

func pulled(r *pull.Result, err error) (int64, error) {
	if r == nil {
		return 0, err
	}
	return r.Commit, err
}

// TestLostCommitStopsWriters runs every command that writes on a lake that has lost its newest commit. None writes
// anything before the loss is accepted. Then the next commit records it.
func TestLostCommitStopsWriters(t *testing.T) {
	t.Parallel()
	for command, execute := range testkit.SampleOf(writers, 3) {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			w, b, lost := lostNight(t)
			before := world.Keys(t, w.Store)
			if n, err := execute(t, w, false); !errors.Is(err, load.ErrLostCommit) || n != 0 || !strings.Contains(err.Error(), "--accept-lost-commit") {
				t.Errorf("commit %d, %v; want an error that names the flag", n, err)
			}
			if after := world.Keys(t, w.Store); !slices.Equal(after, before) {
				t.Errorf("the store has other objects: %q, before %q", after, before)
			}
			report, err := world.Verify(t, w.Store)
			if !errors.Is(err, verify.ErrDamage) || len(report.Findings) != 1 || report.Findings[0].Check != verify.LostCommit || !strings.Contains(report.Findings[0].Detail, lost.String()) {
				t.Errorf("verify: %v, %+v; want the lost commit", err, report.Findings)
			}
			if command == "quarantine" {
				return // nothing is in quarantine
			}

			b.Write(world.Priced, 9, "")
			n, err := execute(t, w, true)
			if err != nil || n != 3 {
				t.Fatalf("accepted: commit %d, %v; want 3", n, err)
			}
			made := w.Log(t).Commits[2]
			if len(made.Lost) != 1 || made.Lost[0].NamedCommit != lost || !slices.Equal(made.Lost[0].NamedBy, []string{lake.LatestKey, lake.CatalogKey}) || !made.KnownAt.After(lost.KnownAt.Time) {
				t.Errorf("the commit records %+v and is known at %s; want %+v, named by hint and catalog, and later", made.Lost, made.KnownAt, lost)
			}
			world.WantSound(t, w.Store)
		})
	}
}

// TestQuietSyncRecordsTheLoss accepts a lost commit with a sync that finds nothing new: it commits all the same.
func TestQuietSyncRecordsTheLoss(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	w.Store = new(memstore.Mem)
	b.Write(world.Priced, 1, "")
	for night := range 2 {
		w.Night(t, night, world.Feeds(world.Priced))
	}
	storetest.Remove(t, w.Store, lake.CommitKey(2))
	result, err := w.Sync(t, accepting(true))
	if err != nil || result.Commit != 2 || result.Outcome != lake.OutcomeDone {
		t.Fatalf("got %+v, %v; want commit 2", result, err)
	}
	if made := w.Log(t).Commits[1]; made.Command != "sync" || len(made.Lost) != 1 {
		t.Errorf("the commit of %s records %+v, want the lost commit", made.Command, made.Lost)
	}
	if quiet := w.MustSync(t, world.Feeds(world.Priced)); quiet.Commit != 0 {
		t.Errorf("the next quiet sync made commit %d, want none", quiet.Commit)
	}
	world.WantSound(t, w.Store)
}

// TestOnlyTheCatalogNamesIt restores the log and the hint from an older copy, next to a newer catalog: the catalog alone
// proves the loss. A copy of the whole older lake proves nothing.
func TestOnlyTheCatalogNamesIt(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	w.Store = new(memstore.Mem)
	var older store.Store
	for night := range 3 {
		b.Write(world.Priced, int64(night+1), "")
		w.Night(t, night, world.Feeds(world.Priced))
		if night == 1 {
			older = world.CopyStore(t, w.Store, new(memstore.Mem))
		}
	}
	newer := storetest.Bytes(t, w.Store, lake.CatalogKey)
	w.Store = older
	w.Evening(3)
	world.WantSound(t, w.Store)
	storetest.Overwrite(t, w.Store, lake.CatalogKey, newer)
	if _, err := w.Run(t, world.Feeds(world.Priced)); !errors.Is(err, load.ErrLostCommit) || !strings.Contains(err.Error(), "catalog.duckdb names commit 3") {
		t.Errorf("got %v, want a lost commit that the catalog names", err)
	}
	result, err := w.Run(t, world.Feeds(world.Priced), func(c *pull.Config) { c.AcceptLost = true })
	if err != nil || result.Commit != 3 || len(result.Warnings) != 1 || !strings.Contains(result.Warnings[0], "was lost (catalog.duckdb named it)") {
		t.Errorf("accepted: %+v, %v", result, err)
	}
	world.WantSound(t, w.Store)
}
