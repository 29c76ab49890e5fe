package testkit_test

import (
	"os"
	"path/filepath"
	"slices"
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

// TestSample tries every third case, and all with TEST_FULL.
func TestSample(t *testing.T) {
	cases := []int{0, 1, 2, 3, 4, 5, 6}
	for full, want := range map[string][]int{"": {0, 3, 6}, "1": cases} {
		t.Setenv("TEST_FULL", full)
		if got := testkit.Sample(cases, 3); !slices.Equal(got, want) {
			t.Errorf("TEST_FULL=%s: got %v, want %v", full, got, want)
		}
		named := map[string]int{"a": 0, "b": 1, "c": 2, "d": 3, "e": 4, "f": 5, "g": 6}
		var got []int
		for _, n := range testkit.SampleOf(named, 3) {
			got = append(got, n)
		}
		if !slices.Equal(got, want) {
			t.Errorf("TEST_FULL=%s, by name: got %v, want %v", full, got, want)
		}
	}
}

// TestCount reads a number, and its default where none is set.
func TestCount(t *testing.T) {
	const variable = "TESTKIT_COUNT"
	if got := testkit.Count(t, variable, 3); got != 3 {
		t.Errorf("not set: got %d, want the default 3", got)
	}
	t.Setenv(variable, "100000")
	if got := testkit.Count(t, variable, 3); got != 100_000 {
		t.Errorf("set: got %d, want 100000", got)
	}
}
