package export_test

import (
	"strings"
	"testing"

	"dealflow/internal/ddl"
	"dealflow/internal/export"
	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// statements is a loader that runs the statements of `dealflow ddl postgres` in DuckDB.
type statements struct {
	*loader
	target store.Store
	loaded []lake.NamedCommit
}

func newStatements(t *testing.T) *statements {
	t.Helper()
	l := newLoader(t)
	for _, table := range lake.Tables() {
		l.exec(t, "DROP TABLE "+table.Name)
	}
	create, err := ddl.Tables("postgres", lake.Tables())
	if err != nil {
		t.Fatal(err)
	}
	l.exec(t, create)
	return &statements{loader: l, target: world.Folder(t, t.TempDir())}
}

// apply exports what is new as CSV, and loads it.
func (s *statements) apply(t *testing.T, e *exporter, since string) {
	t.Helper()
	m := e.mustExport(t, s.target, since, func(c *export.Config) {
		if since == "" {
			c.Format = "csv" // the exports that continue it have its format
		}
	}).Export
	load, err := ddl.Load("postgres", m, s.target.URL())
	if err != nil {
		t.Fatal(err)
	}
	// Without it DuckDB takes "" for NULL, which PostgreSQL does not.
	s.exec(t, strings.ReplaceAll(load, "(FORMAT csv, HEADER)", "(FORMAT csv, HEADER, ALLOW_QUOTED_NULLS false)"))
	s.loaded = append(s.loaded, m.To)
}

// wantVersions asks the views of versions as of the last commit of each of the last exports.
func (s *statements) wantVersions(t *testing.T, e *exporter, exports int) {
	t.Helper()
	for _, commit := range s.loaded[len(s.loaded)-exports:] {
		at := commit.KnownAt.String()
		got := digests(t, s.db, func(table string) string {
			return "(SELECT * EXCLUDE (valid_from, valid_to) FROM " + table + "_versions WHERE valid_from <= '" + at + "' AND (valid_to IS NULL OR valid_to > '" + at + "'))"
		})
		for table, want := range e.asOf(t, commit) {
			if got[table] != want {
				t.Errorf("%s_versions as of commit %d: %s, the lake says %s (rows, sum)", table, commit.Number, got[table], want)
			}
		}
	}
}
