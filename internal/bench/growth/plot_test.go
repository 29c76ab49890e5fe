package growth

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// line gives nights whose run takes a fixed time and a little more from night to night.
func line(nights int, at0, slope float64) []Row {
	var rows []Row
	for n := 1; n <= nights; n++ {
		row := unmeasured()
		row.Night, row.Run = float64(n), at0+slope*float64(n)
		rows = append(rows, row)
	}
	return rows
}

func run(r *Row) *float64 { return &r.Run }

func TestFitted(t *testing.T) {
	rows := line(50, 0.5, 0.002)
	rows[7].Run = math.NaN() // a night that was not measured is in no one's way
	got, ok := fitted(rows, run)
	if !ok || math.Abs(got.at0-0.5) > 1e-12 || math.Abs(got.slope-0.002) > 1e-12 {
		t.Errorf("got %+v, %t", got, ok)
	}
	if _, ok := fitted(rows[:1], run); ok {
		t.Error("a line was fitted to one night")
	}
}

func TestTenths(t *testing.T) {
	rows := line(41, 0, 1)
	rows[0].Run = 1000 // the night that fills the lake does not count
	if first, last := Tenths(rows, run); first != 3.5 || last != 39.5 {
		t.Errorf("got %v and %v", first, last)
	}
	if first, _ := Tenths(rows, func(r *Row) *float64 { return &r.AsOf }); !math.IsNaN(first) {
		t.Errorf("got %v of what was not measured", first)
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	if err := Write(&out, line(3, 0.25, 0)); err != nil {
		t.Fatal(err)
	}
	rows, err := Read(strings.NewReader(out.String()))
	if err != nil || len(rows) != 3 || rows[2].Night != 3 || rows[2].Run != 0.25 || !math.IsNaN(rows[2].AsOf) {
		t.Errorf("got %+v, %v", rows, err)
	}
	for _, wrong := range []string{"", "night,unheard_of\n1,2\n", "night\nx\n"} {
		if _, err := Read(strings.NewReader(wrong)); err == nil {
			t.Errorf("%q was read", wrong)
		}
	}
}

func TestPlot(t *testing.T) {
	drawn := Plot(line(101, 0.5, 0.002))
	if n := strings.Count(drawn, "<circle"); n != 100 {
		t.Errorf("%d dots, want one for each night but the first", n)
	}
	if want := "run: 0.504 s at night 2, +0.200 s in a hundred nights"; !strings.Contains(drawn, want) {
		t.Errorf("the legend does not say %q", want)
	}
	for _, rows := range [][]Row{nil, line(1, 1, 0), line(2, 1, 0), line(101, 0.5, 0.002)} {
		for dec := xml.NewDecoder(strings.NewReader(Plot(rows))); ; {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%d nights: %v", len(rows), err)
			}
		}
	}
}
