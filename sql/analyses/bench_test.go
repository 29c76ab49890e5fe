package analyses_test

import (
	stdsql "database/sql"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"dealflow/internal/catalog"
	"dealflow/internal/maintain"
	"dealflow/internal/testkit/longlake"
	"dealflow/load"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/lake"
	"dealflow/sql"
	"dealflow/sql/quote"
)

// fifteenYears is a lake of fifteen years (longlake.BenchmarkConfig) with its catalog, as runs leave it, or after `dealflow compact`.
func fifteenYears(tb testing.TB, compacted bool) (root string) {
	tb.Helper()
	root = longlake.Clone(tb, longlake.Open(tb, longlake.BenchmarkConfig()))
	s, err := dirstore.New(root)
	if err != nil {
		tb.Fatal(err)
	}
	if compacted {
		config := maintain.Config{Store: s, RunID: uuid.Must(uuid.NewV7()).String(), Clock: time.Now, WorkDir: tb.TempDir(), Version: "bench", NoCatalog: true}
		if _, err := maintain.Compact(tb.Context(), config); err != nil {
			tb.Fatal(err)
		}
	}
	l, err := load.Open(tb.Context(), s)
	if err != nil {
		tb.Fatal(err)
	}
	if err := catalog.Publish(tb.Context(), l, tb.TempDir(), nil); err != nil {
		tb.Fatal(err)
	}
	return root
}

// longAnswers are typical queries of the analyses over fifteen years, with %s for the instant.
func longAnswers() map[string]string {
	return map[string]string{
		"bond_priced_as_of": "bond_priced_as_of(%s)", "loan_priced_as_of": "loan_priced_as_of(%s)", "pipeline_as_of": "pipeline_as_of(%s)",
		"pipeline_conversion":  "pipeline_conversion(DATE '2016-11-30', 20, %s)",
		"league_table":         "league_table('BOND', DATE '2016-01-01', DATE '2016-12-31', %s)",
		"league_table_loans":   "league_table('LOAN', DATE '2016-01-01', DATE '2016-12-31', %s)",
		"execution_metrics":    "execution_metrics(%s)",
		"issuance_volume":      "issuance_volume('month', %s)",
		"deal_timeline":        "deal_timeline('bond', 'IG', 'priced', (SELECT min(deal_id) FROM bond_priced_deals WHERE market = 'IG'), %s)",
		"field_change_IG_2016": "(SELECT * FROM field_change(%s) WHERE market = 'IG' AND known_at >= '2016-01-01' AND known_at < '2017-01-01')",
		"restatement_stats":    "restatement_stats(365, %s)",
		"tap_family":           "tap_family(%s)",
		"maturity_wall":        "maturity_wall(%s)",
		"loan_flex_and_terms":  "loan_flex_and_terms(%s)",
		"data_quality":         "data_quality(%s)",
		"parse_coverage":       "parse_coverage(%s)",
		"changes_2016":         "changes(TIMESTAMPTZ '2016-01-01', least(TIMESTAMPTZ '2017-01-01', %s))",
	}
}

// BenchmarkAnalyses queries each analysis of the fifteen-year lake, as runs leave it and compacted, with all that is known and as
// of the end of 2016.
// ns/op is the former, with every value of every row computed; as-of-ms is the latter, and as-of/now is their ratio.
func BenchmarkAnalyses(b *testing.B) {
	b.Run("after-runs", func(b *testing.B) { benchmarkAnalyses(b, fifteenYears(b, false)) })
	b.Run("compacted", func(b *testing.B) { benchmarkAnalyses(b, fifteenYears(b, true)) })
}

func benchmarkAnalyses(b *testing.B, root string) {
	b.Helper()
	db, err := sql.Open(b.Context(), filepath.Join(root, lake.CatalogKey), root)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	answers := longAnswers()
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		b.Run(name, func(b *testing.B) {
			now, then := fmt.Sprintf(answers[name], "'infinity'"), fmt.Sprintf(answers[name], "TIMESTAMPTZ '2016-12-31'")
			rows := ask(b, db, now) // footers that were read stay in memory
			ask(b, db, then)
			var took time.Duration
			for b.Loop() {
				ask(b, db, now)
				b.StopTimer()
				began := time.Now()
				ask(b, db, then)
				took += time.Since(began)
				b.StartTimer()
			}
			asOf := float64(took) / float64(b.N)
			b.ReportMetric(asOf/1e6, "as-of-ms")
			b.ReportMetric(asOf*float64(b.N)/float64(b.Elapsed()), "as-of/now")
			b.ReportMetric(float64(rows), "rows")
		})
	}
}

// ask computes all values of a query's result, and counts its rows.
func ask(b *testing.B, db *stdsql.DB, from string) (rows int64) {
	b.Helper()
	var sum stdsql.NullString
	once, value := quote.Once("SELECT count(*), sum(hash(x))::VARCHAR FROM " + from + " x") // as a notebook and the explorer plan it
	if err := db.QueryRowContext(b.Context(), once, value).Scan(&rows, &sum); err != nil {
		b.Fatal(err)
	}
	return rows
}
