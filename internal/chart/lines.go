package chart

// Lines draws a line per series over the categories, with the series' own mark at each value. A missing value breaks
// the line.
func Lines(c *Chart) *Drawing {
	d := newDrawing(c.Title, c.Desc, c.Narrow)
	mark := func(i int, center point) path {
		return path{Points: outline(i, center), Closed: true, Class: "mark " + c.Series[i].Class}
	}
	top := d.legend(c.Series, mark) + 28
	const right, height, bottom px = 8, 240, 26
	d.Height = top + height + bottom
	lo, hi := c.span()
	y := newScale(lo, hi, top+height, top)
	left := y.room()
	d.drawAxes(c, y, left, d.Width-right)
	band := (d.Width - right - left) / px(max(len(c.Categories), 1))
	for j := range c.Series {
		var run []point
		var marks []path
		for i, category := range c.Categories {
			v, ok := c.Series[j].ValueAt(i)
			if !ok {
				d.addRun(run, c.Series[j].Class)
				run = nil
				continue
			}
			center := point{left + band*(px(i)+0.5), y.position(v)}
			run = append(run, center)
			m := mark(j, center)
			m.Tip = c.tip(category, j, v)
			marks = append(marks, m)
		}
		d.addRun(run, c.Series[j].Class)
		d.Paths = append(d.Paths, marks...)
	}
	return d
}

// addRun adds a line through values without a gap. A single value has only its mark.
func (d *Drawing) addRun(points []point, class string) {
	if len(points) > 1 {
		d.Paths = append(d.Paths, path{Points: points, Class: "run " + class})
	}
}

// span returns the least and the greatest value, bands included, and includes 0.
func (c *Chart) span() (lo, hi float64) {
	for j := range c.Series {
		for i := range c.Categories {
			if v, ok := c.Series[j].ValueAt(i); ok {
				lo, hi = min(lo, v), max(hi, v)
			}
			if from, to, ok := c.Series[j].bandAt(i); ok {
				lo, hi = min(lo, from), max(hi, to)
			}
		}
	}
	return lo, hi
}

// outline returns the outline of a series' mark: a square, a triangle or a diamond. Series must differ by more than
// colour.
func outline(series int, c point) []point {
	switch series % 3 {
	case 0:
		return []point{{c.X - 3.5, c.Y - 3.5}, {c.X + 3.5, c.Y - 3.5}, {c.X + 3.5, c.Y + 3.5}, {c.X - 3.5, c.Y + 3.5}}
	case 1:
		return []point{{c.X, c.Y - 4.5}, {c.X + 4.5, c.Y + 3.5}, {c.X - 4.5, c.Y + 3.5}}
	}
	return []point{{c.X, c.Y - 5}, {c.X + 5, c.Y}, {c.X, c.Y + 5}, {c.X - 5, c.Y}}
}
