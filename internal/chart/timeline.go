package chart

import "time"

// Timeline contains lanes over one axis of time, each with spans and marks.
type Timeline struct {
	Title, Desc string
	Lanes       []Lane
	Narrow      bool // for a narrow screen
}

// Lane is a row of a timeline.
type Lane struct {
	Name  string
	Spans []Span
	Marks []Mark
}

// Span is a time from From to To. If it is Open, it lasts beyond the end of what is known.
type Span struct {
	From, To time.Time
	Open     bool
	Label    string
	Class    string // its colour in style.css
	Tip      string
}

// Mark is an event at an instant.
type Mark struct {
	At    time.Time
	Label string
	Class string
	Tip   string
}

// Draw draws the lanes below each other, to scale. It returns nil if there is nothing to draw.
func (t *Timeline) Draw() *Drawing {
	var first, last time.Time
	include := func(at time.Time) {
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	for _, lane := range t.Lanes {
		for _, s := range lane.Spans {
			include(s.From)
			include(s.To)
		}
		for _, m := range lane.Marks {
			include(m.At)
		}
	}
	if first.IsZero() {
		return nil
	}
	if last.Sub(first) < time.Hour {
		last = first.Add(time.Hour)
	}
	const left, right, top, laneHeight, thick, bottom px = 64, 24, 10, 46, 18, 24
	d := newDrawing(t.Title, t.Desc, t.Narrow)
	d.Height = top + laneHeight*px(len(t.Lanes)) + bottom
	position := func(at time.Time) px {
		return left + (d.Width-left-right)*px(at.Sub(first).Seconds()/last.Sub(first).Seconds())
	}
	d.drawTimes(first, last, position, top, d.Height-bottom)
	for i, lane := range t.Lanes {
		y := top + laneHeight*px(i) + 20
		d.Labels = append(d.Labels, label{X: left - 10, Y: y + 13, Anchor: "end", Class: "name", Text: lane.Name})
		for _, s := range lane.Spans {
			from, to := position(s.From), position(s.To)
			d.Rects = append(d.Rects, rect{X: from, Y: y, W: max(to-from-gap, 2), H: thick, Class: s.Class, Tip: s.Tip})
			if textWidth(s.Label)+6 <= to-from {
				d.Labels = append(d.Labels, label{X: from + 4, Y: y + 13, Anchor: "start", Class: "inside", Text: s.Label})
			}
			if s.Open && to+14 <= d.Width {
				d.Paths = append(d.Paths, path{Points: []point{{to + 2, y + 2}, {to + 12, y + thick/2}, {to + 2, y + thick - 2}}, Closed: true, Class: "mark " + s.Class, Tip: s.Tip})
			}
		}
		room := px(0)
		for _, m := range lane.Marks {
			at := position(m.At)
			d.Paths = append(d.Paths, path{Points: outline(2, point{at, y + thick/2}), Closed: true, Class: "mark " + cmpClass(m.Class), Tip: m.Tip})
			width := textWidth(m.Label)
			x := min(max(at-width/2, left), d.Width-width) // left of it are the names of the lanes
			if x < room {
				continue // the text would overlap
			}
			room = x + width + 6
			d.Labels = append(d.Labels, label{X: x, Y: y - 6, Anchor: "start", Class: "tick", Text: m.Label})
		}
	}
	return d
}

func cmpClass(class string) string {
	if class == "" {
		return "s2"
	}
	return class
}

// steps are the distances between the times of an axis.
var steps = []struct {
	every  time.Duration
	layout string
}{
	{time.Hour, "2 Jan 15:04"}, {6 * time.Hour, "2 Jan 15:04"}, {24 * time.Hour, "2 Jan"}, {7 * 24 * time.Hour, "2 Jan"}, {30 * 24 * time.Hour, "2 Jan 2006"}, {365 * 24 * time.Hour, "2006"},
	{10 * 365 * 24 * time.Hour, "2006"}, {100 * 365 * 24 * time.Hour, "2006"},
}

// drawTimes draws the axis: at most eight times, at round distances.
func (d *Drawing) drawTimes(first, last time.Time, position func(time.Time) px, top, bottom px) {
	step := steps[len(steps)-1]
	for _, s := range steps {
		if last.Sub(first)/s.every <= 8 {
			step = s
			break
		}
	}
	room := px(0)
	for at := first.Truncate(step.every); !at.After(last) && len(d.Lines) < 64; at = at.Add(step.every) {
		if at.Before(first) {
			continue
		}
		x := position(at)
		d.Lines = append(d.Lines, line{x, top, x, bottom, "grid"})
		text := at.UTC().Format(step.layout)
		width := textWidth(text)
		if from := min(max(x-width/2, 0), d.Width-width); from >= room {
			room = from + width + 8
			d.Labels = append(d.Labels, label{X: from, Y: bottom + 16, Anchor: "start", Class: "tick", Text: text})
		}
	}
}
