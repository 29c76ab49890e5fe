package chart

import (
	_ "embed" // the templates
	"html/template"
	"strings"
)

//go:embed drawing.html
var drawingText string

var drawing = template.Must(template.New("drawing").Parse(drawingText))

// Style is the palette, in light and in dark, and the classes of drawings. A page includes it before its own style.
//
//go:embed style.css
var Style string

// SVG returns the drawing as an element of a page, and then that for a narrow screen.
func (d *Drawing) SVG() (template.HTML, error) {
	var out strings.Builder
	if err := drawing.Execute(&out, d); err != nil {
		return "", err
	}
	if d.Narrow != nil {
		narrow, err := d.Narrow.SVG()
		return template.HTML(out.String()) + narrow, err
	}
	return template.HTML(out.String()), nil
}
