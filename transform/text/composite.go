package text

// Composite is one rating of several agencies.
type Composite struct {
	Notch Integer // of three the middle one, of two the worse one, or the only one
	Worst Integer
	Rule  []byte // how Notch was chosen: MEDIAN, WORST or ONLY; nil if no agency has a rating
}

// The rules of composites, as cells contain them.
var (
	ruleMedian = []byte("MEDIAN")
	ruleWorst  = []byte("WORST")
	ruleOnly   = []byte("ONLY")
)

// CompositeOf returns the composite of the ratings of three agencies, of which some may be unset.
func CompositeOf(notches [3]Integer) (c Composite) {
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
	switch n {
	case 1:
		c.Rule, c.Notch = ruleOnly, Integer{sorted[0], true}
	case 2:
		c.Rule, c.Notch = ruleWorst, Integer{sorted[1], true}
	case 3:
		c.Rule, c.Notch = ruleMedian, Integer{sorted[1], true}
	default:
		return c
	}
	c.Worst = Integer{sorted[n-1], true}
	return c
}

// IsInvestment reports whether the notch is investment grade; Unknown if no agency has a rating.
func (c *Composite) IsInvestment() Flag {
	if !c.Notch.Set {
		return Unknown
	}
	return flag(c.Notch.Value <= lastInvestment)
}

// Matches reports whether the composite agrees with a grade as the source writes it. It is Unknown if either says
// nothing.
func (c *Composite) Matches(written []byte) Flag {
	stated, is := investment(written), c.IsInvestment()
	if stated == Unknown || is == Unknown {
		return Unknown
	}
	return flag(stated == is)
}

// investment reads a grade of a deal: whether it is investment grade.
func investment(written []byte) Flag {
	s := scanner{written}
	s.space()
	switch {
	case s.oneOf("investment_grade", "investment-grade", "investment grade", "investment", "ig"):
		return flag(true)
	case s.oneOf("high_yield", "high-yield", "high yield", "hy", "sub_investment", "sub-investment grade", "sub-investment", "sub investment grade", "sub investment", "leveraged"):
		return flag(false)
	}
	return Unknown
}
