package verify

import (
	"math/rand/v2"
	"testing"
)

// TestFindingsAreTheFirst adds findings in random order: the first by deal are listed, in order.
func TestFindingsAreTheFirst(t *testing.T) {
	const count = 5 * MaxListed
	all := findings{}
	for _, deal := range rand.New(rand.NewPCG(1, 1)).Perm(count) {
		all.add(Finding{Check: RowKey}.about(int64(deal), 1))
	}
	var r Report
	all.fill(&r)
	if len(r.Findings) != MaxListed || r.Damage != count || len(r.Unlisted) != 1 || r.Unlisted[0].Count != count-MaxListed {
		t.Fatalf("%d listed of %d, unlisted %v; want %d of %d", len(r.Findings), r.Damage, r.Unlisted, MaxListed, count)
	}
	for i, f := range r.Findings {
		if *f.DealID != int64(i) || f.Severity != Damage || f.Todo == "" {
			t.Fatalf("finding %d: %+v of deal %d", i, f, *f.DealID)
		}
	}
}
