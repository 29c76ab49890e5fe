package testkit

import (
	"cmp"
	"fmt"
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

// seedsAtOnce is the number of seeds after which what their tests have made is freed.
const seedsAtOnce = 64

// Seeds runs a parallel subtest for each seed from 0 to n-1. Of many seeds it makes groups, one after another: package testing keeps
// what a parallel subtest has made until the test that it is part of has ended.
func Seeds(t *testing.T, n int, test func(t *testing.T, seed uint64)) {
	t.Helper()
	run := func(t *testing.T, from, to int) {
		for seed := from; seed < to; seed++ {
			t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
				t.Parallel()
				test(t, uint64(seed))
			})
		}
	}
	if n <= seedsAtOnce {
		run(t, 0, n)
		return
	}
	for from := 0; from < n; from += seedsAtOnce {
		t.Run(fmt.Sprintf("from=%d", from), func(t *testing.T) { run(t, from, min(from+seedsAtOnce, n)) })
	}
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
