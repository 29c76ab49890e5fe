package chart

// Changes returns the series of what became of deals, without values: new or added ones, changed ones, removed ones, and those that are back.
// Each has its own colour, which no market has, and its own mark, so that none is told by its colour alone.
func Changes(added string) []Series {
	return []Series{
		{Name: added, Class: "add", Mark: "+"}, {Name: "changed", Class: "edit", Mark: "~"},
		{Name: "removed", Class: "cut", Mark: "−", Hatched: true}, {Name: "reappeared", Class: "again", Mark: "±"},
	}
}

// markSize is the least width and height of a bar in which its mark is drawn.
const markSize px = 14

// addBar adds a bar, with the mark of its series in its middle if there is one and room for it.
func (d *Drawing) addBar(r rect, s *Series) {
	d.addRect(r, s)
	if s.Mark == "" || r.W < markSize || r.H < markSize {
		return
	}
	class := "sign inside"
	if s.Hatched {
		class = "sign note"
	}
	d.Labels = append(d.Labels, label{X: r.X + r.W/2, Y: r.Y + r.H/2 + 5, Anchor: "middle", Class: class, Text: s.Mark})
}
