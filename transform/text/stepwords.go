package text

import (
	"bytes"
	"slices"
)

// trimmed drops spaces and separators around a step.
func trimmed(text []byte) []byte { return bytes.Trim(text, " ,;/|(") }

// bookStates are the states of orders in their order. They rank with the stages of the price.
var bookStates = []struct {
	words []string
	rank  int
}{
	{[]string{"peak", "peaked", "pre-rec", "pre rec", "pre-reconciliation", "prerec", "unreconciled", "pre-recon", "earlier", "at open", "initially"}, rankIPT},
	{[]string{"post-rec", "post rec", "post-reconciliation", "reconciled", "post-recon", "at the end", "now"}, rankFinal + 1},
}

// bookStateIndex is the index of bookStates.
var bookStateIndex = indexOf(len(bookStates), func(row int) []string { return bookStates[row].words })

// rankIn returns the rank of the first stage in a text, 0 for none.
func rankIn(text []byte) int {
	rank, _ := firstRank(text)
	return rank
}

// rankOf is rankIn for the texts of a grammar. A loan's launch is before all talk.
func (g *grammar) rankOf(text []byte) int {
	rank, at := firstRank(text)
	if rank == rankFinal && g.isLoan() && begins(text[at:], "launch") {
		return rankIPT
	}
	return rank
}

// firstRank returns the rank of the first stage in a text, and where it is; 0 for none.
func firstRank(text []byte) (rank, at int) {
	for i := range text {
		if i > 0 && (isLetter(text[i-1]) || isDigit(text[i-1]) || text[i-1] == '-') {
			continue
		}
		s := scanner{text[i:]}
		for _, w := range bookStateIndex.next(&s) {
			if s.word(w.word) {
				return bookStates[w.row].rank, i
			}
		}
		if stage, rank := s.rankedStage(); stage != nil {
			return rank, i
		}
	}
	return 0, 0
}

// lastWord returns the last word of a text, to the end.
func lastWord(text []byte) scanner {
	text = trimmed(text)
	return scanner{text[bytes.LastIndexByte(text, ' ')+1:]}
}

// endsWithMove reports whether the last word of a text compares with what follows it: 15bp inside IPT is a move.
func endsWithMove(text []byte) bool {
	word := lastWord(text)
	return word.oneOf("inside", "outside", "through", "thru", "from", "vs", "vs.", "versus", "to", "than", "off", "of", "over", "below", "above", "tighter", "wider")
}

// endsWithAt reports whether the last word of a text is at: the stage after it is that of the number before it.
func endsWithAt(text []byte) bool {
	word := lastWord(text)
	return word.oneOf("at", "@")
}

// endsWithEarlier reports whether the last price of a text is an earlier one: the stage after T+95 from T+120 is that of T+120.
func endsWithEarlier(text []byte) bool {
	if s := (scanner{text}); s.from() { // from MS+120 to MS+95
		return false
	}
	for i := 1; i < len(text); i++ {
		s := scanner{text[i:]}
		if text[i-1] == ' ' && (s.oneOf(reversedWords...) || s.oneOf("vs.", "vs", "versus")) {
			return true
		}
	}
	return false
}

// withoutStage returns a text without a stage before or after it: final 5, 2 at landing.
func withoutStage(text []byte) (rest, stage []byte) {
	s := scanner{text}
	if stage = s.stage(); stage != nil {
		s.movedBy()
		return s.rest, stage
	}
	for i := 2; i < len(text); i++ {
		if text[i-1] != ' ' && text[i-1] != '(' {
			continue
		}
		s = scanner{text[i:]}
		s.oneOf("at", "in", "@")
		s.space()
		if s.word("pt") { // 1/8 pt: points
			continue
		}
		if stage = s.stageWord(); stage != nil {
			if s.char(')'); s.end() && !endsWithMove(text[:i]) && (isStage(stage, stageFinal) || !endsWithEarlier(text[:i])) {
				return trimmed(text[:i-1]), stage
			}
		}
	}
	return text, nil
}

// movedBy skips by how much a price has moved, before the price itself: 25bps to S+300.
func (s *scanner) movedBy() {
	ahead := *s
	ahead.oneOf("by", "in")
	ahead.space()
	if _, ok := ahead.number(decimal); !ok || !ahead.unit(basisPoints) {
		return
	}
	if ahead.space(); ahead.oneOf("to") {
		ahead.space()
		*s = ahead
	}
}

// The words between two steps. Those of fromWords begin a text, and toWords are between its two steps then.
var (
	jointWords    = []string{"and now", "but now", "now at", "now", "moved in to", "moved to", "moving to", "moves to", "taken in to", "taken to", "brought in to", "brought to", "came in to", "in to", "down to", "flexed down to", "flexed up to", "flexed to", "cut to", "reduced to", "raised to", "increased to", "upsized to", "downsized to", "grew to", "became"}
	fromWords     = []string{"from", "moved from", "moves from", "tightened from", "tightens from", "tightening from", "widened from", "revised from", "flexed from", "delevers from", "de-levers from", "delevering from", "deleveraging from", "reduced from", "reduces from", "cut from", "falls from", "falling from", "upsized from", "downsized from", "increased from", "raised from", "grew from", "in from", "down from", "up from"}
	reversedWords = []string{"from", "fr.", "fr", "was", "were", "previously", "prev.", "prev", "formerly", "orig.", "orig", "originally", "initially", "flexed from", "flexed down from", "flexed up from", "flexed in from", "tightened from", "widened from", "cut from", "reduced from", "revised from", "rev. from", "rev from", "down from", "up from", "in from", "out from"}
	toWords       = []string{"down to", "in to", "up to", "out to", "to"}
)

// from skips the words of a move at the start of a text: tightened from MS+110 to MS+95.
func (s *scanner) from() bool {
	ahead := *s
	if !ahead.oneOf(fromWords...) {
		return false
	}
	ahead.space()
	return s.skipTo(ahead)
}

// The rows of jointTable.
const (
	jointRow = iota // between two steps
	toRow           // between two steps after from
	endRow          // the next step: an end of the range
)

// jointIndex is the index of the words between two steps.
var jointIndex = func() *wordIndex {
	ends := slices.Concat(lowEnds, highEnds)
	for _, end := range slices.Clone(ends) {
		ends = append(ends, "at the "+end, "at "+end)
	}
	rows := [][]string{jointRow: jointWords, toRow: toWords, endRow: ends}
	return indexOf(len(rows), func(row int) []string { return rows[row] })
}()

// joint returns where the first step of a text ends, and where the next one begins; at is negative if there is only one. named says that
// the text began with from: then to is between two steps.
func joint(text []byte, named bool) (at, next int) {
	if at := arrowIn(text); at > 0 && !named {
		s := scanner{text[at:]}
		_ = s.has("->") || s.has("=>") || s.has(">>") || s.has(">")
		return at, len(text) - len(s.rest)
	}
	s := scanner{text}
	s.stage()
	for i := len(text) - len(s.rest) + 1; i < len(text); i++ {
		if text[i-1] != ' ' && text[i-1] != ',' && text[i-1] != ';' {
			continue
		}
		s = scanner{text[i:]}
		for _, w := range jointIndex.next(&s) {
			ahead := s
			switch {
			case w.row == toRow && !named || !ahead.word(w.word) || w.row == jointRow && endsWithTerm(text[:i]):
			case w.row == endRow:
				return i, i
			default:
				return i, len(text) - len(ahead.rest)
			}
		}
		if named && endsWithAt(text[:i]) { // 25bp at IPTs to 4bp at reoffer
			continue
		}
		if s.stageWord() != nil && !s.end() {
			return i, i
		}
	}
	return -1, 0
}

// endsWithTerm reports whether the last word of a text is a term of a loan, of which the number after it is: E+400, ratchet down to E+325.
func endsWithTerm(text []byte) bool {
	word := lastWord(text)
	return word.oneOf(termWords...) && word.end()
}

// arrowIn returns where the first arrow of a text is; 0 for none. In > 2bn it is a limit.
func arrowIn(text []byte) int {
	for i := 1; i < len(text); i++ {
		if text[i] != '>' {
			continue
		}
		if text[i-1] == '-' || text[i-1] == '=' {
			return i - 1
		}
		if text[i-1] != ' ' || i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '>') {
			return i
		}
	}
	return 0
}
