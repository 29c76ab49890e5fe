package chart

// Spark draws values as a line without axes, as high as a line of text. The newest value has a mark, and a missing one breaks the
// line. It returns nil for fewer than two values. The reader finds the numbers in title.
func Spark(title, desc string, values []float64) *Drawing {
	const width, height, edge px = 96, 22, 3
	s := Series{Values: values}
	lo, hi, count := 0.0, 0.0, 0
	for i := range values {
		v, ok := s.ValueAt(i)
		switch {
		case !ok:
			continue
		case count == 0:
			lo, hi = v, v
		}
		lo, hi = min(lo, v), max(hi, v)
		count++
	}
	if count < 2 {
		return nil
	}
	d := &Drawing{Title: title, Desc: desc, Class: "spark", Width: width, Height: height}
	if lo == hi { // a line in the middle
		lo, hi = lo-1, hi+1
	}
	y := &scale{lo: lo, hi: hi, from: height - edge, to: edge}
	step := (width - 2*edge) / px(len(values)-1)
	var run []point
	var last point
	for i := range values {
		v, ok := s.ValueAt(i)
		if !ok {
			d.addRun(run, "s0")
			run = nil
			continue
		}
		last = point{edge + step*px(i), y.position(v)}
		run = append(run, last)
	}
	d.addRun(run, "s0")
	d.Rects = append(d.Rects, rect{X: last.X - 2, Y: last.Y - 2, W: 4, H: 4, Class: "s0"})
	return d
}
