package sql_test

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/testkit/world"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
	"dealflow/sql"
)

// TestLittleMemory builds the catalog of a lake with little memory, market by market and in parts, and with less than it takes: it
// is the same. Files of several markets are among its files.
func TestLittleMemory(t *testing.T) {
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 5, Deals: 200})
	for _, day := range []int{0, 8, 16} {
		w.Night(t, day)
	}
	w.MustCompact(t)
	log := w.Log(t)
	if !slices.ContainsFunc(log.AllFiles(), func(f lake.File) bool { return f.Table == lake.HistoryTable("bond_priced_banks") && f.IsShared() }) {
		t.Fatal("the banks are in no file of several markets")
	}
	var lines bytes.Buffer
	built := func(memory int) map[string][]string {
		last := log.Commits[len(log.Commits)-1]
		c := sql.Catalog{
			Root: w.Root, Local: localFiles(t, w.Root), Commit: last.Number, Known: last.KnownAt, Files: log.AllFiles(), Runs: log.Commits,
			Log: slog.New(slog.NewTextHandler(&lines, nil)), Memory: memory, Diff: noChanges,
		}
		path := filepath.Join(t.TempDir(), "catalog.duckdb")
		if err := c.Build(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open(t.Context(), path, w.Root)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		return derivedRows(t, db)
	}
	want := built(0)
	if lines.Len() > 0 {
		t.Errorf("with the usual memory it says %s", &lines)
	}
	for _, memory := range []int{57, 1} { // in which two parts fit, and in which nothing fits
		lines.Reset()
		got := built(memory)
		if again := strings.Contains(lines.String(), "built again with more memory"); again != (memory == 1) {
			t.Errorf("with %d MiB it says %q", memory, &lines)
		}
		for table, rows := range want {
			if len(rows) < 10 || !slices.Equal(got[table], rows) {
				t.Errorf("%s: %d rows with %d MiB, %d with enough; they must be the same, and some", table, len(got[table]), memory, len(rows))
			}
		}
	}
}

func derivedRows(t *testing.T, db *stdsql.DB) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for _, table := range []string{"version_index", "spelling", "listing", "bank_count", "tranche_known"} {
		rows[table] = world.SortedRows(t, db, "FROM _dealflow."+table)
	}
	return rows
}

// noChanges compares no versions.
func noChanges(context.Context, []lake.VersionPair, func(*lake.VersionPair, []lake.FieldChange) error) error {
	return nil
}
