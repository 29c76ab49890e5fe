package chart

// Stacked draws a vertical bar per category, with its series one on the other. Values below zero are not drawn.
func Stacked(c *Chart) *Drawing {
	d := newDrawing(c.Title, c.Desc, c.Narrow)
	top := d.legend(c.Series, nil) + 28
	const right, height, bottom px = 8, 240, 26
	d.Height = top + height + bottom
	y := newScale(0, c.highest(), top+height, top)
	left := y.room()
	d.drawAxes(c, y, left, d.Width-right)
	band := (d.Width - right - left) / px(max(len(c.Categories), 1))
	apart := min(band*0.22, 10)
	for i, category := range c.Categories {
		base := 0.0
		for j := range c.Series {
			v, ok := c.Series[j].ValueAt(i)
			if !ok || v <= 0 {
				continue
			}
			from, to := y.position(base), y.position(base+v)
			base += v
			d.addBar(rect{X: left + band*px(i) + apart/2, Y: to, W: band - apart, H: part(from - to), Class: c.Series[j].Class, Tip: c.tip(category, j, v)}, &c.Series[j])
		}
	}
	return d
}

// part returns the length of a part of a bar. It leaves a gap before the next part if there is room.
func part(length px) px {
	if length > 3*gap {
		return length - gap
	}
	return length
}

// highest returns the sum of the tallest bar.
func (c *Chart) highest() float64 {
	top := 0.0
	for i := range c.Categories {
		sum := 0.0
		for j := range c.Series {
			if v, ok := c.Series[j].ValueAt(i); ok && v > 0 {
				sum += v
			}
		}
		top = max(top, sum)
	}
	return top
}

// drawAxes draws the grid of vertical bars and lines: lines with their ticks, the unit, and the categories' names, as
// many as fit.
func (d *Drawing) drawAxes(c *Chart, y *scale, left, right px) {
	for _, tick := range y.ticks {
		class := "grid"
		if tick == 0 {
			class = "axis"
		}
		pos := y.position(tick)
		d.Lines = append(d.Lines, line{left, pos, right, pos, class})
		d.Labels = append(d.Labels, label{X: left - 6, Y: pos + 4, Anchor: "end", Class: "tick", Text: y.text(tick)})
	}
	d.Labels = append(d.Labels, label{X: 4, Y: y.to - 12, Anchor: "start", Class: "unit", Text: c.Unit})
	if len(c.Categories) == 0 {
		return
	}
	band := (right - left) / px(len(c.Categories))
	var widest px
	for _, category := range c.Categories {
		widest = max(widest, min(textWidth(category), 160))
	}
	every := 1
	for px(every)*band < widest+8 && every < len(c.Categories) {
		every++
	}
	for i := (len(c.Categories) - 1) % every; i < len(c.Categories); i += every { // the last category is always named
		center := left + band*(px(i)+0.5)
		center = min(max(center, widest/2), d.Width-widest/2)
		d.Labels = append(d.Labels, label{X: center, Y: y.from + 18, Anchor: "middle", Class: "tick", Text: fit(c.Categories[i], widest)})
	}
}
