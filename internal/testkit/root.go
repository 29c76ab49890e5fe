package testkit

import (
	"cmp"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// Root returns the path of the repository: the nearest folder with a go.mod, from the test's folder up.
// A test that reads testdata by it can move to another package.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("root of the repository: got no go.mod in the working folder or above, want one")
		}
		dir = parent
	}
}

// Count returns how often a test tries something: the number in an environment variable, or a default if the variable
// is not set. Anything except a number from 1 fails the test.
func Count(t testing.TB, variable string, otherwise int) int {
	t.Helper()
	text := cmp.Or(os.Getenv(variable), strconv.Itoa(otherwise)) //nolint:forbidigo // test support: it sets how much is tried
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s: got %q, want a number from 1", variable, text)
	}
	return n
}

// Sample returns what a test tries of independent cases: every nth from the first one; all with TEST_FULL, and a third of
// them with TEST_QUICK.
func Sample[S ~[]E, E any](cases S, n int) (some S) {
	switch {
	case Full():
		return cases
	case quick():
		n *= 3
	}
	for i := 0; i < len(cases); i += n {
		some = append(some, cases[i])
	}
	return some
}

// SampleOf is Sample of cases with names, in the order of these: it yields the names and the cases.
func SampleOf[E any](cases map[string]E, n int) iter.Seq2[string, E] {
	return func(yield func(string, E) bool) {
		for _, name := range Sample(slices.Sorted(maps.Keys(cases)), n) {
			if !yield(name, cases[name]) {
				return
			}
		}
	}
}

// Long skips a test with TEST_QUICK: shorter tests show the same, of fewer nights, another store or another command.
func Long(t testing.TB) {
	t.Helper()
	if quick() {
		t.Skip("it takes long; shorter tests show most of it")
	}
}

func quick() bool {
	return os.Getenv("TEST_QUICK") != "" //nolint:forbidigo // test support: it sets how much is tried
}

// Full reports whether tests try everything instead of a sample: TEST_FULL is set.
func Full() bool {
	return os.Getenv("TEST_FULL") != "" //nolint:forbidigo // test support: it sets how much is tried
}
