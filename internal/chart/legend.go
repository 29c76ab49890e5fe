package chart

// Measures that charts share.
const (
	chartWidth   px = 720
	narrowWidth  px = 360
	legendHeight px = 20
	keySize      px = 11
)

// legend draws the names of the series next to their colours, in as many lines as needed, and returns its height. A
// single series gets no legend.
func (d *Drawing) legend(all []Series, mark func(series int, center point) path) px {
	if len(all) < 2 {
		return 0
	}
	corner := point{4, 6}
	for i := range all {
		name := all[i].Name
		if all[i].Mark != "" {
			name = all[i].Mark + " " + name
		}
		width := keySize + 6 + textWidth(name) + 16
		if corner.X > 4 && corner.X+width > d.Width {
			corner = point{4, corner.Y + legendHeight}
		}
		if mark != nil {
			d.Paths = append(d.Paths, mark(i, point{corner.X + keySize/2, corner.Y + keySize/2}))
		} else {
			d.addRect(rect{X: corner.X, Y: corner.Y, W: keySize, H: keySize, Class: all[i].Class}, &all[i])
		}
		d.Labels = append(d.Labels, label{X: corner.X + keySize + 6, Y: corner.Y + 10, Anchor: "start", Class: "key", Text: name})
		corner.X += width
	}
	return corner.Y + legendHeight
}
