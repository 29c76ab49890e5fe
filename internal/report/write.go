package report

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"strings"
	"unicode"
)

//go:embed page.html figure.html style.css
var files embed.FS

var page = template.Must(template.ParseFS(files, "*.html", "style.css"))

// Write writes the report, all of it or nothing.
func Write(w io.Writer, d *Data) error {
	var out bytes.Buffer
	if err := page.ExecuteTemplate(&out, "page.html", view{Data: d, Sections: sections(d)}); err != nil {
		return err
	}
	_, err := w.Write(bytes.Map(visible, out.Bytes()))
	return err
}

// view is what page.html sees.
type view struct {
	*Data
	Sections []section
}

// sections are the report's sections, in order.
func sections(d *Data) []section {
	return []section{
		aboutSection(d), pipelineSection(d), volumeSection(d), leagueSection(d), executionSection(d),
		restatementSection(d), maturitySection(d), qualitySection(d),
	}
}

// visible replaces what a reader would not see and a page may obey: control characters, and format
// characters such as those that turn the direction of writing. Those that join letters stay.
func visible(r rune) rune {
	switch {
	case r == '\n', r == '\t', r == 0x200c, r == 0x200d, r == 0xad:
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
		return unicode.ReplacementChar
	}
	return r
}

// oneLine is a text for a place that has one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
