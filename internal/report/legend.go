package report

// Measures that charts share.
const (
	chartWidth   px = 720
	legendHeight px = 20
	keySize      px = 11
)

// legend draws the names of the series beside their colours, in as many lines as it takes, and gives the
// height that it took. One series needs none.
func (d *drawing) legend(all []series, mark func(series int, center point) path) px {
	if len(all) < 2 {
		return 0
	}
	at := point{4, 6}
	for i := range all {
		width := keySize + 6 + textWidth(all[i].Name) + 16
		if at.X > 4 && at.X+width > d.Width {
			at = point{4, at.Y + legendHeight}
		}
		if mark != nil {
			d.Paths = append(d.Paths, mark(i, point{at.X + keySize/2, at.Y + keySize/2}))
		} else {
			d.Rects = append(d.Rects, rect{X: at.X, Y: at.Y, W: keySize, H: keySize, Class: all[i].Class})
		}
		d.Labels = append(d.Labels, label{X: at.X + keySize + 6, Y: at.Y + 10, Anchor: "start", Class: "key", Text: all[i].Name})
		at.X += width
	}
	return at.Y + legendHeight
}
