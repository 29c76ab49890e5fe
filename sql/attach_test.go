package sql_test

import (
	stdsql "database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dealflow/internal/testkit/world"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
	"dealflow/sql"
	"dealflow/sql/quote"
)

// TestAttach attaches the catalogs of two lakes at once, under names of the reader's choice, and asks every macro of
// each as of an instant: the answers are those of each catalog opened alone. It needs no USE. One of the lakes was moved.
func TestAttach(t *testing.T) {
	t.Parallel()
	names := []string{"d", "the second's \"lake\""}
	worlds := []*world.World{world.New(t, sim.Config{Seed: 1, Deals: 12, Expected: 6}), world.New(t, sim.Config{Seed: 2, Deals: 15, Expected: 5}).Alone()}
	attached := memory(t)
	var before []string
	answers, views := make([][]string, len(worlds)), make([][]string, len(worlds))
	for i, w := range worlds {
		w.Night(t, 0, world.Quiet, world.AcceptRemovals)
		w.Night(t, 1, world.AcceptRemovals)
		root := w.Root
		w.Published(t, func(db *stdsql.DB) {
			before = world.Lines(t, db, "SELECT min(known_at)::VARCHAR FROM runs")
			answers[i], views[i] = answersOf(t, db, "", before[0]), rowsOfViews(t, db, "")
			if i == 1 {
				moved := filepath.Join(t.TempDir(), "moved")
				id := world.Lines(t, db, "SELECT lake_id FROM catalog_info")[0]
				execute(t, attached, "SET VARIABLE lake_"+id+" = '"+moved+"'")
				root = moved
			}
		})
		if root != w.Root {
			if err := os.Rename(w.Root, root); err != nil {
				t.Fatal(err)
			}
		}
		execute(t, attached, "ATTACH '"+root+"/catalog.duckdb' AS "+quoted(names[i])+" (READ_ONLY)")
	}
	for i := range worlds {
		// Views need nothing, whatever the current database is: the core ones call macros.
		world.Lines(t, attached, "FROM "+quoted(names[i])+".bond_deals_core LIMIT 5")
		if diff := cmp.Diff(views[i], rowsOfViews(t, attached, names[i])); diff != "" {
			t.Errorf("%s: views (-alone +attached):\n%s", names[i], diff)
		}
		execute(t, attached, "USE "+quoted(names[1-i]))
		if diff := cmp.Diff(views[i], rowsOfViews(t, attached, names[i])); diff != "" {
			t.Errorf("%s: views while another lake is the current database (-alone +attached):\n%s", names[i], diff)
		}
		// Without the search path a macro is an error: it never reads another lake.
		if rows, err := attached.Query("FROM " + quoted(names[i]) + ".bond_priced_deals_as_of(now())"); err == nil {
			rows.Close()
			t.Errorf("%s: a macro was answered from another lake", names[i])
		}
		execute(t, attached, "USE memory")
	}
	execute(t, attached, world.Lines(t, attached, "SELECT statement FROM d.lake_help WHERE topic = 'attach'")[0])
	for i := range worlds {
		got := answersOf(t, attached, quoted(names[i])+".", before[0])
		for k := range got {
			if got[k] != answers[i][k] {
				t.Errorf("%s: answer %d: got %.300s, want %.300s", names[i], k, got[k], answers[i][k])
			}
		}
	}
	// The reader's own tables stay where they were.
	execute(t, attached, "CREATE TABLE own AS SELECT 1 AS x")
	world.WantLines(t, attached, "SELECT current_database() FROM own", "memory")
}

// rowsOfViews returns the number of rows of each view of the attached catalog with a name, or of the catalog that is open.
func rowsOfViews(t *testing.T, db *stdsql.DB, name string) (all []string) {
	t.Helper()
	database, prefix := "current_database()", ""
	if name != "" {
		database, prefix = quote.Text(name), quoted(name)+"."
	}
	for _, view := range world.Lines(t, db, "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal AND database_name = "+database+
		" AND schema_name IN ('main', 'history', 'snapshots', 'files') ORDER BY ALL") {
		all = append(all, view+": "+world.Lines(t, db, "SELECT count(*) FROM "+prefix+view)[0])
	}
	return all
}

// answersOf asks the catalog whose names have a prefix: the number of deals now, then every analysis and table as of an
// instant.
func answersOf(t *testing.T, db *stdsql.DB, prefix, instant string) (all []string) {
	t.Helper()
	all = append(all, world.Lines(t, db, "SELECT count(*) FROM "+prefix+"bond_priced_deals")[0])
	analyses, err := sql.Analyses()
	if err != nil {
		t.Fatal(err)
	}
	var queries []string
	for _, a := range analyses {
		queries = append(queries, strings.ReplaceAll(a.AsOf[0], "FROM deals_as_of(", "FROM "+prefix+"deals_as_of("))
	}
	for _, table := range lake.Tables()[:2] { // their macros are of one template
		queries = append(queries, table.Name+"_as_of({as_of})")
	}
	for _, query := range queries {
		query = strings.NewReplacer("{as_of}", "TIMESTAMPTZ '"+instant+"'", "{feed}", "'bond', 'IG', 'priced'",
			"{deal_id}", "(SELECT min(deal_id) FROM "+prefix+"deals WHERE market = 'IG' AND kind = 'priced')").Replace(query)
		rows := world.SortedRows(t, db, "SELECT x::VARCHAR FROM "+prefix+query+" x")
		all = append(all, strings.ReplaceAll(query, prefix, "")+": "+strings.Join(rows, "\n"))
	}
	return all
}

func memory(t *testing.T) *stdsql.DB {
	t.Helper()
	db, err := stdsql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1) // settings are those of a connection
	execute(t, db, "SET TimeZone = 'UTC'")
	return db
}

func execute(t *testing.T, db *stdsql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
