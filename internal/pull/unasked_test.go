package pull_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// losesFolder is a store that takes the folder of each catalog that is being built away: it cannot be built, as in a
// work folder that is full.
type losesFolder struct {
	store.Store
	work string
}

func (s *losesFolder) Path() string { return store.LocalPath(s.Store) }

func (s *losesFolder) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if key == lake.BankAliasesKey { // which is read first
		folders, err := filepath.Glob(filepath.Join(s.work, "dealflow-catalog-*"))
		for _, folder := range folders {
			err = errors.Join(err, os.RemoveAll(folder))
		}
		if err != nil {
			return nil, err
		}
	}
	return s.Store.Get(ctx, key)
}

// TestChecksThatCannotBeAsked runs where the catalog for the quality checks cannot be built. A check that might have
// held holds the run, until the user accepts that.
func TestChecksThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*testing.T, *world.World) world.Change{
		"the work folder takes no catalog": func(t *testing.T, w *world.World) world.Change {
			return func(c *pull.Config) { c.Store = &losesFolder{w.Store, c.WorkDir} }
		},
		"a history file is damaged": func(t *testing.T, w *world.World) world.Change {
			files, err := filepath.Glob(filepath.Join(w.Root, "history/bond_priced_deals/*/*/*.parquet"))
			if err != nil || len(files) == 0 {
				t.Fatal("no history file", err)
			}
			if err := errors.Join(os.Truncate(files[0], 100), os.Remove(filepath.Join(w.Root, lake.CatalogKey))); err != nil {
				t.Fatal(err)
			}
			return func(*pull.Config) {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			b.WriteAll(world.Priced, 1, 3, "")
			w.Night(t, 0, world.Feeds(world.Priced))
			change := spoil(t, w)
			b.Write(world.Priced, 2, `"message":"changed"`)
			w.Evening(1)

			result, err := w.Run(t, world.Feeds(world.Priced), change)
			if !errors.Is(err, pull.ErrQuality) || !strings.Contains(err.Error(), "--accept-checks all") || !strings.Contains(err.Error(), "duplicate_deals, emptied_columns") || strings.Contains(err.Error(), "mass_edits") {
				t.Errorf("got %v, want a hold that names the checks that may hold, and --accept-checks all", err)
			}
			if result.Commit != 0 || w.Log(t).Number != 1 {
				t.Errorf("commit %d was made: the log is at %d", result.Commit, w.Log(t).Number)
			}
			if held := result.Held; len(held.Checks) > 0 || !slices.Contains(held.Unasked, "duplicate_deals") || slices.Contains(held.Unasked, "mass_edits") {
				t.Errorf("held by %+v", held)
			}

			some := func(c *pull.Config) { c.AcceptChecks = []string{"emptied_columns"} }
			if _, err := w.Run(t, world.Feeds(world.Priced), change, some); !errors.Is(err, pull.ErrQuality) || strings.Contains(err.Error(), "emptied_columns") {
				t.Errorf("with one check accepted: %v, want a hold because of the others", err)
			}

			result, err = w.Run(t, world.Feeds(world.Priced), change, func(c *pull.Config) { c.AcceptChecks = []string{"all"} })
			if err != nil || result.Commit != 2 {
				t.Fatalf("accepted: commit %d, %v", result.Commit, err)
			}
			if !strings.Contains(strings.Join(result.Warnings, "\n"), "quality checks could not be run") {
				t.Errorf("accepted: warnings %q", result.Warnings)
			}
			var names []string
			for _, c := range w.Log(t).Commits[1].Checks {
				if names = append(names, c.Name+" "+c.Severity); c.Outcome != lake.CheckFailed || c.Detail == "" {
					t.Errorf("the commit says %+v, want that it could not be asked, and why", c)
				}
			}
			want := "backfills warn, deals_without_rows hold, duplicate_deals hold, emptied_columns hold, emptied_lists hold, mass_edits warn, pricing_in_future warn, rescaled_amounts hold"
			if got := strings.Join(names, ", "); got != want {
				t.Errorf("the commit has the checks %s, want %s", got, want)
			}
		})
	}
}

// TestAcceptAllAcceptsWhatWasFound lets a check that has found something through by the name all.
func TestAcceptAllAcceptsWhatWasFound(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 120, `"cpn":"3.375%"`)
	w.Night(t, 0, world.Feeds(world.Priced))
	b.WriteAll(world.Priced, 1, 60, "")
	w.Evening(1)
	if _, err := w.Run(t, world.Feeds(world.Priced)); !errors.Is(err, pull.ErrQuality) {
		t.Fatalf("got %v, want a hold", err)
	}
	result, err := w.Run(t, world.Feeds(world.Priced), func(c *pull.Config) { c.AcceptChecks = []string{"all"} })
	if err != nil || result.Commit != 2 {
		t.Fatalf("accepted: commit %d, %v", result.Commit, err)
	}
	for _, c := range result.Checks {
		if want := map[string]string{"emptied_columns": lake.CheckAccepted}[c.Name]; want != "" && c.Outcome != want {
			t.Errorf("%s: %s, want %s", c.Name, c.Outcome, want)
		}
	}
}
