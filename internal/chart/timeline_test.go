package chart

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestTimelineStaysInside draws timelines of random times: every shape is inside the drawing, and in the order of time.
func TestTimelineStaysInside(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	names := []string{"", "v1", "a very long name of an event that does not fit anywhere", "中文银行股份有限公司"}
	for range 2000 {
		spread := []time.Duration{time.Second, time.Hour, 48 * time.Hour, 2000 * 24 * time.Hour, 80 * 365 * 24 * time.Hour}[random.IntN(5)]
		at := func() time.Time {
			return time.Date(2026, 1, 5, 22, 0, 0, 0, time.UTC).Add(time.Duration(random.Int64N(int64(spread) + 1)))
		}
		line := &Timeline{Narrow: random.IntN(2) == 0}
		for range random.IntN(4) {
			lane := Lane{Name: "lane"}
			for range random.IntN(6) {
				from := at()
				lane.Spans = append(lane.Spans, Span{From: from, To: from.Add(spread / 7), Open: random.IntN(2) == 0, Label: names[random.IntN(len(names))]})
				lane.Marks = append(lane.Marks, Mark{At: at(), Label: names[random.IntN(len(names))]})
			}
			line.Lanes = append(line.Lanes, lane)
		}
		d := line.Draw()
		if d == nil {
			continue
		}
		if fault := outside(d); fault != "" {
			t.Fatalf("%s in the drawing of %+v", fault, line)
		}
	}
	first := time.Date(2026, 1, 5, 22, 0, 0, 0, time.UTC)
	d := (&Timeline{Lanes: []Lane{{Spans: []Span{{From: first, To: first.Add(24 * time.Hour)}, {From: first.Add(24 * time.Hour), To: first.Add(72 * time.Hour)}}}}}).Draw()
	if len(d.Rects) != 2 || d.Rects[0].X+d.Rects[0].W+gap != d.Rects[1].X || d.Rects[1].W+gap <= 1.9*(d.Rects[0].W+gap) {
		t.Errorf("spans of one and of two days are drawn as %+v", d.Rects)
	}
	d = (&Timeline{Lanes: []Lane{{Name: "source", Marks: []Mark{{At: first, Label: "talk"}, {At: first.Add(time.Hour), Label: "priced"}}}}}).Draw()
	for _, l := range d.Labels {
		if (l.Text == "talk" || l.Text == "priced") && l.X < 64 {
			t.Errorf("%q is among the names of the lanes: %+v", l.Text, l)
		}
	}
}
