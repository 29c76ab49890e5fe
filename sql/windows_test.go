package sql

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoWindowOverAll finds no window over all rows without an order: DuckDB 1.4.1 fails on one now and then, with "Attempted to
// access index 0 within vector of size 0", and answers nothing from then on (duckdb/duckdb issue 22352). A subquery counts as well.
func TestNoWindowOverAll(t *testing.T) {
	window, read := regexp.MustCompile(`(?i)\bOVER\s*\(\s*\)`), 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		read++
		if found := window.Find(text); found != nil {
			t.Errorf("%s has %s", path, found)
		}
		return nil
	})
	if err != nil || read < 50 {
		t.Errorf("%d files, %v", read, err)
	}
}
