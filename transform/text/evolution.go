package text

// The stages and qualities of price talk.
var (
	stageIPT      = []byte("IPT")
	stageGuidance = []byte("GUIDANCE")
	stageRevised  = []byte("REVISED")
	stageFinal    = []byte("FINAL")
	stageWhisper  = []byte("WHISPER")
	stageTalk     = []byte("TALK")

	qualityArea      = []byte("AREA")
	qualityWPIR      = []byte("WPIR")
	qualityPlusMinus = []byte("PLUS_MINUS")
)

// stages are the words at the start of price talk. Of two with a common start the longer one comes first. Final
// guidance is still guidance: the price is not set.
var stages = []struct {
	words []string
	stage []byte
}{
	{[]string{"initial price thoughts", "initial price guidance", "initial price talk", "initial guidance", "ipts", "ipt", "ipg"}, stageIPT},
	{[]string{"final price guidance", "final guidance", "price guidance", "guidance", "fpg"}, stageGuidance},
	{[]string{"revised price guidance", "revised guidance", "revised price talk", "revised talk", "revised ipts", "revised"}, stageRevised},
	{[]string{"final spread", "final yield", "final terms", "final", "priced at", "priced", "launched at", "launched"}, stageFinal},
	{[]string{"price whispers", "price whisper", "whispers", "whisper"}, stageWhisper},
	{[]string{"price talk", "talk"}, stageTalk},
}

// parseEvolution reads a step of price talk: an optional stage, and a spread or a yield, with area, (WPIR) or (+/-2)
// after it. The stage is kept even if the rest cannot be read.
func parseEvolution(text []byte, siblings Siblings, r *Reading) {
	s := scanner{text}
	stage := s.stage()
	v := s.talk(siblings.Currency, r)
	if v == yes && s.end() && spreadBounds.containAll(&r.Main) && yieldBounds.containAll(&r.Yield) {
		r.Stage, r.Status = stage, statusOf(&r.Main)
		if r.Yield.Lo.Set {
			r.Status = statusYield
		}
		return
	}
	s = scanner{text}
	s.stage()
	*r = Reading{Stage: stage, Status: unread(s.rest, v)}
}

// stage reads the words at the start of price talk; nil if there are none.
func (s *scanner) stage() []byte {
	for _, start := range stages {
		if s.oneOf(start.words...) {
			s.char(':')
			s.space()
			return start.stage
		}
	}
	return nil
}

// talk reads a spread or a yield, and the qualities after it.
func (s *scanner) talk(currency []byte, r *Reading) verdict {
	main, width := &r.Main, basisPoints
	v := s.spread(currency, r)
	if v == no {
		r.Benchmark, r.Reference = nil, nil
		main, width = &r.Yield, percent
		r.Yield, v = s.yield()
	}
	if v == yes {
		r.Quality = s.qualities(main, width)
	}
	return v
}

// qualities reads the remarks after a price. If there are several, WPIR (it will price in its range) takes precedence.
func (s *scanner) qualities(r *Range, width unit) []byte {
	area := s.noted("area", "a")
	plusMinus := s.plusMinus(r, width)
	inRange := s.noted("wpir", "will price in range")
	switch {
	case inRange:
		return qualityWPIR
	case plusMinus:
		return qualityPlusMinus
	case area || s.noted("area"):
		return qualityArea
	}
	return nil
}
