package ddl_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dealflow/internal/ddl"
	"dealflow/internal/export"
	"dealflow/internal/testkit"
	"dealflow/schemas/lake"
)

// sample is an export of two tables, of which a replay has restated one.
func sample(format string) *export.Manifest {
	file := func(name string) *export.File {
		return &export.File{Path: "data/42/id/" + name + "/rows." + format, Rows: 1, Bytes: 1}
	}
	return &export.Manifest{
		From: &lake.NamedCommit{Number: 41}, To: lake.NamedCommit{Number: 42}, Format: format, SchemaVersion: lake.SchemaVersion, Tables: []export.Table{
			{Table: "bond_expected_deal_history", Mode: export.ModeChanges, Deletes: file("bond_expected.deletes"), Inserts: file("bond_expected_deal_history.inserts")},
			{Table: "loan_priced_deal_total_currencies", Mode: export.ModeFull, Deletes: file("loan_priced.deletes"), Inserts: file("loan_priced_deal_total_currencies.inserts")},
		},
	}
}

// formatOf is the format of exports that a dialect loads.
func formatOf(dialect string) string {
	if dialect == "postgres" {
		return "csv"
	}
	return "parquet"
}

// TestStatements compares all statements for two tables with the files in testdata, dialect by dialect.
func TestStatements(t *testing.T) {
	names := []string{"bond_expected_deal_history", "loan_priced_deal_total_currencies"}
	two := slices.DeleteFunc(lake.Tables(), func(t *lake.Table) bool { return !slices.Contains(names, t.Name) })
	folder := "s3://bucket/deals/_dealflow/iceberg/current/bond_priced_deals"
	published := []ddl.IcebergTable{{Namespace: "current", Name: "bond_priced_deals", Folder: folder, Metadata: folder + "/metadata/v7.metadata.json"}}
	for _, dialect := range ddl.Dialects() {
		tables, err := ddl.Tables(dialect, two)
		if err != nil {
			t.Fatal(err)
		}
		load, err := ddl.Load(dialect, sample(formatOf(dialect)), "s3://bucket/export/")
		if err != nil {
			t.Fatal(err)
		}
		registered, err := ddl.Iceberg(dialect, published)
		if err != nil {
			registered = "-- " + err.Error() + "\n"
		}
		testkit.Golden(t, filepath.Join("testdata", dialect+".sql"), []byte(tables+"\n"+load+"\n"+registered))
	}
}

// TestAllTables creates all tables in each dialect: each column has a type, and each text ends.
func TestAllTables(t *testing.T) {
	for _, dialect := range ddl.Dialects() {
		text, err := ddl.Tables(dialect, lake.Tables())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "%!") || strings.Contains(text, "()") {
			t.Errorf("%s: a statement has a gap", dialect)
		}
		for _, table := range lake.Tables() {
			create := "CREATE TABLE " + table.Name + " (\n"
			_, columns, ok := strings.Cut(text, create)
			columns, _, _ = strings.Cut(columns, "\n)")
			if lines := strings.Count(columns, "\n"); !ok || lines < len(table.HistoryColumns())+1 {
				t.Errorf("%s: %s has %d lines, want one for each column", dialect, table.Name, lines)
			}
		}
	}
}

// TestLocalAddresses reads an export and tables in folders: Trino finds files of the Hive connector through local:// alone,
// and ClickHouse has another engine for tables in a folder.
func TestLocalAddresses(t *testing.T) {
	load, err := ddl.Load("trino", sample("parquet"), "/data/export")
	if err != nil {
		t.Fatal(err)
	}
	if want := "(external_location = 'local:///data/export/data/42/id/bond_expected.deletes/', format = 'PARQUET')"; !strings.Contains(load, want) {
		t.Errorf("trino: the load lacks %s", want)
	}
	folder := "file:///data/lake/_dealflow/iceberg/current/bond_priced_deals"
	tables := []ddl.IcebergTable{{Namespace: "current", Name: "bond_priced_deals", Folder: folder, Metadata: folder + "/metadata/v7.metadata.json"}}
	for dialect, want := range map[string]string{
		"clickhouse": "IcebergLocal('/data/lake/_dealflow/iceberg/current/bond_priced_deals')",
		"trino":      "table_location => '" + folder + "', metadata_file_name => 'v7.metadata.json'",
	} {
		text, err := ddl.Iceberg(dialect, tables)
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: the statements lack %s (%v)", dialect, want, err)
		}
	}
}

// TestOlderSchema loads an export of schema version 3: it has no column of a later version.
func TestOlderSchema(t *testing.T) {
	m := &export.Manifest{Format: "csv", SchemaVersion: 3, Tables: []export.Table{{Table: "bond_priced_deals", Mode: export.ModeFull, Inserts: &export.File{Path: "x/y.csv"}}}}
	load, err := ddl.Load("postgres", m, "out")
	if err != nil {
		t.Fatal(err)
	}
	table, _ := lake.TableByName("bond_priced_deals")
	newer := 0
	for _, c := range table.HistoryColumns() {
		found := strings.Contains(load, strconv.Quote(c.Name))
		if c.Since > 3 {
			newer++
		}
		if found != (c.Since <= 3) {
			t.Errorf("column %s of schema version %d: in the load %t", c.Name, c.Since, found)
		}
	}
	if newer == 0 {
		t.Error("no column is newer than version 3: the test compares nothing")
	}
}

// TestRestatedKeepsChanges loads tables that a replay has restated although no deal changed. The changes that earlier
// exports have brought stay as they are; only those of rows without one are added.
func TestRestatedKeepsChanges(t *testing.T) {
	for _, dialect := range ddl.Dialects() {
		m := sample(formatOf(dialect))
		m.Tables = []export.Table{
			{Table: "bond_priced_deals", Mode: export.ModeFull, Inserts: &export.File{Path: "data/42/id/bond_priced_deals.inserts/rows.x", Rows: 1}},
		}
		load, err := ddl.Load(dialect, m, "s3://bucket/export/")
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"DELETE FROM bond_priced_changes", "MERGE INTO bond_priced_changes"} {
			if strings.Contains(load, bad) {
				t.Errorf("%s: the load has %q", dialect, bad)
			}
		}
		if !strings.Contains(load, "INSERT INTO bond_priced_changes") {
			t.Errorf("%s: the load adds no changes", dialect)
		}
	}
}

// TestRefusals asks for what there is not.
func TestRefusals(t *testing.T) {
	_, err1 := ddl.Tables("oracle", nil)
	_, err2 := ddl.Load("postgres", sample("parquet"), "out")
	_, err3 := ddl.Load("trino", &export.Manifest{Format: "parquet", Tables: []export.Table{{Table: "bonds"}}}, "out")
	_, err4 := ddl.Iceberg("postgres", nil)
	_, err5 := ddl.Load("trino", &export.Manifest{Format: "parquet", SchemaVersion: lake.SchemaVersion + 1}, "out")
	for want, err := range map[string]error{
		`no dialect "oracle": want snowflake`: err1, "run `dealflow export --format csv`": err2, `names the table "bonds"`: err3, "has no statement that registers": err4,
		fmt.Sprintf("this program knows %d", lake.SchemaVersion): err5,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
