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

// Write renders the report and writes it in one call. If rendering fails, nothing is written.
func Write(w io.Writer, d *Data) error {
	var out bytes.Buffer
	if err := page.ExecuteTemplate(&out, "page.html", view{Data: d, Sections: sections(d)}); err != nil {
		return err
	}
	_, err := w.Write(bytes.Map(visible, out.Bytes()))
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

// visible replaces characters that a reader does not see and a page may obey: control characters, and format characters
// such as those that change the direction of writing. Characters that join letters stay.
func visible(r rune) rune {
	switch {
	case r == '\n', r == '\t', r == 0x200c, r == 0x200d, r == 0xad:
		return r
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
		return unicode.ReplacementChar
	}
	return r
}

// oneLine joins a text into one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
