package chart

import (
	"math"
	"math/rand/v2"
	"testing"

	"dealflow/internal/testkit"
)

// draws are the kinds of charts by name.
var draws = map[string]func(*Chart) *Drawing{"bars": Bars, "stacked": Stacked, "changes": Stacked, "lines": Lines, "bands": Bands}

// TestChartsGolden compares charts with the SVG files in testdata.
func TestChartsGolden(t *testing.T) {
	months := []string{"2026-01", "2026-02", "2026-03", "2026-04"}
	for name, c := range map[string]*Chart{
		"bars":    {Title: "Banks", Desc: "Horizontal bars.", Unit: "USD bn", Categories: []string{"First & Sons", "A bank with a name that is much too long to stand before a bar"}, Notes: []string{"12.50", "3.00"}, Series: []Series{{Name: "credit", Class: "s0", Values: []float64{12.5, 3}}}},
		"changes": {Title: "Nights", Desc: "Vertical bars with marks.", Unit: "versions", Categories: months, Series: changes([]float64{10, 20, 0, 5}, []float64{1, math.NaN(), 30, 4}, []float64{2, 3, 4, 5})},
		"stacked": {Title: "Months", Desc: "Vertical bars.", Unit: "deals", Categories: months, Series: []Series{{Name: "IG", Class: "s0", Values: []float64{10, 20, 0, 5}}, {Name: "HY", Class: "s1", Values: []float64{1, math.NaN(), 3, 4}}}},
		"bands":   {Title: "Quartiles", Desc: "A line in a band.", Unit: "bp", Categories: months, Series: []Series{{Name: "median", Class: "s0", Values: []float64{10, 12.5, math.NaN(), 4}, Lower: []float64{8, 10, 1, -2}, Upper: []float64{11, 20, 1, 9}}}},
		"lines":   {Title: "Medians", Desc: "Lines.", Unit: "bp", Categories: months, Series: []Series{{Name: "IG", Class: "s0", Values: []float64{10, 12.5, math.NaN(), -4}}, {Name: "HY", Class: "s1", Values: []float64{1, 2, 3, 4}}, {Name: "EM", Class: "s2", Values: []float64{3}}}},
	} {
		svg, err := Both(func(narrow bool) *Drawing {
			c.Narrow = narrow
			return draws[name](c)
		}).SVG()
		if err != nil {
			t.Fatal(err)
		}
		testkit.Golden(t, "testdata/"+name+".svg", []byte(svg+"\n"))
	}
}

// TestChartsStayInside draws charts of random values: every shape is inside the drawing, and every finite value is
// drawn.
func TestChartsStayInside(t *testing.T) {
	for name, draw := range draws {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			for range 3000 {
				c := anyChart(random)
				c.Narrow = random.IntN(2) == 0
				if fault := outside(draw(c)); fault != "" {
					t.Fatalf("%s in the drawing of %+v", fault, c)
				}
			}
		})
	}
}

// changes returns the first series of Changes with values.
func changes(values ...[]float64) []Series {
	all := Changes("new")[:len(values)]
	for i := range all {
		all[i].Values = values[i]
	}
	return all
}

func anyChart(random *rand.Rand) *Chart {
	odd := []float64{0, -1, 1, 1e-9, 1e-300, 5e-324, 1e15, 1e300, -1e300, math.MaxFloat64, -math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1)}
	names := []string{"", "a", "2026-01", "中文银行股份有限公司中文银行股份有限公司", "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"}
	c := &Chart{Title: "t", Unit: "u"}
	for range random.IntN(30) {
		c.Categories = append(c.Categories, names[random.IntN(len(names))])
		c.Notes = append(c.Notes, names[random.IntN(len(names))])
	}
	for range random.IntN(7) {
		s := Series{Name: names[random.IntN(len(names)-1)], Class: "s0", Mark: []string{"", "+"}[random.IntN(2)]}
		for range random.IntN(len(c.Categories) + 1) {
			v := random.NormFloat64() * math.Pow(10, float64(random.IntN(12)))
			if random.IntN(4) == 0 {
				v = odd[random.IntN(len(odd))]
			}
			s.Values = append(s.Values, v)
		}
		if random.IntN(2) == 0 {
			s.Hatched = true
			for range s.Values {
				s.Lower, s.Upper = append(s.Lower, odd[random.IntN(len(odd))]), append(s.Upper, random.Float64()*100)
			}
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// outside names a shape that is not inside its drawing or has no size; "" for none.
func outside(d *Drawing) string {
	in := func(points ...point) bool {
		for _, p := range points {
			if !(p.X >= -0.01 && p.X <= d.Width+0.01 && p.Y >= -0.01 && p.Y <= d.Height+0.01) {
				return false
			}
		}
		return true
	}
	for _, l := range d.Lines {
		if !in(point{l.X1, l.Y1}, point{l.X2, l.Y2}) {
			return "a line is outside"
		}
	}
	for _, r := range d.Rects {
		if r.W < 0 || r.H < 0 || !in(point{r.X, r.Y}, point{r.X + r.W, r.Y + r.H}) {
			return "a bar is outside"
		}
	}
	for _, p := range d.Paths {
		if !in(p.Points...) {
			return "a path is outside"
		}
	}
	for _, l := range d.Labels {
		from := map[string]px{"start": 0, "middle": 0.5, "end": 1}[l.Anchor] * textWidth(l.Text)
		if !in(point{l.X - from, l.Y}, point{l.X - from + textWidth(l.Text), l.Y}) {
			return "the label " + l.Text + " is outside"
		}
	}
	return ""
}

// TestRangesGolden compares a chart of price talk with the SVG file in testdata.
func TestRangesGolden(t *testing.T) {
	svg, err := Ranges("Price talk", "Ranges.", "bp over UST", []Range{
		{"14 Jan 17:31 IPG T+277 area", 277, 277, "277", false}, {"14 Jan 17:37 FPG T+272 (+/-5)", 267, 277, "267 to 277", false},
		{"14 Jan 17:50 <b>whisper</b>", math.NaN(), math.NaN(), "", false}, {"14 Jan 18:31 Final T+270", 270, 270, "270", true},
	}, false).SVG()
	if err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/ranges.svg", []byte(svg+"\n"))
}

// TestRangesStayInside draws ranges of random values: every shape is inside the drawing, and a finite range has its mark.
func TestRangesStayInside(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		c := anyChart(random)
		var all []Range
		finite := 0
		for i, name := range c.Categories {
			r := Range{Label: name, Note: c.Notes[i], Lo: math.NaN(), Hi: math.NaN()}
			if len(c.Series) > 0 {
				if v, ok := c.Series[0].ValueAt(i); ok && math.Abs(v) < 1e15 {
					r.Lo, r.Hi = v, v+random.Float64()*100
					finite++
				}
			}
			all = append(all, r)
		}
		d := Ranges("t", "d", "u", all, random.IntN(2) == 0)
		if fault := outside(d); fault != "" || len(d.Paths) != finite {
			t.Fatalf("%s, %d marks of %d: %+v", fault, len(d.Paths), finite, all)
		}
	}
}

// TestBarsAreInProportion compares the lengths of bars with their values.
func TestBarsAreInProportion(t *testing.T) {
	c := &Chart{Categories: []string{"a", "b", "c"}, Series: []Series{{Name: "s", Values: []float64{1, 2, 4}}}}
	for name, length := range map[string]func(rect) px{"bars": func(r rect) px { return r.W }, "stacked": func(r rect) px { return r.H }} {
		d := draws[name](c)
		if len(d.Rects) != 3 {
			t.Fatalf("%s: %d bars, want 3", name, len(d.Rects))
		}
		unit := length(d.Rects[0]) + gap
		for i, times := range []px{1, 2, 4} {
			if got := length(d.Rects[i]) + gap; math.Abs(float64(got-times*unit)) > 1e-9 {
				t.Errorf("%s: bar %d is %v long, want %v", name, i, got, times*unit)
			}
		}
	}
}

// TestNamesAboveBars checks that on a narrow screen each name is above its bar, and that no text is over another.
func TestNamesAboveBars(t *testing.T) {
	d := Bars(&Chart{Narrow: true, Unit: "u", Categories: []string{"a name that takes half of the width", "b"}, Notes: []string{"4, n 10", "1, n 2"}, Series: []Series{{Name: "s", Values: []float64{4, 1}}}})
	if d.Width != narrowWidth || d.Rects[0].W < d.Width*0.7 {
		t.Errorf("the longest bar takes %v of %v", d.Rects[0].W, d.Width)
	}
	row := 0
	for i, l := range d.Labels {
		if l.Class == "name" {
			if bar := d.Rects[row]; l.X != bar.X || l.Y > bar.Y || l.Tip != "" || row > 0 && l.Y-11 < d.Rects[row-1].Y+d.Rects[row-1].H {
				t.Errorf("the name %+v of the bar %+v", l, bar)
			}
			if note := d.Labels[i+1]; note.Y-11 < l.Y {
				t.Errorf("the note %+v is over the name %+v", note, l)
			}
			row++
		}
	}
	if row != 2 {
		t.Errorf("%d names", row)
	}
}

// TestScale checks axes of many spans: their ticks are round and even, and the axis contains the span.
func TestScale(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		lo := random.NormFloat64() * math.Pow(10, float64(random.IntN(20)-8))
		hi := lo + random.Float64()*math.Pow(10, float64(random.IntN(20)-8))
		s := newScale(lo, hi, 0, 100)
		if !(s.lo <= min(lo, 0)) || !(s.hi >= max(hi, 0)) {
			t.Fatalf("the axis of %g to %g goes from %g to %g", lo, hi, s.lo, s.hi)
		}
		if n := len(s.ticks); n < 2 || n > 12 {
			t.Fatalf("the axis of %g to %g has %d ticks", lo, hi, n)
		}
		texts := map[string]bool{}
		for _, tick := range s.ticks {
			if pos := s.position(tick); pos < 0 || pos > 100 {
				t.Fatalf("the tick %g of %g to %g stands at %v", tick, lo, hi, pos)
			}
			texts[s.text(tick)] = true
		}
		if len(texts) != len(s.ticks) {
			t.Fatalf("ticks of %g to %g have the same text: %v", lo, hi, texts)
		}
	}
}

// TestSpark checks that small lines stay inside, that a missing value breaks them, and that the newest value has the mark.
func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []float64
		runs   int // lines; -1: no drawing
	}{
		{nil, -1}, {[]float64{5}, -1}, {[]float64{math.NaN(), 5, math.NaN()}, -1}, {[]float64{5, 5}, 1}, {[]float64{1, 2, math.NaN(), 4, 3}, 2}, {[]float64{0, math.NaN(), 9}, 0}, {[]float64{1e15, -1e15, 0}, 1},
	} {
		d := Spark("t", "d", c.values)
		switch {
		case d == nil || c.runs < 0:
			if d != nil || c.runs >= 0 {
				t.Errorf("%v: got %+v", c.values, d)
			}
			continue
		case outside(d) != "" || len(d.Paths) != c.runs || len(d.Rects) != 1:
			t.Errorf("%v: %s, %d lines, %d marks", c.values, outside(d), len(d.Paths), len(d.Rects))
		}
	}
	d := Spark("t", "d", []float64{1, 9, 5})
	if points := d.Paths[0].Points; points[0].Y <= points[2].Y || points[1].Y >= points[2].Y || points[2].X != d.Rects[0].X+2 {
		t.Errorf("1, 9 and 5 are drawn at %+v, the mark at %+v", points, d.Rects[0])
	}
}

// TestHatching checks that the lines of a hatched bar are inside it, and that other bars have none.
func TestHatching(t *testing.T) {
	for _, r := range []rect{{X: 10, Y: 20, W: 100, H: 15}, {X: 0, Y: 0, W: 3, H: 15}, {X: 5, Y: 5, W: 11, H: 11}, {X: 1, Y: 1, W: 0, H: 15}} {
		var d, other Drawing
		d.addRect(r, &Series{Hatched: true})
		other.addRect(r, &Series{})
		if len(other.Paths) != 0 || len(d.Rects) != 1 || (len(d.Paths) == 0) != (r.W == 0) {
			t.Errorf("%+v: %d lines, of a plain one %d", r, len(d.Paths), len(other.Paths))
		}
		for _, p := range d.Paths {
			for _, at := range p.Points {
				if at.X < r.X-0.01 || at.X > r.X+r.W+0.01 || at.Y < r.Y-0.01 || at.Y > r.Y+r.H+0.01 {
					t.Errorf("%+v: the line %+v is outside", r, p.Points)
				}
			}
		}
	}
}

// TestBands checks that a line is drawn over its band, which goes from the lower to the upper value, and that a missing value breaks it.
func TestBands(t *testing.T) {
	c := &Chart{Unit: "bp", Categories: []string{"a", "b", "c", "d"}, Series: []Series{{Class: "s0", Values: []float64{2, 3, math.NaN(), 4}, Lower: []float64{1, 2, 0, 4}, Upper: []float64{3, 8, 9, 4}}}}
	d := Bands(c)
	if len(d.Paths) < 2 || d.Paths[0].Class != "band s0" || d.Paths[1].Class != "band s0" || d.Paths[2].Class == "band s0" {
		t.Fatalf("got %+v, want two bands before the line", d.Paths)
	}
	first, marks := d.Paths[0].Points, map[int]point{}
	for i, p := range d.Paths[3:] {
		marks[i] = point{(p.Points[0].X + p.Points[1].X) / 2, (p.Points[0].Y + p.Points[2].Y) / 2}
	}
	if len(first) != 4 || first[0].X != marks[0].X || first[0].Y >= marks[0].Y || first[3].Y <= marks[0].Y || first[1].X != marks[1].X {
		t.Errorf("the band is %+v, the values at %+v", first, marks)
	}
	if fault := outside(d); fault != "" {
		t.Error(fault)
	}
}
