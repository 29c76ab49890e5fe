package engine_test

import (
	"path/filepath"
	"testing"

	"dealflow/sql/engine"
	"dealflow/sql/quote"
)

// TestOnce checks that Once saves a plan, and that it is still needed. Each plan opens a file to learn its columns, and then it is opened for its rows.
func TestOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "numbers.parquet")
	db, err := engine.Open("", false,
		"COPY (SELECT range AS n FROM range(3)) TO "+quote.Text(file),
		"CREATE VIEW numbers AS FROM read_parquet("+quote.Text(file)+")",
		"CALL enable_logging('FileSystem')")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	opened := func(statement string, args ...any) (times int) {
		t.Helper()
		var sum int
		if _, err := db.Exec("CALL truncate_duckdb_logs()"); err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRow(statement, args...).Scan(&sum); err != nil || sum != 3 {
			t.Fatalf("%s: %d, %v; want 3", statement, sum, err)
		}
		if err := db.QueryRow("SELECT count(*) FROM duckdb_logs WHERE type = 'FileSystem' AND contains(message, 'OPEN')").Scan(&times); err != nil {
			t.Fatal(err)
		}
		return times
	}
	const query = "SELECT sum(n)::BIGINT FROM numbers"
	once, value := quote.Once(query)
	if got := opened(once, value); got != 2 {
		t.Errorf("with Once the file was opened %d times, want 2", got)
	}
	if got := opened(query); got <= 2 {
		t.Errorf("without Once the file was opened %d times: DuckDB plans a prepared statement once, and Once is not needed any more", got)
	}
}
