package report

import (
	"bytes"
	"embed"
	"html/template"
	"io"

	"dealflow/internal/chart"
)

//go:embed page.html figure.html style.css
var files embed.FS

var page = template.Must(template.Must(template.ParseFS(files, "*.html", "style.css")).New("chart.css").Parse(chart.Style))

// Write renders the report and writes it in one call. If rendering fails, nothing is written.
func Write(w io.Writer, d *Data) error {
	var out bytes.Buffer
	if err := page.ExecuteTemplate(&out, "page.html", view{Data: d, Sections: sections(d)}); err != nil {
		return err
	}
	_, err := w.Write(bytes.Map(chart.Visible, out.Bytes()))
	return err
}

// view is the data for page.html.
type view struct {
	*Data
	Sections []section
}

// sections returns the report's sections in order.
func sections(d *Data) []section {
	return []section{
		aboutSection(d), pipelineSection(d), volumeSection(d), leagueSection(d), executionSection(d),
		restatementSection(d), maturitySection(d), qualitySection(d),
	}
}
