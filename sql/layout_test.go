package sql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"dealflow/internal/testkit"
)

// TestLayout compares the empty catalog inside the program with one that is built now from the statements: all
// schemas, tables, columns, views, macros, types and comments, and the rows of the small tables.
func TestLayout(t *testing.T) {
	t.Parallel()
	built, err := buildEmptyCatalog(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hash, err := ownLayoutHash()
	if err != nil {
		t.Fatal(err)
	}
	if testkit.Updating() {
		updateLayout(t, built, hash)
		return
	}
	if hash != strings.TrimSpace(packedHash) {
		t.Fatal("the statements of the catalog, or DuckDB, have changed: `make generate` builds layout/empty.duckdb.zst anew")
	}
	packed, err := unpackLayout()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contentOf(t, built), contentOf(t, packed)); diff != "" {
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
	db, err := connect(path, true)
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

func updateLayout(t *testing.T, built []byte, hash string) {
	t.Helper()
	if hash == strings.TrimSpace(packedHash) {
		return // two builds differ in bytes that mean nothing
	}
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	defer pack.Close()
	for name, content := range map[string][]byte{"empty.duckdb.zst": pack.EncodeAll(built, nil), "hash": []byte(hash + "\n")} {
		if err := os.WriteFile(filepath.Join("layout", name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
