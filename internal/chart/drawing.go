package chart

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// px is a length or coordinate in a drawing: pixels at full width.
type px float64

// String formats a px to a hundredth, never with an exponent.
func (p px) String() string {
	text := strconv.FormatFloat(float64(p), 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// Drawing is a chart as shapes. figure.html writes it as SVG; style.css has the classes.
type Drawing struct {
	Title, Desc   string
	Class         string // of the element
	Width, Height px
	Lines         []line
	Rects         []rect
	Paths         []path
	Labels        []label
	Narrow        *Drawing // the same for a narrow screen; nil: none
}

// newDrawing returns a drawing without shapes.
func newDrawing(title, desc string, narrow bool) *Drawing {
	d := &Drawing{Title: title, Desc: desc, Width: chartWidth}
	if narrow {
		d.Width = narrowWidth
	}
	return d
}

// Both returns a drawing with the same one for a narrow screen. A page's style shows one of them, by the classes broad and narrow.
func Both(draw func(narrow bool) *Drawing) *Drawing {
	d := draw(false)
	if d == nil {
		return nil
	}
	d.Narrow = draw(true)
	d.Class, d.Narrow.Class = "broad", "narrow"
	return d
}

type line struct {
	X1, Y1, X2, Y2 px
	Class          string
}

// gap is the space between two parts of a bar.
const gap px = 1

// rect is a bar or a key of the legend. Tip is shown on hover.
type rect struct {
	X, Y, W, H px
	Class, Tip string
}

// path is a line through points, or the outline of a mark.
type path struct {
	Points     []point
	Closed     bool
	Class, Tip string
}

type point struct{ X, Y px }

// D returns the path as the d attribute of SVG.
func (p path) D() string {
	var d strings.Builder
	move := "M"
	for _, corner := range p.Points {
		d.WriteString(move + corner.X.String() + " " + corner.Y.String())
		move = "L"
	}
	if p.Closed {
		d.WriteString("Z")
	}
	return d.String()
}

// label is a text. Anchor is start, middle or end. Tip contains the full text if it was cut to fit.
type label struct {
	X, Y                     px
	Anchor, Class, Text, Tip string
}

// Chart contains series of values over the same categories. Values that are not finite are not drawn.
type Chart struct {
	Title, Desc string
	Unit        string // of the values
	Categories  []string
	Series      []Series
	Notes       []string // right of the bars, one per category; may be empty
	Narrow      bool     // for a narrow screen: names of horizontal bars are above them
}

// Series is the values of one thing, one per category.
type Series struct {
	Name   string
	Class  string // its colour in style.css
	Values []float64

	Lower, Upper []float64 // the band around each value, for Bands
	Hatched      bool      // of bars: lines in place of a filled shape
	Mark         string    // of bars: a sign in each that has room, and before the name in the legend; "" for none
}

// ValueAt returns the value for a category; ok reports whether it can be drawn.
func (s *Series) ValueAt(i int) (v float64, ok bool) {
	if i >= len(s.Values) {
		return 0, false
	}
	v = s.Values[i]
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

// tip is what is shown when a reader points at a value of a series.
func (c *Chart) tip(category string, series int, v float64) string {
	return category + ", " + c.Series[series].Name + ": " + exactly(v) + " " + c.Unit
}

// HasValues reports whether there is anything to draw.
func (c *Chart) HasValues() bool {
	for i := range c.Series {
		for j := range c.Categories {
			if v, ok := c.Series[i].ValueAt(j); ok && v != 0 {
				return true
			}
		}
	}
	return false
}

// textWidth estimates the width of a label's text. The reader's font is unknown, so the estimate is generous.
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
	s = OneLine(s)
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
