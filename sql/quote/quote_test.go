package quote_test

import (
	stdsql "database/sql"
	"path/filepath"
	"testing"

	_ "github.com/marcboeker/go-duckdb/v2"

	"dealflow/sql/quote"
)

// TestQuotes has DuckDB read texts and names, and a copied answer.
func TestQuotes(t *testing.T) {
	db, err := stdsql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, text := range []string{"", "a", "it's", "''", `"`, `""`, `\`, `\'`, "--", "; DROP TABLE x", "two\nlines", "日本", "$$", "é"} {
		var got string
		if err := db.QueryRowContext(t.Context(), "SELECT "+quote.Text(text)).Scan(&got); err != nil || got != text {
			t.Errorf("%q is read as %q, %v", text, got, err)
		}
		if text == "" {
			continue // no name
		}
		rows, err := db.QueryContext(t.Context(), "SELECT 1 AS "+quote.Name(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		names, err := rows.Columns()
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil || names[0] != text {
			t.Errorf("the name %q is read as %q, %v", text, names, err)
		}
	}
	path, n := filepath.Join(t.TempDir(), "it's.parquet"), 0
	if err := db.QueryRowContext(t.Context(), quote.ToParquet("SELECT * FROM range(3)", path)).Scan(&n); err != nil || n != 3 {
		t.Errorf("copied %d rows, %v", n, err)
	}
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+quote.Text(path)).Scan(&n); err != nil || n != 3 {
		t.Errorf("the file has %d rows, %v", n, err)
	}
}
