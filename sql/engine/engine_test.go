package engine_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"dealflow/sql/engine"
	"dealflow/sql/quote"
)

// TestGroupsBeyondMemory groups rows with too little memory, while one thread has only few of the rows, because each takes it long.
// Too little memory may be an error, but no reason for another answer. With "SET threads = 2" in place of Threads(2), DuckDB 1.4.1
// counts groups twice, or crashes.
func TestGroupsBeyondMemory(t *testing.T) {
	t.Parallel()
	const rows, groups = 1_000_000, 500_000
	folder := t.TempDir()
	for threads, limits := range map[int][]int{1: {80, 140}, 2: {150, 160, 300}} {
		answers := 0
		for _, mib := range limits {
			db, err := engine.Open("", false, engine.Threads(threads), "SET preserve_insertion_order = false", engine.Memory(mib),
				"SET temp_directory = "+quote.Text(filepath.Join(folder, fmt.Sprint(threads, "-", mib))))
			if err != nil {
				t.Fatal(err)
			}
			db.SetMaxOpenConns(1)
			var found, counted int64
			_, err = db.ExecContext(t.Context(), fmt.Sprintf("CREATE TABLE t AS SELECT i, (i %% %d)::VARCHAR || repeat('x', 40) AS g FROM range(%d) r(i)", groups, rows))
			if err == nil {
				err = db.QueryRowContext(t.Context(), `SELECT count(*), sum(n)::BIGINT FROM (
					SELECT count(*) AS n FROM t WHERE i >= 20000 OR NOT regexp_matches(repeat(g, 100), '(x|y)*z(d|e)*(f|g)') GROUP BY g)`).Scan(&found, &counted)
			}
			switch {
			case engine.IsOutOfMemory(err):
			case err != nil:
				t.Errorf("%d threads, %d MiB: %v", threads, mib, err)
			default:
				if answers++; found != groups || counted != rows {
					t.Errorf("%d threads, %d MiB: got %d groups of %d rows, want %d of %d", threads, mib, found, counted, groups, rows)
				}
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
		if answers == 0 {
			t.Errorf("%d threads: the memory never sufficed", threads)
		}
	}
}

// TestThreads checks that no database counts two threads, also on a machine of two cores, and that Threads can be set again and again.
func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // as on a machine of two cores
	db, err := engine.Open("", false)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, set := range []string{"SELECT 1", engine.Threads(2), engine.Threads(1), engine.Threads(4), engine.Threads(2), engine.Threads(3), engine.Threads(1)} {
		var threads int
		if _, err := db.ExecContext(t.Context(), set); err != nil {
			t.Errorf("%s: %v", set, err)
		}
		if err := db.QueryRowContext(t.Context(), "SELECT current_setting('threads')").Scan(&threads); err != nil || threads == 2 {
			t.Errorf("after %q it counts %d threads, %v", set, threads, err)
		}
	}
}
