package sql_test

import (
	"path/filepath"
	"testing"
	"time"

	"dealflow/schemas/lake"
	"dealflow/sql"
)

// TestPublicNames checks that whatever the catalog shows outside its own schema says what it is, column by column.
func TestPublicNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.duckdb")
	known := lake.At(time.Date(2026, 3, 2, 22, 0, 0, 0, time.UTC))
	catalog := sql.Catalog{
		Root: "/nowhere", Commit: 7, Known: known, Aliases: sql.Aliases{Version: "names"},
		Runs: []lake.Commit{{Number: 7, RunID: "r", Command: "run", KnownAt: known, SnapshotDate: "2026-03-02", Outcome: lake.OutcomeDone}},
	}
	if err := catalog.Build(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(t.Context(), path, "/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for what, query := range map[string]string{
		"views":   "SELECT schema_name || '.' || view_name, comment FROM duckdb_views() WHERE NOT internal AND schema_name <> '_dealflow'",
		"tables":  "SELECT schema_name || '.' || table_name, comment FROM duckdb_tables() WHERE NOT internal AND schema_name <> '_dealflow'",
		"columns": "SELECT schema_name || '.' || table_name || '.' || column_name, comment FROM duckdb_columns() WHERE NOT internal AND schema_name <> '_dealflow'",
		"macros":  "SELECT schema_name || '.' || function_name, comment FROM duckdb_functions() WHERE NOT internal AND schema_name <> '_dealflow'",
	} {
		rows, err := sql.Query(t.Context(), db, query)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; rows.Next(); n++ {
			if texts := rows.Texts(); texts[1] == "" {
				t.Errorf("%s: %s has no comment", what, texts[0])
			}
		}
		if err := rows.Err(); err != nil || n < 3 {
			t.Errorf("%d %s, %v", n, what, err)
		}
		rows.Close()
	}
	var said struct {
		commit        int64
		known         time.Time
		root, aliases string
		day, pulled   time.Time
	}
	row := db.QueryRow(`SELECT "commit", known_at, root, alias_version, utc_day(known_at), knowledge_at('infinity') FROM catalog_info`)
	if err := row.Scan(&said.commit, &said.known, &said.root, &said.aliases, &said.day, &said.pulled); err != nil || said.commit != 7 || !said.known.Equal(known.Time) ||
		said.root != "/nowhere" || said.aliases != "names" || said.day.Format(time.DateOnly) != "2026-03-02" || !said.pulled.Equal(known.Time) {
		t.Errorf("the catalog says of itself %+v, %v", said, err)
	}
	for _, table := range lake.Tables() {
		var rows int
		if err := db.QueryRow("SELECT count(*) FROM files." + table.Name).Scan(&rows); err != nil || rows != 0 {
			t.Errorf("files.%s: %d rows, %v", table.Name, rows, err)
		}
	}
}
