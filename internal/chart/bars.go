package chart

// Bars draws a horizontal bar per category, with its series end to end. The category's name is left of the bar, or above it
// on a narrow screen, and its note right of it. Values below zero are not drawn.
func Bars(c *Chart) *Drawing {
	const barHeight, thick, bottom px = 24, 15, 24
	d := newDrawing(c.Title, c.Desc, c.Narrow)
	above, widestName := px(0), px(290) // above: room for the name
	if c.Narrow {
		above, widestName = nameAbove, d.Width-20
	}
	rowHeight := barHeight + above
	top := d.legend(c.Series, nil) + 22
	d.Height = top + rowHeight*px(len(c.Categories)) + bottom
	left, right := px(40), px(14)
	if c.Narrow {
		left = narrowLeft
	}
	for i, category := range c.Categories {
		if !c.Narrow {
			left = max(left, min(textWidth(OneLine(category)), widestName)+14)
		}
		right = max(right, textWidth(c.note(i))+14)
	}
	right = min(right, 200)
	x := newScale(0, c.highest(), left, d.Width-right)
	d.drawHorizontalAxis(c, x, top, d.Height-bottom)
	for i, category := range c.Categories {
		y := top + rowHeight*px(i)
		base := 0.0
		for j := range c.Series {
			v, ok := c.Series[j].ValueAt(i)
			if !ok || v <= 0 {
				continue
			}
			from, to := x.position(base), x.position(base+v)
			base += v
			d.addBar(rect{X: from, Y: y + above + (barHeight-thick)/2, W: part(to - from), H: thick, Class: c.Series[j].Class, Tip: c.tip(OneLine(category), j, v)}, &c.Series[j])
		}
		name := nameOf(category, left, y+above+barHeight/2+4, widestName, c.Narrow)
		note := label{X: x.position(base) + 6, Y: y + above + barHeight/2 + 4, Anchor: "start", Class: "note", Text: fit(c.note(i), right-8)}
		d.Labels = append(d.Labels, name, note)
	}
	return d
}

// Measures of rows whose name is above them.
const (
	nameAbove  px = 15
	narrowLeft px = 10
)

// nameOf returns the name of a row: left of it, or above it on a narrow screen. y is the base line of texts in the row.
func nameOf(text string, left, y, widest px, narrow bool) label {
	name := label{X: left - 8, Y: y, Anchor: "end", Class: "name", Text: fit(text, widest)}
	if narrow {
		name.X, name.Y, name.Anchor = left, y-nameAbove-2, "start"
	}
	if whole := OneLine(text); name.Text != whole {
		name.Tip = whole
	}
	return name
}

// note returns the text right of a bar; "" for none.
func (c *Chart) note(i int) string {
	if i >= len(c.Notes) {
		return ""
	}
	return c.Notes[i]
}

// drawHorizontalAxis draws the grid of horizontal bars: lines with their ticks, and the unit.
func (d *Drawing) drawHorizontalAxis(c *Chart, x *scale, top, bottom px) {
	room := px(0)
	for _, tick := range x.ticks {
		class := "grid"
		if tick == 0 {
			class = "axis"
		}
		pos := x.position(tick)
		d.Lines = append(d.Lines, line{pos, top, pos, bottom, class})
		half := textWidth(x.text(tick)) / 2
		if pos-half < room || pos+half > d.Width {
			continue // the text would overlap
		}
		room = pos + half + 6
		d.Labels = append(d.Labels, label{X: pos, Y: bottom + 16, Anchor: "middle", Class: "tick", Text: x.text(tick)})
	}
	d.Labels = append(d.Labels, label{X: x.from, Y: top - 7, Anchor: "start", Class: "unit", Text: c.Unit})
}
