//go:build unix

package bench_test

import (
	stdsql "database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/marcboeker/go-duckdb/v2" // the driver
)

// BenchmarkParquetSize rewrites the rows of every file of a first night with DuckDB, at DuckDB's own setting for zstd.
func BenchmarkParquetSize(b *testing.B) {
	path := program(b)
	for _, s := range sizes() {
		if s.Name != "1k" && s.Name != "10k" && os.Getenv("TEST_FULL") != "" {
			continue
		}
		b.Run("deals="+s.Name, func(b *testing.B) {
			m := newMarket(b, s)
			m.night(b, firstNight)
			l := &lakeAt{program: path, root: filepath.Join(b.TempDir(), "lake"), address: m.address}
			l.pull(b, "run")
			db, err := stdsql.Open("duckdb", "")
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			for b.Loop() {
				var ours, theirs int64
				for _, file := range parquetFiles(b, l.root) {
					ours += sizeOf(b, file)
					theirs += rewritten(b, db, file)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(ours)/1e6, "MB")
				b.ReportMetric(float64(theirs)/1e6, "duckdb-MB")
			}
		})
	}
}

func parquetFiles(b *testing.B, root string) (files []string) {
	b.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".parquet") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

func sizeOf(b *testing.B, path string) int64 {
	b.Helper()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

func rewritten(b *testing.B, db *stdsql.DB, path string) int64 {
	b.Helper()
	to := filepath.Join(b.TempDir(), "again.parquet")
	_, err := db.ExecContext(b.Context(), fmt.Sprintf(
		"COPY (FROM read_parquet('%s', hive_partitioning = false)) TO '%s' (FORMAT parquet, COMPRESSION zstd)", path, to))
	if err != nil {
		b.Fatal(err)
	}
	return sizeOf(b, to)
}
