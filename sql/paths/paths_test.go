package paths_test

import (
	stdsql "database/sql"
	"slices"
	"testing"

	_ "github.com/marcboeker/go-duckdb/v2"

	"dealflow/sql/paths"
)

// TestOf names views and macros in several ways. A name that is a part of another is not that one.
func TestOf(t *testing.T) {
	db, err := stdsql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.ExecContext(t.Context(), `
CREATE SCHEMA _dealflow;
CREATE VIEW _dealflow.history_bond_deals AS SELECT 'history/bond_deals/mkt=IG/a.parquet' AS path;
CREATE VIEW _dealflow.history_loan_deals AS SELECT 'history/loan_deals/mkt=LL/b.parquet' AS path;
CREATE VIEW main.bond_deals AS FROM _dealflow.history_bond_deals;
CREATE VIEW main.deals AS FROM _dealflow.history_bond_deals UNION ALL FROM _dealflow.history_loan_deals;
CREATE MACRO main.bond_deals_as_of(t) AS TABLE FROM _dealflow.history_bond_deals;
CREATE MACRO main.both() AS TABLE FROM deals`)
	if err != nil {
		t.Fatal(err)
	}
	bonds := []string{"history/bond_deals/mkt=IG/a.parquet"}
	both := []string{"history/bond_deals/mkt=IG/a.parquet", "history/loan_deals/mkt=LL/b.parquet"}
	for statement, want := range map[string][]string{
		"FROM bond_deals":                 bonds,
		`SELECT path FROM "Bond_Deals" d`: bonds,
		"FROM main.bond_deals":            bonds,
		"FROM query_table('bond_deals')":  bonds,
		"FROM query('FROM bond_deals')":   bonds,
		"FROM bond_deals_as_of(now())":    bonds,
		"FROM deals":                      both,
		"FROM both()":                     both,
		"FROM bond_deals, deals":          both,
		"SELECT 1":                        nil,
	} {
		got, err := paths.Of(t.Context(), db, statement)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", statement, got, want)
		}
	}
}
