package export_test

import (
	stdsql "database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	_ "github.com/marcboeker/go-duckdb/v2"

	"dealflow/internal/export"
	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// loader is what a user writes: it applies exports to tables of its own, by what their manifests say and nothing else.
type loader struct {
	db     *stdsql.DB
	loaded lake.NamedCommit
}

// newLoader creates empty tables with the columns of the catalog.
func newLoader(t *testing.T) *loader {
	t.Helper()
	db, err := stdsql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(1)
	l := &loader{db: db}
	l.exec(t, "SET TimeZone = 'UTC'; SET threads = 1")
	for _, table := range lake.Tables() {
		columns := ""
		for _, c := range table.HistoryColumns() {
			columns += fmt.Sprintf(`"%s" %s, `, c.Name, c.Type.SQL())
		}
		l.exec(t, fmt.Sprintf(`CREATE TABLE %s (%sknown_at TIMESTAMPTZ, "commit" BIGINT)`, table.Name, columns))
	}
	// Each change of a deal must come once.
	l.exec(t, "CREATE TABLE seen (feeds VARCHAR, market VARCHAR, deal_id BIGINT, version INTEGER, PRIMARY KEY (feeds, market, deal_id, version))")
	return l
}

func (l *loader) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := l.db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%v\n%s", err, statement)
	}
}

// readers are how DuckDB reads the files of each format.
var readers = map[string]string{
	"parquet": "read_parquet('%s')",
	"csv":     "read_csv('%s', header = true, all_varchar = true, delim = ',', quote = '\"', escape = '\"', nullstr = '', allow_quoted_nulls = false)",
	"ndjson":  "read_json('%s', format = 'newline_delimited', columns = %s)",
}

// source returns a FROM clause's source for a file of a table.
func source(m *export.Manifest, f *export.File, target store.Store, table *lake.Table) string {
	path := filepath.Join(store.LocalPath(target), f.Path)
	if m.Format != "ndjson" {
		return fmt.Sprintf(readers[m.Format], path)
	}
	columns := "{known_at: 'TIMESTAMPTZ', commit: 'BIGINT'"
	for _, c := range table.HistoryColumns() {
		columns += fmt.Sprintf(`, "%s": '%s'`, c.Name, c.Type.SQL())
	}
	return fmt.Sprintf(readers[m.Format], path, columns+"}")
}

// apply loads one export in one transaction.
func (l *loader) apply(t *testing.T, m *export.Manifest, target store.Store) {
	t.Helper()
	if m.From != nil && m.From.SHA256 != l.loaded.SHA256 {
		t.Fatalf("the export continues from %s, the loader has %s", m.From, l.loaded)
	}
	l.exec(t, "BEGIN")
	known := map[string]bool{}
	for i := range m.Tables {
		entry := &m.Tables[i]
		table, _ := lake.TableByName(entry.Table)
		switch {
		case entry.Mode == export.ModeFull:
			l.exec(t, "DELETE FROM "+entry.Table)
		case entry.Deletes != nil:
			deletes := source(m, entry.Deletes, target, table)
			l.exec(t, fmt.Sprintf("DELETE FROM %s WHERE (market, deal_id) IN (SELECT (market, deal_id::BIGINT) FROM %s)", entry.Table, deletes))
			if !known[entry.Deletes.Path] {
				known[entry.Deletes.Path] = true
				l.exec(t, fmt.Sprintf("INSERT INTO seen SELECT '%s %s', market, deal_id, version FROM %s", table.Service, table.Kind, deletes))
			}
		}
		if entry.Inserts != nil {
			l.exec(t, fmt.Sprintf("INSERT INTO %s BY NAME FROM %s", entry.Table, source(m, entry.Inserts, target, table)))
		}
	}
	l.exec(t, "COMMIT")
	l.loaded = m.To
}

// digest is the number of rows of a table, and a sum over their texts.
func digest(t *testing.T, db *stdsql.DB, from string) string {
	t.Helper()
	rows := world.Lines(t, db, "SELECT count(*), coalesce(sum(hash(r::VARCHAR)::HUGEINT), 0) FROM (SELECT * EXCLUDE (\"commit\") FROM "+from+") r")
	return rows[0]
}

// digests returns the digests of tables, with each name replaced by a source; without names, of all tables.
func digests(t *testing.T, db *stdsql.DB, source func(table string) string, names ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, table := range lake.Tables() {
		if names == nil || slices.Contains(names, table.Name) {
			all[table.Name] = digest(t, db, source(table.Name))
		}
	}
	return all
}

// wantEqual checks that the loader has what as-of macros say.
func (l *loader) wantEqual(t *testing.T, when string, want map[string]string) {
	t.Helper()
	got := digests(t, l.db, func(table string) string { return table })
	for _, table := range slices.Sorted(maps.Keys(want)) {
		if got[table] != want[table] {
			t.Errorf("%s: %s: the loader has %s, the lake says %s (rows, sum)", when, table, got[table], want[table])
		}
	}
}
