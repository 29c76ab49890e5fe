package analyses_test

import (
	stdsql "database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/lake"
	"dealflow/sql"
)

// TestArguments asks macros as of a column of the query around them, which has a name that macros use inside. DuckDB puts arguments into macros as
// they are written, so that such a name could mean the macro's own: the answer would be as of another instant. It must be that as of
// the column's value, or an error: not all macros may be asked of columns.
func TestArguments(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one connection asks")
	}
	w, h := observed(t, 1)
	at := fmt.Sprintf("TIMESTAMPTZ '%s'", lake.At(h.nights[3].at))
	w.Ask(t, func(db *stdsql.DB) {
		aliases, columns := names(t, db)
		asked, answered := 0, 0
		for _, question := range testkit.Sample(questions(t, at), 2) {
			answer := func(instant, from string) (string, error) {
				var found string
				err := db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT (SELECT {rows: count(*), rows_hash: bit_xor(hash(q))}::VARCHAR FROM (FROM %s) q) FROM %s",
					strings.ReplaceAll(question, "{as_of}", instant), from)).Scan(&found)
				return found, err
			}
			want, err := answer(at, "(SELECT 1)")
			if err != nil {
				t.Fatalf("%s: %v", question, err)
			}
			check := func(instant, from string) bool {
				got, err := answer(instant, from)
				if err == nil && got != want {
					t.Errorf("%s as of %s: got %s, want %s", question, instant, got, want)
				}
				return err == nil
			}
			for _, column := range columns {
				asked++
				if check(column, fmt.Sprintf("(SELECT %s AS %s) around", at, column)) {
					answered++
				}
			}
			for some := range slices.Chunk(aliases, 25) {
				var from, instants []string
				for _, alias := range some {
					from = append(from, fmt.Sprintf("(SELECT %[1]s AS known_at, %[1]s AS valid_from, %[1]s AS first_known_at) %[2]s", at, alias))
					instants = append(instants, alias+".known_at", alias+".valid_from", alias+".first_known_at")
				}
				if check("greatest("+strings.Join(instants, ", ")+")", strings.Join(from, ", ")) {
					continue
				}
				for i, alias := range some { // an error of one must not hide a wrong answer of another
					check(alias+".known_at", from[i])
					check(alias+".valid_from", from[i])
				}
			}
		}
		const stats = "(SELECT {deals: sum(deals), restated: sum(restated), too_young: sum(too_young)} FROM restatement_stats(%s))"
		world.WantLines(t, db, fmt.Sprintf("SELECT "+stats+" = "+stats+", "+stats+" = "+stats+", "+stats+" <> "+stats+" FROM (SELECT 3 AS version, 3 AS lag_days)",
			"version", "3", "lag_days", "3", "1", "3"), "true true true")
		if 2*answered < asked {
			t.Errorf("%d of %d questions as of a column are answered: the test asks in a way that is an error", answered, asked)
		}
	})
}

// questions are calls of macros that have an instant.
func questions(t *testing.T, at string) []string {
	t.Helper()
	all := []string{"deals_as_of({as_of})", fmt.Sprintf("changes_rows(%s - INTERVAL 2 DAYS, {as_of})", at), "(SELECT knowledge_at({as_of}))"}
	for _, table := range lake.Tables() {
		all = append(all, table.Name+"_as_of({as_of})")
	}
	all = append(all, "bond_priced_deals_changes_rows({as_of} - INTERVAL 2 DAYS, {as_of})", "bond_expected_tranches_as_of({as_of}, since := {as_of} - INTERVAL 1 DAY)")
	declared, err := sql.Analyses()
	if err != nil {
		t.Fatal(err)
	}
	feed := strings.NewReplacer("{feed}", "'bond', 'IG', 'priced'", "{deal_id}", "(SELECT min(deal_id) FROM main.bond_priced_deals WHERE market = 'IG')")
	for _, a := range declared {
		for _, question := range a.AsOf {
			all = append(all, feed.Replace(question))
		}
	}
	return all
}

// qualifierText is what is before the name of a column.
var qualifierText = regexp.MustCompile(`\b([a-z]\w*)\.`)

// names returns the aliases in the definitions of macros, and the columns in them that may be instants.
func names(t *testing.T, db *stdsql.DB) (aliases, columns []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, definition := range world.SortedRows(t, db, "SELECT macro_definition FROM duckdb_functions() WHERE macro_definition IS NOT NULL AND schema_name IN ('main', '_dealflow') AND NOT internal") {
		for _, word := range qualifierText.FindAllStringSubmatch(definition, -1) {
			seen[word[1]] = true
		}
	}
	reserved := world.SortedRows(t, db, "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category <> 'unreserved'")
	for word := range seen {
		if !slices.Contains(reserved, word) {
			aliases = append(aliases, word)
		}
	}
	slices.Sort(aliases)
	columns = world.SortedRows(t, db, "SELECT DISTINCT column_name FROM duckdb_columns() WHERE (data_type LIKE 'TIMESTAMP%' OR data_type = 'DATE') AND NOT starts_with(column_name, '_')")
	return aliases, append(columns, "beginning", "ending", "deadline", "day", "date", "event_at")
}
