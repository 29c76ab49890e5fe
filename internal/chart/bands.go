package chart

// Bands draws a line per series over the categories, on the band from its lower to its upper value. A missing value
// breaks both.
func Bands(c *Chart) *Drawing {
	d := Lines(c)
	top := d.Height - 240 - 26 // of the axis; see Lines
	lo, hi := c.span()
	y := newScale(lo, hi, top+240, top)
	left := y.room()
	band := (d.Width - 8 - left) / px(max(len(c.Categories), 1))
	var bands []path
	for j := range c.Series {
		s := &c.Series[j]
		var upper, lower []point
		end := func() {
			if len(upper) == 1 { // a band of one category has a width
				half := min(band/2, 6)
				upper = []point{{upper[0].X - half, upper[0].Y}, {upper[0].X + half, upper[0].Y}}
				lower = []point{{lower[0].X - half, lower[0].Y}, {lower[0].X + half, lower[0].Y}}
			}
			if len(upper) > 0 {
				outline := append([]point{}, upper...)
				for i := len(lower) - 1; i >= 0; i-- {
					outline = append(outline, lower[i])
				}
				bands = append(bands, path{Points: outline, Closed: true, Class: "band " + s.Class})
			}
			upper, lower = nil, nil
		}
		for i := range c.Categories {
			from, to, ok := s.bandAt(i)
			if !ok {
				end()
				continue
			}
			x := left + band*(px(i)+0.5)
			upper, lower = append(upper, point{x, y.position(to)}), append(lower, point{x, y.position(from)})
		}
		end()
	}
	d.Paths = append(bands, d.Paths...) // which are drawn over them
	return d
}

// bandAt returns the band of a category; ok reports whether it and the value in it can be drawn.
func (s *Series) bandAt(i int) (lo, hi float64, ok bool) {
	_, ok = s.ValueAt(i)
	lower, upper := Series{Values: s.Lower}, Series{Values: s.Upper}
	lo, hasLo := lower.ValueAt(i)
	hi, hasHi := upper.ValueAt(i)
	return lo, hi, ok && hasLo && hasHi && lo <= hi
}
