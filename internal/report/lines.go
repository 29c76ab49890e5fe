package report

// lines draws a line for each series over the categories, with a mark of its own at each value; where
// there is no value, the line is broken.
func lines(c *chart) *drawing {
	d := &drawing{Title: c.Title, Desc: c.Desc, Width: chartWidth}
	mark := func(i int, center point) path {
		return path{Points: outline(i, center), Closed: true, Class: "mark " + c.Series[i].Class}
	}
	top := d.legend(c.Series, mark) + 28
	const right, height, bottom px = 8, 240, 26
	d.Height = top + height + bottom
	lo, hi := c.span()
	y := newScale(lo, hi, top+height, top)
	left := y.room()
	d.standing(c, y, left, d.Width-right)
	band := (d.Width - right - left) / px(max(len(c.Categories), 1))
	for j := range c.Series {
		var run []point
		var marks []path
		for i, category := range c.Categories {
			v, ok := c.Series[j].at(i)
			if !ok {
				d.run(run, c.Series[j].Class)
				run = nil
				continue
			}
			at := point{left + band*(px(i)+0.5), y.at(v)}
			run = append(run, at)
			m := mark(j, at)
			m.Tip = category + ", " + c.Series[j].Name + ": " + decimals(v, 3) + " " + c.Unit
			marks = append(marks, m)
		}
		d.run(run, c.Series[j].Class)
		d.Paths = append(d.Paths, marks...)
	}
	return d
}

// run draws a line through values without a gap; one value has its mark alone.
func (d *drawing) run(points []point, class string) {
	if len(points) > 1 {
		d.Paths = append(d.Paths, path{Points: points, Class: "run " + class})
	}
}

// span is the least and the greatest value.
func (c *chart) span() (lo, hi float64) {
	for j := range c.Series {
		for i := range c.Categories {
			if v, ok := c.Series[j].at(i); ok {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo, hi
}

// outline is the outline of a series' mark, so that series differ by more than colour: a square, a
// triangle, a diamond.
func outline(series int, c point) []point {
	switch series % 3 {
	case 0:
		return []point{{c.X - 3.5, c.Y - 3.5}, {c.X + 3.5, c.Y - 3.5}, {c.X + 3.5, c.Y + 3.5}, {c.X - 3.5, c.Y + 3.5}}
	case 1:
		return []point{{c.X, c.Y - 4.5}, {c.X + 4.5, c.Y + 3.5}, {c.X - 4.5, c.Y + 3.5}}
	}
	return []point{{c.X, c.Y - 5}, {c.X + 5, c.Y}, {c.X, c.Y + 5}, {c.X - 5, c.Y}}
}
