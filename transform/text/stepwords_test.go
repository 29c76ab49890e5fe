package text

import "testing"

// TestRanks checks that each rank with a name is that of its stage.
func TestRanks(t *testing.T) {
	for rank, stage := range map[int][]byte{
		rankIPT: stageIPT, rankTalk: stageTalk, rankGuidance: stageGuidance, rankRevised: stageRevised, rankLastGuidance: stageLastGuidance, rankFinal: stageFinal,
	} {
		if got := stageRanks[rank-1]; !isStage(got, stage) {
			t.Errorf("rank %d is %s, want %s", rank, got, stage)
		}
	}
}
