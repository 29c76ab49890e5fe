package chart

// hatchStep is the space between the lines of a hatching.
const hatchStep px = 6

// addRect adds a bar or a key. A hatched one has lines from its lower left to its upper right, which colour alone would not say.
// They are shapes, not a pattern: a pattern has an id, and a page may have many drawings.
func (d *Drawing) addRect(r rect, s *Series) {
	if !s.Hatched {
		d.Rects = append(d.Rects, r)
		return
	}
	r.Class += " hatched"
	d.Rects = append(d.Rects, r)
	for at := hatchStep - r.H; at < r.W; at += hatchStep {
		from, to := max(0, -at), min(r.H, r.W-at)
		if from < to {
			d.Paths = append(d.Paths, path{Points: []point{{r.X + at + from, r.Y + r.H - from}, {r.X + at + to, r.Y + r.H - to}}, Class: "hatch " + s.Class})
		}
	}
}
