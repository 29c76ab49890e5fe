package sql_test

import (
	"path/filepath"
	"testing"
	"time"

	"dealflow/schemas/lake"
	"dealflow/sql"
)

// emptyCatalog is the catalog of a lake with one commit and no files.
func emptyCatalog(t *testing.T) sql.Catalog {
	t.Helper()
	known := lake.At(time.Date(2026, 3, 2, 22, 0, 0, 0, time.UTC))
	return sql.Catalog{
		Root: "/nowhere", Local: localFiles(t, t.TempDir()), Commit: 7, Known: known,
		Runs: []lake.Commit{{Number: 7, RunID: "r", Command: "run", KnownAt: known, SnapshotDate: "2026-03-02", Outcome: lake.OutcomeDone}},
	}
}

// TestEmptyCatalog publishes a lake without files: every view exists, typed and empty.
func TestEmptyCatalog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.duckdb")
	catalog := emptyCatalog(t)
	if err := catalog.Build(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(t.Context(), path, "/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if shown, err := sql.ShownBy(t.Context(), db); shown.Commit.Number != 7 || !shown.Commit.KnownAt.Equal(catalog.Known.Time) || shown.RunID != "r" || !shown.Current || err != nil {
		t.Errorf("it shows %+v, %v", shown, err)
	}
	for _, table := range lake.Tables() {
		for _, from := range []string{table.Name, "history." + table.Name, "snapshots." + table.Name, table.Name + "_as_of(now())"} {
			var rows int
			if err := db.QueryRow("SELECT count(*) FROM " + from).Scan(&rows); err != nil || rows != 0 {
				t.Errorf("%s: %d rows, %v", from, rows, err)
			}
		}
	}
	var command string
	var at time.Time
	if err := db.QueryRow("SELECT command, known_at FROM runs").Scan(&command, &at); err != nil || command != "run" || !at.Equal(catalog.Known.Time) {
		t.Errorf("runs: %s %s %v", command, at, err)
	}
}
