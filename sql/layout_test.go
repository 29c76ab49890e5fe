package sql

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dealflow/internal/testkit"
	"dealflow/sql/engine"
	"dealflow/sql/layoutfile"
	"dealflow/sql/ownschema"
)

// TestLayout compares the layout inside the program with one that is built now from the statements, and what it makes of the id
// of a lake with a database that DuckDB made for that lake: all schemas, tables, columns, views, macros, types and comments,
// and the rows of the small tables.
func TestLayout(t *testing.T) {
	t.Parallel()
	hash, err := ownLayoutHash()
	if err != nil {
		t.Fatal(err)
	}
	id := ownschema.ID("a lake")
	made, err := buildEmptyCatalog(t.TempDir(), id)
	if err != nil {
		t.Fatal(err)
	}
	want := contentOf(t, made)
	ours, err := layoutfile.Unpack(packedDatabase, packedDigits)
	isCurrent := err == nil && hash == strings.TrimSpace(packedHash) && slices.Equal(contentOf(t, ours.ForLake(id)), want)
	if testkit.Updating() && !isCurrent { // two builds may differ in bytes that mean nothing
		ours = updateLayout(t, hash)
	} else if err != nil {
		t.Fatal(err)
	}
	if hash != strings.TrimSpace(packedHash) && !testkit.Updating() {
		t.Fatal("the statements of the catalog, or DuckDB, have changed: `make generate` builds layout/empty.duckdb.zst again")
	}
	if diff := cmp.Diff(want, contentOf(t, ours.ForLake(id))); diff != "" {
		t.Errorf("layout/empty.duckdb.zst is not what the statements build (-built +packed; `make generate` mends it):\n%s", diff)
	}
}

// contentOf lists all that a database contains, except identifiers that DuckDB counts.
func contentOf(t *testing.T, database []byte) (lines []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "layout.duckdb")
	if err := os.WriteFile(path, database, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, query := range []string{
		"SELECT 'schema', schema_name, comment FROM duckdb_schemas() WHERE NOT internal",
		"SELECT 'table', schema_name, table_name, comment, sql FROM duckdb_tables()",
		"SELECT 'column', schema_name, table_name, column_index, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal",
		"SELECT 'view', schema_name, view_name, comment, sql FROM duckdb_views() WHERE NOT internal",
		"SELECT 'macro', schema_name, function_name, parameters, comment, macro_definition FROM duckdb_functions() WHERE NOT internal",
		"SELECT 'type', schema_name, type_name, logical_type FROM duckdb_types() WHERE NOT internal",
		"SELECT 'market', * FROM markets",
	} {
		rows, err := db.QueryContext(t.Context(), "SELECT x::VARCHAR FROM ("+query+") x ORDER BY ALL")
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if len(lines) < 2000 {
		t.Fatalf("%d lines only", len(lines))
	}
	return lines
}

func updateLayout(t *testing.T, hash string) *layoutfile.Layout {
	t.Helper()
	built, err := buildLayout(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	database, digits, err := built.Pack()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"empty.duckdb.zst": database, "digits.zst": digits, "hash": []byte(hash + "\n")} {
		if err := os.WriteFile(filepath.Join("layout", name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return built
}
