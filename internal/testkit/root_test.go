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

// TestSample tries every third case, all with TEST_FULL, and a third of that with TEST_QUICK.
func TestSample(t *testing.T) {
	cases := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	named := map[string]int{}
	for _, n := range cases {
		named[string(rune('a'+n))] = n
	}
	for _, c := range []struct {
		full, quick string
		want        []int
	}{{"", "", []int{0, 3, 6, 9}}, {"", "1", []int{0, 9}}, {"1", "", cases}, {"1", "1", cases}} {
		t.Setenv("TEST_FULL", c.full)
		t.Setenv("TEST_QUICK", c.quick)
		if got := testkit.Sample(cases, 3); !slices.Equal(got, c.want) {
			t.Errorf("TEST_FULL=%s TEST_QUICK=%s: got %v, want %v", c.full, c.quick, got, c.want)
		}
		var got []int
		for _, n := range testkit.SampleOf(named, 3) {
			got = append(got, n)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("TEST_FULL=%s TEST_QUICK=%s, by name: got %v, want %v", c.full, c.quick, got, c.want)
		}
	}
}

// TestLong leaves out a long test with TEST_QUICK alone.
func TestLong(t *testing.T) {
	for _, quick := range []string{"", "1"} {
		t.Setenv("TEST_QUICK", quick)
		ran := false
		t.Run("TEST_QUICK="+quick, func(t *testing.T) {
			testkit.Long(t)
			ran = true
		})
		if ran != (quick == "") {
			t.Errorf("TEST_QUICK=%q: the test ran: %t", quick, ran)
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
