package chart

import "math"

// Range is a value that is known to be between two bounds, which are equal for one that is known.
type Range struct {
	Label  string // left of it
	Lo, Hi float64
	Note   string // right of it
	Solid  bool   // its mark is filled
}

// Ranges draws a row for each range: a line from its lower to its upper bound, and a mark in the middle. The axis does not
// start at 0, because no length is compared. Ranges that are not finite are not drawn.
func Ranges(title, desc, unit string, all []Range, narrow bool) *Drawing {
	const lineHeight, top, bottom, right px = 24, 28, 24, 130
	d := newDrawing(title, desc, narrow)
	above, widest := px(0), px(330) // above: room for the label
	if narrow {
		above, widest = nameAbove, d.Width-20
	}
	rowHeight := lineHeight + above
	d.Height = top + rowHeight*px(len(all)) + bottom
	finite := func(r Range) bool {
		return !math.IsNaN(r.Lo+r.Hi) && !math.IsInf(r.Lo, 0) && !math.IsInf(r.Hi, 0)
	}
	left, lo, hi := narrowLeft, math.Inf(1), math.Inf(-1)
	for _, r := range all {
		if !narrow {
			left = max(left, 40, min(textWidth(OneLine(r.Label)), widest)+14)
		}
		if finite(r) {
			lo, hi = min(lo, r.Lo), max(hi, r.Hi)
		}
	}
	if lo > hi {
		lo, hi = 0, 1
	}
	x := scaleOver(lo, hi, left+8, d.Width-right)
	d.drawHorizontalAxis(&Chart{Unit: unit}, x, top, d.Height-bottom)
	for i, r := range all {
		y := top + rowHeight*px(i) + above + lineHeight/2
		d.Labels = append(d.Labels, nameOf(r.Label, left, y+4, widest, narrow))
		if !finite(r) {
			continue
		}
		from, to := x.position(r.Lo), x.position(r.Hi)
		middle := (from + to) / 2
		if to > from {
			d.Lines = append(d.Lines, line{from, y, to, y, "range s0"})
		}
		class := "mark hollow s0"
		if r.Solid {
			class = "mark s0"
		}
		d.Paths = append(d.Paths, path{Points: outline(2, point{middle, y}), Closed: true, Class: class, Tip: OneLine(r.Label) + ": " + r.Note})
		d.Labels = append(d.Labels, label{X: max(to, middle) + 10, Y: y + 4, Anchor: "start", Class: "note", Text: fit(r.Note, right-12)})
	}
	return d
}
