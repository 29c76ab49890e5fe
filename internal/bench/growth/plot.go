package growth

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// curve is a figure that the drawing shows.
type curve struct {
	column string
	label  string
	colour string
}

// curves are drawn in this order, each in a colour that readers who do not see red from green can tell.
var curves = []curve{
	{"run_s", "run", "#0072b2"},
	{"sync_s", "sync", "#f0e442"},
	{"commit_s", "commit, its catalog and checks included", "#d55e00"},
	{"catalog_s", "publishing, compaction included", "#009e73"},
	{"log_open_s", "reading the log", "#cc79a7"},
	{"attach_s", "attaching the catalog", "#56b4e9"},
	{"first_answer_s", "first answer", "#e69f00"},
	{"as_of_s", "as-of query", "#666666"},
}

// The drawing's measures, in pixels at full width.
const (
	width, height            = 960.0, 480.0
	left, right, top, bottom = 56.0, 16.0, 16.0, 40.0
	legendLine               = 20.0
)

// frame maps nights and seconds to coordinates.
type frame struct{ first, last, most float64 }

func (f frame) x(night float64) float64 {
	return left + (night-f.first)/(f.last-f.first)*(width-left-right)
}

func (f frame) y(seconds float64) float64 {
	return top + (1-min(max(seconds/f.most, 0), 1))*(height-top-bottom)
}

// Plot draws the figures in seconds by night as SVG, each with its best straight line and its increase per hundred
// nights. It leaves out the first night, which fills the lake.
func Plot(rows []Row) string {
	rows = behindFirst(rows)
	f := frame{first: math.Inf(1), last: math.Inf(-1)}
	for _, c := range curves {
		each(rows, valueOf(c.column), func(night, v float64) {
			f.first, f.last, f.most = min(f.first, night), max(f.last, night), max(f.most, v)
		})
	}
	var out strings.Builder
	whole := height + legendLine*float64(len(curves))
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" font-family="sans-serif" font-size="13">`+"\n", px(width), px(whole))
	out.WriteString(`<title>What a night costs as the lake grows</title><rect width="100%" height="100%" fill="#fff"/>` + "\n")
	if f.first < f.last && f.most > 0 {
		f.most = math.Ceil(f.most*5) / 5
		f.axes(&out)
		for i, c := range curves {
			f.draw(&out, rows, c, height+legendLine*float64(i))
		}
	}
	out.WriteString("</svg>\n")
	return out.String()
}

func behindFirst(rows []Row) []Row {
	if len(rows) > 0 && rows[0].Night == 1 {
		return rows[1:]
	}
	return rows
}

// valueOf finds a column.
func valueOf(name string) func(*Row) *float64 {
	for _, c := range columns {
		if c.name == name {
			return c.value
		}
	}
	panic("no column " + name) // callers pass constants
}

// axes draws the lines of five values and of five nights, with their texts.
func (f frame) axes(out *strings.Builder) {
	for i := range 6 {
		part := float64(i) / 5
		seconds, night := part*f.most, math.Round(f.first+part*(f.last-f.first))
		fmt.Fprintf(out, `<path d="M%s %sH%s" stroke="#ddd"/><text x="%s" y="%s" text-anchor="end">%s s</text>`+"\n",
			px(left), px(f.y(seconds)), px(width-right), px(left-6), px(f.y(seconds)+4), strconv.FormatFloat(seconds, 'f', 2, 64))
		fmt.Fprintf(out, `<text x="%s" y="%s" text-anchor="middle">%s</text>`+"\n", px(f.x(night)), px(height-bottom+18), px(night))
	}
}

// draw draws a dot for each night, the line that fits, and the legend's line at a height.
func (f frame) draw(out *strings.Builder, rows []Row, c curve, at float64) {
	value := valueOf(c.column)
	fmt.Fprintf(out, `<g fill="%s" stroke="none">`, c.colour)
	each(rows, value, func(night, v float64) {
		fmt.Fprintf(out, `<circle cx="%s" cy="%s" r="1.6"/>`, px(f.x(night)), px(f.y(v)))
	})
	out.WriteString("</g>\n")
	label := c.label + ": not measured"
	if line, ok := fitted(rows, value); ok {
		fmt.Fprintf(out, `<path d="M%s %sL%s %s" stroke="%s" stroke-width="2" fill="none"/>`+"\n",
			px(f.x(f.first)), px(f.y(line.at(f.first))), px(f.x(f.last)), px(f.y(line.at(f.last))), c.colour)
		label = fmt.Sprintf("%s: %.3f s at night %.0f, %+.3f s in a hundred nights", c.label, line.at(f.first), f.first, 100*line.slope)
	}
	fmt.Fprintf(out, `<rect x="%s" y="%s" width="12" height="12" fill="%s"/><text x="%s" y="%s">%s</text>`+"\n",
		px(left), px(at-2), c.colour, px(left+20), px(at+9), html.EscapeString(label))
}

// px formats a coordinate to a hundredth of a pixel.
func px(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }
