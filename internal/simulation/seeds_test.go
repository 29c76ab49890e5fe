package simulation

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"dealflow/internal/testkit"
)

// TestSeeds executes the lives of many seeds.
func TestSeeds(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	all := map[string]int{}
	t.Cleanup(func() {
		for _, what := range slices.Sorted(maps.Keys(all)) {
			t.Logf("%6d %s", all[what], what)
		}
	})
	from, to := 0, count("TEST_SIM_SEEDS", 40)
	if *oneSeed >= 0 {
		from, to = int(*oneSeed), int(*oneSeed)+1
	}
	for seed := from; seed < to; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			l := simulate(t, uint64(seed))
			mu.Lock()
			defer mu.Unlock()
			for what, n := range l.tally {
				all[what] += n
			}
		})
	}
}

// simulate executes the life of a seed. If it fails, it prints how to replay it.
func simulate(t *testing.T, seed uint64) (l *life) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if t.Failed() || *oneSeed >= 0 {
				t.Logf("%s\nseed %d: go test ./internal/simulation -run TestSeeds -seed %d", strings.Join(l.diary, "\n"), seed, seed)
			}
		}()
		l = newLife(t, seed)
		l.live()
	})
	return l
}

// TestSameSeedSameLife executes lives twice: every request comes at the same instant and gets the same faults. It
// compares only up to the first 429. After that the client spaces its requests, and the order of those of one instant
// is random. Files of the catalog are fetched side by side, so which of them a fault meets is random, too.
func TestSameSeedSameLife(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	for seed := range uint64(4) {
		first, second := sameNames(simulate(t, seed)), sameNames(simulate(t, seed))
		for i, line := range first {
			if strings.Contains(line, "429") {
				break
			}
			if i >= len(second) || second[i] != line {
				t.Fatalf("seed %d: line %d differs:\n%s\n%s", seed, i, line, strings.Join(second[min(i, len(second)):min(i+1, len(second))], ""))
			}
		}
	}
}

var fetchedFile = regexp.MustCompile(`fetch \S+: injected fault`)

// sameNames returns a life's diary without the name of the catalog's file that a fault met.
func sameNames(l *life) (diary []string) {
	for _, line := range l.diary {
		diary = append(diary, fetchedFile.ReplaceAllString(line, "fetch: injected fault"))
	}
	return diary
}
