package sql_test

import (
	stdsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit/world"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql"
	"dealflow/sql/answer"
)

// opened builds a catalog and opens it until the end of the test.
func opened(t *testing.T, catalog sql.Catalog) *stdsql.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.duckdb")
	if err := catalog.Build(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(t.Context(), path, "/elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestPublicNames checks that everything the catalog shows outside its own schemas has a comment, column by column.
func TestPublicNames(t *testing.T) {
	catalog := emptyCatalog(t)
	catalog.Aliases.Version = "names"
	db := opened(t, catalog)
	const public = "schema_name <> '_dealflow' AND NOT regexp_full_match(schema_name, 'lake_[0-9a-f]{12}')"
	for what, query := range map[string]string{
		"views":   "SELECT schema_name || '.' || view_name, comment FROM duckdb_views() WHERE NOT internal AND " + public,
		"columns": "SELECT schema_name || '.' || table_name || '.' || column_name, comment FROM duckdb_columns() WHERE NOT internal AND " + public,
		"macros":  "SELECT schema_name || '.' || function_name, comment FROM duckdb_functions() WHERE NOT internal AND " + public,
	} {
		rows, err := answer.Query(t.Context(), db, query)
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
	world.WantLines(t, db, "SELECT count(*)::VARCHAR FROM duckdb_tables() WHERE "+public, "0") // views alone: see package ownschema
	var said struct {
		commit        int64
		known         time.Time
		root, aliases string
		day, pulled   time.Time
	}
	row := db.QueryRow(`SELECT "commit", known_at, root, alias_version, utc_day(known_at), knowledge_at('infinity') FROM catalog_info`)
	if err := row.Scan(&said.commit, &said.known, &said.root, &said.aliases, &said.day, &said.pulled); err != nil || said.commit != 7 || !said.known.Equal(catalog.Known.Time) ||
		said.root != "/nowhere" || said.aliases != "names" || said.day.Format(time.DateOnly) != "2026-03-02" || !said.pulled.Equal(catalog.Known.Time) {
		t.Errorf("the catalog says of itself %+v, %v", said, err)
	}
	for _, table := range lake.Tables() {
		var rows int
		if err := db.QueryRow("SELECT count(*) FROM files." + table.Name).Scan(&rows); err != nil || rows != 0 {
			t.Errorf("files.%s: %d rows, %v", table.Name, rows, err)
		}
	}
}

// TestMarkets compares the table of markets with the API's. It also checks that no statement lists markets, because a
// new market would be missing there.
func TestMarkets(t *testing.T) {
	db := opened(t, emptyCatalog(t))
	var want []string
	var codes []string
	for _, service := range api.Services() {
		for _, market := range api.Markets(service) {
			codes = append(codes, "'"+string(market)+"'")
			want = append(want, fmt.Sprintf("%s %s %d", service, market, len(codes)))
		}
	}
	rows, err := answer.Query(t.Context(), db, "SELECT service, market, precedence FROM markets ORDER BY precedence")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		got = append(got, strings.Join(rows.Texts(), " "))
	}
	if err := rows.Err(); err != nil || !slices.Equal(got, want) {
		t.Errorf("markets: %q, %v; want %q", got, err, want)
	}
	files, err := filepath.Glob("*/*.sql")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for statement := range strings.SplitSeq(withoutComments(string(text)), ";\n") {
			named := slices.DeleteFunc(slices.Clone(codes), func(code string) bool { return !strings.Contains(statement, code) })
			if len(named) > 2 {
				t.Errorf("%s: a statement names the markets %s: read them from the table markets", file, strings.Join(named, ", "))
			}
		}
	}
}

// withoutComments removes comment lines.
func withoutComments(text string) string {
	var left []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			left = append(left, line)
		}
	}
	return strings.Join(left, "")
}
