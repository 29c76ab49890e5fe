package simulation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// TestSeeds lives the lives of many seeds.
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

// simulate lives the life of a seed, and says how to live it again where it fails.
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

// TestSameSeedSameLife lives lives twice: every request comes at the same instant, and meets the same. It looks no further
// than the first 429: then the client spaces its requests, and those of one instant take turns by chance.
func TestSameSeedSameLife(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		first, second := simulate(t, seed), simulate(t, seed)
		for i, line := range first.diary {
			if strings.Contains(line, "429") {
				break
			}
			if i >= len(second.diary) || second.diary[i] != line {
				t.Fatalf("seed %d: line %d differs:\n%s\n%s", seed, i, line, strings.Join(second.diary[min(i, len(second.diary)):min(i+1, len(second.diary))], ""))
			}
		}
	}
}
