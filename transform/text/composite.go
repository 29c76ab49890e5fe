package text

// Composite is one rating of several agencies. It is zero if none has a rating, and has only a rule if a text was not read that
// could change it.
type Composite struct {
	Notch Integer // of three the middle one, of two the worse one, or the only one
	Worst Integer // of all agencies; not set if a text was not read
	Grade []byte  // Notch in the scale of Standard & Poor's
	Rule  []byte  // how Notch was chosen: MEDIAN, WORST, ONLY or UNREAD

	IsInvestment Flag // whether Notch is investment grade
	MatchesGrade Flag // whether that agrees with the grade that the source writes; Unknown if that says nothing
}

// The rules of composites, as cells contain them.
var (
	ruleMedian = []byte("MEDIAN")
	ruleWorst  = []byte("WORST")
	ruleOnly   = []byte("ONLY")
	ruleUnread = []byte("UNREAD")
)

// CompositeOf returns the composite of the ratings of three agencies, of which some may be unset. unread says that the text of an
// unset one was not read: it may contain any rating, or none. Two equal ratings are the composite then too: they are the worse of
// two, and the middle one next to any third. written is the grade as the source writes it; nil for none.
func CompositeOf(notches [3]Integer, unread bool, written []byte) (c Composite) {
	var sorted [3]int64
	n := 0
	for _, notch := range notches {
		if !notch.Set {
			continue
		}
		at := n
		for ; at > 0 && sorted[at-1] > notch.Value; at-- {
			sorted[at] = sorted[at-1]
		}
		sorted[at] = notch.Value
		n++
	}
	switch {
	case unread:
		if c.Rule = ruleUnread; n != 2 || sorted[0] != sorted[1] {
			return c
		}
		c.Notch.Value = sorted[1]
	case n == 0:
		return c
	case n == 1:
		c.Rule, c.Notch.Value = ruleOnly, sorted[0]
	case n == 2:
		c.Rule, c.Notch.Value = ruleWorst, sorted[1]
	default:
		c.Rule, c.Notch.Value = ruleMedian, sorted[1]
	}
	c.Notch.Set = true
	if !unread {
		c.Worst = Integer{sorted[n-1], true}
	}
	c.Grade, c.IsInvestment = gradeOf(c.Notch), flag(c.Notch.Value <= lastInvestment)
	if stated := investment(written); stated != Unknown {
		c.MatchesGrade = flag(stated == c.IsInvestment)
	}
	return c
}

// investment reads a grade of a deal: whether it is investment grade.
func investment(written []byte) Flag {
	s := scanner{written}
	s.space()
	switch {
	case s.oneOf("investment_grade", "investment-grade", "investment grade", "investment", "ig"):
		return Yes
	case s.oneOf("high_yield", "high-yield", "high yield", "hy", "sub_investment", "sub-investment grade", "sub-investment", "sub investment grade", "sub investment", "leveraged"):
		return No
	}
	return Unknown
}
