package text

// The stages of price talk, as cells contain them.
var (
	stageIPT      = []byte("IPT")
	stageGuidance = []byte("GUIDANCE")
	stageRevised  = []byte("REVISED")
	stageFinal    = []byte("FINAL")
	stageWhisper  = []byte("WHISPER")
	stageTalk     = []byte("TALK")
)

// The ranks of stages: their order. Final guidance follows revised guidance.
const (
	rankWhisper = iota + 1
	rankIPT
	rankTalk
	rankGuidance
	rankRevised
	rankLastGuidance
	rankFinal
)

// stages are the words at the start of price talk, as syndicate desks and the press write them. Of two with a common start
// the longer one comes first. Final guidance is still guidance: the price is not set. At the launch it is.
var stages = []struct {
	words []string
	stage []byte
	rank  int
}{
	{[]string{"initial price thoughts", "initial price thought", "initial price guidance", "initial price talk", "initial pricing thoughts", "initial guidance", "initial talk", "initial thoughts", "price thoughts", "initial spread", "initial price", "ipts", "ipt", "ipg"}, stageIPT, rankIPT},
	{[]string{"revised price guidance", "revised guidance", "revised price talk", "revised talk", "revised ipts", "revised ipt", "revised to", "revised at", "revised range", "revised", "rev. guidance", "rev. talk", "rev.", "rev guidance", "rev talk", "rev", "guidance revised to", "guidance revised", "guidance tightened to", "updated guidance", "tightened to", "tightens to", "updated talk", "new guidance", "new talk", "flexed down to", "flexed up to", "flexed in to", "reverse flexed to", "reverse-flexed to", "flexed to", "flexed at", "rg", "rpg"}, stageRevised, rankRevised},
	{[]string{"final price guidance", "final guidance", "fg", "fin. guidance", "fpg"}, stageGuidance, rankLastGuidance},
	{[]string{"official price guidance", "official guidance", "price guidance", "yield guidance", "spread guidance", "guidance range", "guidance", "guide", "guided to", "guided at", "guided", "guid.", "guid", "opg", "pg"}, stageGuidance, rankGuidance},
	{[]string{"final spread", "final pricing", "final price", "final yield", "final terms", "final", "priced at", "priced", "launched at", "launched", "launch spread", "launch at", "launch", "spread set at", "spread set", "spread fixed at", "spread fixed", "fixed at", "fixed @", "landed at", "landed", "landing at", "landing", "lands at", "lands", "came at", "done at", "pricing at", "prices at", "launching at", "at landing", "yield set at", "yield set", "set at", "set", "re-offer spread", "re-offer", "reoffer spread", "reoffer", "the number", "the #", "#"}, stageFinal, rankFinal},
	{[]string{"price whispers", "price whisper", "early whispers", "whisper number", "whisper talk", "whispers", "whisper"}, stageWhisper, rankWhisper},
	{[]string{"official price talk", "official talk", "price talk", "px talk", "yield talk", "talked at", "talking", "talk", "pt"}, stageTalk, rankTalk},
}

// stageIndex is the index of stages.
var stageIndex = indexOf(len(stages), func(row int) []string { return stages[row].words })

// stage reads the words at the start of price talk, and what may be between them and the price. It returns nil if
// there are none.
func (s *scanner) stage() []byte {
	found := s.stageWord()
	if found == nil {
		return nil
	}
	ahead := *s
	ahead.space()
	if ahead.char(':') || ahead.char('=') || ahead.oneOf("at", "of", "is", "@", "was", "were") || ahead.has("- ") || ahead.char('@') {
		*s = ahead
	}
	s.space()
	return found
}

// finalStage skips the words of the final stage, if they are next. Those of other stages stay.
func (s *scanner) finalStage() {
	if ahead := *s; isStage(ahead.stage(), stageFinal) {
		*s = ahead
	}
}

// stageWord reads the words of a stage; nil for none.
func (s *scanner) stageWord() []byte {
	stage, _ := s.rankedStage()
	return stage
}

// rankedStage reads the words of a stage, and returns its rank, too; nil for none.
func (s *scanner) rankedStage() (stage []byte, rank int) {
	for _, w := range stageIndex.next(s) {
		if s.word(w.word) {
			return stages[w.row].stage, stages[w.row].rank
		}
	}
	if guidance := *s; guidance.has("g: ") && !guidance.end() && isLetter(guidance.rest[0]) { // G: T+87.5; in G: +95 it may be gilts
		s.rest = s.rest[len("g:"):]
		return stageGuidance, rankGuidance
	}
	return nil, 0
}
