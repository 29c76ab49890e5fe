package safesql

import (
	stdsql "database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/sql"
)

// scratch opens the catalog without any gate.
func (f *fixture) scratch(t *testing.T) (*stdsql.DB, names) {
	t.Helper()
	db, err := sql.Open(t.Context(), filepath.Join(f.lake, "catalog.duckdb"), f.lake)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	known, err := knownNames(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return db, known
}

// TestFunctionsOfTheEngine compares DuckDB's functions with those that were reviewed. Before a function of a later DuckDB is
// added by -update, check whether it can write, read a file, a setting or a variable, or run a statement: one for FROM is closed unless openFunctions has it; one for expressions is open unless
// closedFunctions has it.
func TestFunctionsOfTheEngine(t *testing.T) {
	db, err := stdsql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found := world.Lines(t, db, `
SELECT DISTINCT CASE WHEN function_type LIKE 'table%' THEN 'from' WHEN function_type = 'pragma' THEN 'pragma' ELSE 'expression' END || ' ' || function_name AS line
FROM duckdb_functions() WHERE NOT starts_with(function_name, 'icu_collate_') ORDER BY ALL`)
	testkit.Golden(t, "testdata/functions.txt", []byte(strings.Join(found, "\n")+"\n"))
	for _, name := range openFunctions {
		if !slices.Contains(found, "from "+name) {
			t.Errorf("openFunctions has %s, which DuckDB does not have", name)
		}
	}
	// A macro of DuckDB may read a table that a text names, which the check of the statement does not see.
	macros := world.Lines(t, db, "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'table_macro'")
	for _, name := range openFunctions {
		if slices.Contains(macros, name) {
			t.Errorf("openFunctions has %s, which is a macro", name)
		}
	}
}
