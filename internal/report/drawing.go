package report

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// px is a length or place in a drawing, in its own units: pixels at full width.
type px float64

// String writes a px to a hundredth, never in exponents.
func (p px) String() string {
	text := strconv.FormatFloat(float64(p), 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// drawing is a chart as shapes, which figure.html writes as SVG. Classes are style.css's.
type drawing struct {
	Title, Desc   string
	Width, Height px
	Lines         []line
	Rects         []rect
	Paths         []path
	Labels        []label
}

type line struct {
	X1, Y1, X2, Y2 px
	Class          string
}

// gap is what is left free between two parts of a bar.
const gap px = 1

// rect is a bar or a key; Tip is shown to who points at it.
type rect struct {
	X, Y, W, H px
	Class, Tip string
}

// path is a line through points, or a mark's outline.
type path struct {
	Points     []point
	Closed     bool
	Class, Tip string
}

type point struct{ X, Y px }

// D is the path as SVG's d attribute.
func (p path) D() string {
	var d strings.Builder
	move := "M"
	for _, at := range p.Points {
		d.WriteString(move + at.X.String() + " " + at.Y.String())
		move = "L"
	}
	if p.Closed {
		d.WriteString("Z")
	}
	return d.String()
}

// label is a text; Anchor is start, middle or end. Tip holds the text that was cut to fit.
type label struct {
	X, Y                     px
	Anchor, Class, Text, Tip string
}

// chart is what is drawn: series of values over the same categories. What is no finite number is not
// drawn.
type chart struct {
	Title, Desc string
	Unit        string // of the values
	Categories  []string
	Series      []series
	Notes       []string // behind the bars: one for each category; none for a chart without
}

type series struct {
	Name   string
	Class  string // its colour in style.css
	Values []float64
}

// at is the value at a category; ok says whether there is one to draw.
func (s *series) at(i int) (v float64, ok bool) {
	if i >= len(s.Values) {
		return 0, false
	}
	v = s.Values[i]
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

// hasValues says whether there is anything to draw.
func (c *chart) hasValues() bool {
	for i := range c.Series {
		for j := range c.Categories {
			if v, ok := c.Series[i].at(j); ok && v != 0 {
				return true
			}
		}
	}
	return false
}

// textWidth estimates the width of a label's text, rather too wide than too narrow: the reader's font is
// not known here.
func textWidth(s string) px {
	var width px
	for _, r := range s {
		width += letterWidth(r)
	}
	return width
}

func letterWidth(r rune) px {
	switch {
	case r >= 0x1100: // Chinese, Japanese, Korean, and pictures
		return 13
	case r == 'm' || r == 'M' || r == 'w' || r == 'W' || r == '%':
		return 11.5
	case unicode.IsUpper(r):
		return 8.8
	case strings.ContainsRune("iljtfr.,:;'| ()-", r):
		return 4.8
	}
	return 7.6
}

// fit cuts a text to a width.
func fit(s string, width px) string {
	s = oneLine(s)
	if textWidth(s) <= width {
		return s
	}
	room := width - letterWidth('…')
	for i, r := range s {
		if room -= letterWidth(r); room < 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}
