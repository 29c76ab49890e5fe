package testkit_test

import (
	"os"
	"path/filepath"
	"testing"

	"dealflow/internal/testkit"
)

// TestRoot finds this file from the root, and the same root from a folder below.
func TestRoot(t *testing.T) {
	root := testkit.Root(t)
	if _, err := os.Stat(filepath.Join(root, "internal", "testkit", "root_test.go")); err != nil {
		t.Error(err)
	}
	t.Chdir(filepath.Join(root, "testdata"))
	if got := testkit.Root(t); got != root {
		t.Errorf("from testdata: got %s, want %s", got, root)
	}
}
