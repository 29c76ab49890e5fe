package catalog_test

import (
	"context"
	"crypto/sha256"
	stdsql "database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/catalog"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/load/verify"
	"dealflow/schemas/lake"
	"dealflow/sql/sealed"
)

// threeNights is a lake with a published catalog: deals 1 to 5 at its first night, of which deal 3 changes in the next
// and deal 4 leaves in the third.
func threeNights(t *testing.T) *world.World {
	t.Helper()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 5, "")
	b.WriteAll(world.Expected, 1, 5, "")
	w.Night(t, 0)
	b.Write(world.Priced, 3, `"message":"changed"`)
	w.Night(t, 1)
	b.Strike(world.Priced, 4)
	w.Night(t, 2)
	return w
}

// write runs statements in the published catalog, as another program does. With keepWAL it ends without writing its
// changes into the file: they stay in the write-ahead log next to it.
func write(t *testing.T, w *world.World, keepWAL bool, statements ...string) {
	t.Helper()
	db, err := stdsql.Open("duckdb", filepath.Join(w.Root, lake.CatalogKey))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if keepWAL {
		statements = append([]string{"PRAGMA disable_checkpoint_on_shutdown", "SET checkpoint_threshold = '1GB'"}, statements...)
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// wantPrivate opens the lake's catalog, and checks that it is a private one because of flaw, with the wanted answers.
func wantPrivate(t *testing.T, w *world.World, flaw error, want map[string]string) {
	t.Helper()
	l := w.Lake(t)
	c, err := catalog.Open(t.Context(), l, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Private || !errors.Is(c.Why, flaw) {
		t.Errorf("private: %t, why: %v; want a private one because %v", c.Private, c.Why, flaw)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	world.WantAnswers(t, w.Answers(t), want)
	state, err := catalog.ReadPublished(t.Context(), l, t.TempDir())
	if err != nil || !errors.Is(state.Flaw, flaw) {
		t.Errorf("the published catalog: %+v, %v; want %v", state, err, flaw)
	}
}

// wantFindings verifies the lake, and checks what is found in its catalog.
func wantFindings(t *testing.T, w *world.World, want ...string) {
	t.Helper()
	report, err := world.Verify(t, w.Store)
	if !errors.Is(err, verify.ErrDamage) {
		t.Fatalf("verify: %v", err)
	}
	var found []string
	for _, f := range report.Findings {
		found = append(found, world.FindingText(f))
		if f.Check != verify.Catalog || !strings.Contains(f.Todo, "`dealflow catalog`") {
			t.Errorf("found %+v, want findings of the catalog, which say what to do", f)
		}
	}
	if len(found) != len(want) {
		t.Fatalf("found\n%s\nwant %d findings", strings.Join(found, "\n"), len(want))
	}
	for i := range want {
		if !strings.Contains(found[i], want[i]) {
			t.Errorf("found %s, want %s", found[i], want[i])
		}
	}
}

// TestChangedCatalog deletes rows from the published catalog, as another program may. No reader answers from what is
// left, and all say so.
func TestChangedCatalog(t *testing.T) {
	t.Parallel()
	w := threeNights(t)
	answers := w.Answers(t)
	write(t, w, false, "DELETE FROM _dealflow.version_index WHERE deal_id = 3", "DELETE FROM _dealflow.runs WHERE \"commit\" = 1")
	wantPrivate(t, w, sealed.ErrChanged, answers)
	const gone = " deal 3 version %d: %s: the catalog's version index lacks the version, which history has"
	wantFindings(t, w, sealed.ErrChanged.Error(), fmt.Sprintf(gone, 1, world.Expected), fmt.Sprintf(gone, 1, world.Priced), fmt.Sprintf(gone, 2, world.Priced))

	w.Night(t, 3)
	world.WantSound(t, w.Store)
	if state, err := catalog.ReadPublished(t.Context(), w.Lake(t), t.TempDir()); err != nil || state.Flaw != nil || state.Shows != w.Log(t).Newest() {
		t.Errorf("after another night the catalog shows %+v, %v", state, err)
	}
}

// TestInspectWithoutWorkFolder inspects a sound catalog where no work folder can be created: that is an error, and not a
// flaw of the catalog.
func TestInspectWithoutWorkFolder(t *testing.T) {
	t.Parallel()
	w := threeNights(t)
	c, err := catalog.Inspect(t.Context(), w.Store, filepath.Join(t.TempDir(), "absent"))
	if err == nil || !strings.Contains(err.Error(), "work folder") || c != nil {
		t.Errorf("got %+v, %v; want no catalog, and an error that names the work folder", c, err)
	}
}

// TestVersionIndexIsHistory makes a catalog whose checksum is right and whose version index is not that of history, as
// a faulty program of ours might: verify finds each difference.
func TestVersionIndexIsHistory(t *testing.T) {
	t.Parallel()
	w := threeNights(t)
	priced := func(id int64, version int) string {
		return fmt.Sprintf("kind = 'priced' AND deal_id = %d AND version = %d", id, version)
	}
	path := filepath.Join(w.Root, lake.CatalogKey)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range testkit.SampleOf(map[string]string{
		"DELETE FROM _dealflow.version_index WHERE " + priced(5, 1):                                                                     "deal 5 version 1: bond/ig/priced: the catalog's version index lacks",
		"DELETE FROM _dealflow.version_index WHERE " + priced(1, 1):                                                                     "deal 1 version 1: bond/ig/priced: the catalog's version index lacks",
		"UPDATE _dealflow.version_index SET valid_to = NULL WHERE " + priced(3, 1):                                                      "deal 3 version 1: bond/ig/priced: the catalog's version index says added, from 2026-01-05T22:",
		"UPDATE _dealflow.version_index SET valid_from = valid_from - INTERVAL 1 DAY WHERE " + priced(5, 1):                             "deal 5 version 1: bond/ig/priced: the catalog's version index says added, from 2026-01-04T22:",
		"UPDATE _dealflow.version_index SET change = 'changed' WHERE " + priced(4, 2):                                                   "deal 4 version 2: bond/ig/priced: the catalog's version index says changed",
		"INSERT INTO _dealflow.version_index SELECT * REPLACE (6 AS deal_id) FROM _dealflow.version_index WHERE " + priced(5, 1):        "deal 6 version 1: bond/ig/priced: the catalog's version index has the version, which history has not",
		"INSERT INTO _dealflow.version_index FROM _dealflow.version_index WHERE " + priced(5, 1):                                        "deal 5 version 1: bond/ig/priced: the catalog's version index has the version, which history has not, or has twice",
		"UPDATE _dealflow.version_index SET change = 'reappeared' WHERE deal_id = 2 AND kind = 'expected' AND service = 'bond'":         "deal 2 version 1: bond/ig/expected: the catalog's version index says reappeared",
		"UPDATE _dealflow.version_index SET version = 3 WHERE " + priced(3, 2) + " /* the checks name the version that is not there */": "",
	}, 1) {
		if err := os.WriteFile(path, sound, 0o600); err != nil {
			t.Fatal(err)
		}
		end := lake.CommitLineSize + lake.ChecksumSize
		if err := os.Truncate(path, int64(len(sound)-end)); err != nil {
			t.Fatal(err)
		}
		write(t, w, false, change)
		changed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changed = append(changed, sound[len(sound)-end:][:lake.CommitLineSize]...)
		changed = append(changed, fmt.Sprintf("%s%x", lake.ChecksumPrefix, sha256.Sum256(changed))...)
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			wantFindings(t, w, "deal 3 version 2: bond/ig/priced: the catalog's version index lacks", "deal 3 version 3: bond/ig/priced: the catalog's version index has")
			continue
		}
		wantFindings(t, w, want)
	}
}

// TestStaleWAL leaves the write-ahead log of another program next to the published catalog. DuckDB would apply it to
// that catalog and to later ones. No reader of ours does, and publishing removes it.
func TestStaleWAL(t *testing.T) {
	t.Parallel()
	for name, publish := range map[string]func(*testing.T, *world.World){
		"a night":          func(t *testing.T, w *world.World) { w.Night(t, 3) },
		"dealflow catalog": func(t *testing.T, w *world.World) { w.Publish(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := threeNights(t)
			answers := w.Answers(t)
			write(t, w, true, "DELETE FROM _dealflow.version_index WHERE deal_id = 5", "DELETE FROM _dealflow.checks")
			wal := filepath.Join(w.Root, lake.CatalogWALKey)
			if info, err := os.Stat(wal); err != nil || info.Size() == 0 {
				t.Fatalf("there is no write-ahead log (%v): nothing was tried", err)
			}
			wantPrivate(t, w, catalog.ErrWAL, answers)
			wantFindings(t, w, catalog.ErrWAL.Error())

			publish(t, w)
			if _, err := os.Stat(wal); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("after publishing: %v, want no write-ahead log", err)
			}
			world.WantSound(t, w.Store)
			c, err := catalog.Open(t.Context(), w.Lake(t), t.TempDir(), nil)
			if err != nil || c.Private {
				t.Fatalf("after publishing: %+v, %v; want the published catalog", c, err)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			after := w.Answers(t)
			for _, question := range slices.Sorted(maps.Keys(answers)) {
				if strings.Contains(question, "_as_of") && after[question] != answers[question] {
					t.Errorf("%s: other rows than before", question)
				}
			}
		})
	}
}

// TestCatalogNamesItsCommit checks that the catalog names its commit by number and hash, in SQL and after its last
// block, whether it was built before the commit was made or after it.
func TestCatalogNamesItsCommit(t *testing.T) {
	t.Parallel()
	w := threeNights(t)
	check := func(what string) {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(w.Root, lake.CommitKey(3)))
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%x", sha256.Sum256(data))
		w.Published(t, func(db *stdsql.DB) {
			if got := world.SortedRows(t, db, `SELECT "commit", sha256 FROM catalog_info`); !slices.Equal(got, []string{"3\t" + want}) {
				t.Errorf("%s: catalog_info says %q, want 3 and %s", what, got, want)
			}
		})
		file, err := os.ReadFile(filepath.Join(w.Root, lake.CatalogKey))
		if err != nil {
			t.Fatal(err)
		}
		end := string(file[len(file)-130-81 : len(file)-81])
		if !strings.HasPrefix(end, "\ndealflow commit 00000000000000000003 "+want+" 2026-01-07T22:") {
			t.Errorf("%s: after the last block there is %q", what, end)
		}
	}
	check("published by a run")
	w.Publish(t)
	check("built from scratch")
}

// replacing is a local store in which the catalog is replaced when a reader looks for its write-ahead log: after it has read which commit the
// catalog shows.
type replacing struct {
	store.Store
	replace func()
}

func (s *replacing) Path() string { return store.LocalPath(s.Store) }

func (s *replacing) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if key == lake.CatalogWALKey && s.replace != nil {
		s.replace()
		s.replace = nil
	}
	return s.Store.Get(ctx, key)
}

// TestInspectWhileReplaced inspects a catalog that another run replaces at the same time: what it shows and its rows are those of one catalog, so
// that verify finds no damage.
func TestInspectWhileReplaced(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 5, "")
	w.Night(t, 0)
	path := filepath.Join(w.Root, lake.CatalogKey)
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b.WriteAll(world.Priced, 3, 9, `"message":"changed"`)
	w.Night(t, 1)
	newer := filepath.Join(t.TempDir(), "newer")
	if err := errors.Join(os.Rename(path, newer), os.WriteFile(path, first, 0o600)); err != nil {
		t.Fatal(err)
	}
	s := &replacing{Store: w.Store, replace: func() {
		if err := os.Rename(newer, path); err != nil {
			t.Error(err)
		}
	}}
	c, err := catalog.Inspect(t.Context(), s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if shows, flaw := c.State(); shows != w.Log(t).Newest() || flaw != nil {
		t.Errorf("it shows %v, flaw %v; want the newer catalog's commit %v", shows, flaw, w.Log(t).Newest())
	}
	if _, err := verify.Lake(t.Context(), w.Store, verify.Config{ReadData: true, Catalog: c, WorkDir: t.TempDir()}); err != nil {
		t.Error(err)
	}
}
