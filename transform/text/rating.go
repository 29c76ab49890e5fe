package text

// parseMoodys reads a rating of Moody's: Baa2, (P)Baa2, Baa2 (neg), B2 (CW neg).
func parseMoodys(text []byte, _ Siblings, r *Reading) { moodysScale.parse(text, r) }

// parseStandardAndPoors reads a rating of Standard & Poor's: BBB+, BBB+/Sta, AA- (stable).
func parseStandardAndPoors(text []byte, _ Siblings, r *Reading) { standardAndPoorsScale.parse(text, r) }

// parseFitch reads a rating of Fitch: A+, BBB(EXP), AAAsf, BB-/RWN.
func parseFitch(text []byte, _ Siblings, r *Reading) { fitchScale.parse(text, r) }

// parse reads a rating with its outlook and marks. The marks stay in the text: an expected rating counts as the rating.
func (c *ratingScale) parse(text []byte, r *Reading) {
	if isUnrated(text) {
		r.Status = statusNoNumber
		return
	}
	s := scanner{text}
	s.marksBefore()
	v := s.grade(c, r)
	for v == yes && !s.end() {
		if !s.gradeBefore(c, r) {
			v = s.ratingRemark(r)
		}
	}
	if v == yes {
		r.Status = statusOK
		return
	}
	*r = Reading{Status: unread(text, v)}
}

// isUnrated reports whether a text says that the agency has no rating.
func isUnrated(text []byte) bool {
	s := scanner{text}
	return s.oneOf("n.r.", "n.r", "nr", "n/r", "wr", "wd", "pif", "unrated", "not rated", "withdrawn") && (s.end() || s.noted("withdrawn") && s.end())
}

// marksBefore skips marks of an expected rating before it: (P), exp.
func (s *scanner) marksBefore() {
	ahead := *s
	inside := ahead.char('(')
	if ahead.oneOf("p", "exp.", "exp", "expected", "prelim") && (!inside || ahead.char(')')) {
		inside = inside || ahead.char(' ')
		ahead.space()
		if inside {
			*s = ahead
		}
	}
}

// grade reads the letters and the mark of a rating. Letters that need a mark, without it, are ambiguous: Baa. So is a
// dash after a space: in BBB - stable it belongs to either side.
func (s *scanner) grade(c *ratingScale, r *Reading) verdict {
	var buffer [maxWord]byte
	word := fold(&buffer, s.letters())
	found := c.lookup(word)
	if found == nil {
		for _, mark := range []string{"sf", "pi", "u", "e", "p"} {
			if n := len(word) - len(mark); n > 0 && string(word[n:]) == mark {
				found = c.lookup(word[:n])
			}
		}
	}
	if found == nil {
		return no
	}
	at := 0
	if found.names[1] != "" {
		var v verdict
		if at, v = s.notchMark(c.marks); v != yes {
			return v
		}
	}
	r.Grade, r.Notch = gradeText[found.names[at]], Integer{found.notch + int64(at), true}
	return yes
}

// dashedWords are words before which a dash may be a separator, and no mark: BBB-Stable.
var dashedWords = []string{"stable", "positive", "negative", "developing", "stab", "pos", "neg", "dev", "rwp", "rwn", "rwe", "watch", "cw"}

// notchMark reads the mark of a notch, and returns the number of the notch in its grade, from 0.
func (s *scanner) notchMark(marks string) (at int, v verdict) {
	ahead := *s
	spaced := ahead.char(' ')
	for i := range len(marks) {
		if marks[i] != ' ' && ahead.char(marks[i]) {
			if outlook := ahead; marks[i] == '-' && (spaced || outlook.oneOf(dashedWords...)) {
				return 0, ambiguous
			}
			*s = ahead
			return i, yes
		}
	}
	switch {
	case marks[1] == ' ':
		return 1, yes
	case !s.end() && isDigit(s.rest[0]): // Baa4
		return 0, no
	}
	return 0, ambiguous
}

// The words before the rating that was in place before this one: of a better one, of a worse one, and of either.
var (
	fromBetter = []string{"downgraded from", "cut from", "lowered from", "down from"}
	fromWorse  = []string{"upgraded from", "raised from", "up from"}
	fromEither = []string{"from", "was", "previously", "prev."}
)

// mostNotches is the greatest plausible number of notches between a rating and the one before it.
const mostNotches = 6

// gradeBefore skips the rating before this one, in parentheses: (from Baa3). It is another one, on the side that the words say.
func (s *scanner) gradeBefore(c *ratingScale, r *Reading) bool {
	ahead := *s
	ahead.space()
	if !ahead.char('(') {
		return false
	}
	better, worse := ahead.oneOf(fromBetter...), ahead.oneOf(fromWorse...)
	if !better && !worse && !ahead.oneOf(fromEither...) || !ahead.char(' ') {
		return false
	}
	var before Reading
	if ahead.grade(c, &before) != yes || !ahead.char(')') {
		return false
	}
	up := before.Notch.Value - r.Notch.Value
	if up == 0 || max(up, -up) > mostNotches || better && up > 0 || worse && up < 0 {
		return false
	}
	return s.skipTo(ahead)
}

// lookup returns the grade with these letters, in lower case; nil for none.
func (c *ratingScale) lookup(letters []byte) *grade {
	for i := range c.grades {
		if c.grades[i].letters == string(letters) {
			return &c.grades[i]
		}
	}
	return nil
}

// gradeText contains the names of the grades as cells contain them.
var gradeText = func() map[string][]byte {
	all := map[string][]byte{}
	for _, c := range []ratingScale{moodysScale, standardAndPoorsScale, fitchScale} {
		for _, g := range c.grades {
			for _, name := range g.names {
				all[name] = []byte(name)
			}
		}
	}
	return all
}()

// ratingRemark reads one remark after a rating: an outlook, a review, or a mark that does not change the rating.
func (s *scanner) ratingRemark(r *Reading) verdict {
	begin := s.rest
	s.space()
	separated := false
	for s.char('/') || s.char(',') || s.char(';') || s.has("- ") {
		s.space()
		separated = true
	}
	inside := s.char('(') || s.char('[')
	switch {
	case inside && s.word("p"): // positive, or provisional
		return ambiguous
	case len(s.rest) == len(begin) && s.word("p"): // AA-p: a mark
	case r.Watch == nil && s.watch(r), r.Outlook == nil && s.outlook(r), s.oneOf(ratingMarks...), separated && s.oneOf(shortTerm...):
	default:
		return no
	}
	if inside && !s.char(')') && !s.char(']') {
		return no
	}
	return yes
}

// outlook reads the direction of a rating: stable, neg outlook, outlook positive, S.
func (s *scanner) outlook(r *Reading) bool {
	s.outlookWord()
	if r.Outlook = s.direction(); r.Outlook == nil {
		switch {
		case s.word("s"):
			r.Outlook = outlooks[1].direction
		case s.word("n"):
			r.Outlook = outlooks[2].direction
		case s.word("p"):
			r.Outlook = outlooks[0].direction
		default:
			return false
		}
	}
	s.space()
	s.outlookWord()
	return true
}

// outlookWord skips the word outlook and what may follow it.
func (s *scanner) outlookWord() {
	if s.oneOf("outlook", "o/l", "ol", "otlk") {
		s.char(':')
		s.space()
	}
}

// direction reads the word of a direction; nil for none.
func (s *scanner) direction() []byte {
	for _, o := range outlooks {
		if s.oneOf(o.words...) {
			return o.direction
		}
	}
	return nil
}

// watch reads that a rating is under review, and in which direction: CW neg, RWN, *-.
func (s *scanner) watch(r *Reading) bool {
	switch {
	case s.has("*-"):
		r.Watch = outlooks[2].direction
	case s.has("*+"):
		r.Watch = outlooks[0].direction
	}
	for i := 0; r.Watch == nil && i < len(watches); i++ {
		if s.oneOf(watches[i].words...) {
			r.Watch = watches[i].direction
		}
	}
	if r.Watch == nil {
		return false
	}
	if string(r.Watch) == string(watchUnknown) {
		ahead := *s
		ahead.char(':')
		ahead.space()
		switch direction := ahead.direction(); {
		case direction != nil && string(direction) != "STABLE":
			*s, r.Watch = ahead, direction
		case direction != nil:
		case ahead.oneOf("downgrade", "down", "for downgrade"):
			*s, r.Watch = ahead, outlooks[2].direction
		case ahead.oneOf("upgrade", "up", "for upgrade"):
			*s, r.Watch = ahead, outlooks[0].direction
		}
	}
	return true
}
