package console

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"dealflow/sql/quote"
)

// copied is a statement in a form that runs elsewhere.
type copied struct{ Title, Text string }

// copies returns a statement of the page for a terminal and for Python. at is the address of the lake.
func copies(at, statement string) []copied {
	return []copied{{"As dealflow query", shell(at, statement)}, {"As Python", python(at, statement)}}
}

// shell returns a statement as a line for sh. It has no U+0000 (see safesql), which no program can be given.
func shell(at, statement string) string {
	line := "dealflow query --safe --lake " + word(at)
	if strings.HasPrefix(statement, "-") {
		line += " --"
	}
	return line + " " + word(statement)
}

// plainWord matches what sh takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_/.:@%+-]+$`)

// word quotes a text as one word of sh. Characters that a page or a copy may change are written as numbers; such a text does not
// end with a newline, which sh would take away.
func word(text string) string {
	switch {
	case plainWord.MatchString(text):
		return text
	case strings.ContainsFunc(text, isHidden):
		return `"$(printf %b '` + strings.ReplaceAll(numbered(text), "'", `'\''`) + `')"`
	case !strings.ContainsAny(text, "\"$`\\!"):
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// isHidden says whether a character has no form of its own, or one that others share: controls, marks of the direction of
// writing, spaces of other widths.
func isHidden(c rune) bool { return !unicode.IsPrint(c) && c != '\n' && c != '\t' }

// numbered writes the bytes of hidden characters as printf reads them, and those of the exclamation mark, with which some shells
// look for an earlier line.
func numbered(text string) string {
	var out strings.Builder
	for _, c := range text {
		switch {
		case c == '\\':
			out.WriteString(`\\`)
		case isHidden(c), c == '!':
			for _, b := range []byte(string(c)) {
				fmt.Fprintf(&out, `\0%03o`, b)
			}
		default:
			out.WriteRune(c)
		}
	}
	return out.String()
}

// python returns lines of Python that print the answer of a statement. They say where the files of the lake are, because it may
// have been moved, and take the time zone of this program.
func python(at, statement string) string {
	var lines strings.Builder
	lines.WriteString("import duckdb  # pip install duckdb pytz\n\n")
	if strings.HasPrefix(at, "s3://") {
		fmt.Fprintf(&lines, "con = duckdb.connect()\ncon.execute(\"CREATE SECRET (TYPE s3, PROVIDER credential_chain)\")  # and ENDPOINT, if the store is not AWS\n")
		fmt.Fprintf(&lines, "con.execute(%s)\n", literal("ATTACH "+quote.Text(at+"/catalog.duckdb")+" AS lake (READ_ONLY); USE lake"))
	} else {
		fmt.Fprintf(&lines, "con = duckdb.connect(%s, read_only=True)\n", literal(at+"/catalog.duckdb"))
	}
	fmt.Fprintf(&lines, "con.execute(%s)\n", literal("SET TimeZone = 'UTC'; SET VARIABLE lake = "+quote.Text(at)))
	fmt.Fprintf(&lines, "print(con.sql(%s))\n", literal(statement))
	return lines.String()
}

// literal quotes a text for Python. One of several lines stays so.
func literal(text string) string {
	mark := `"`
	if strings.Contains(text, "\n") {
		mark = `"""`
	}
	var out strings.Builder
	for i, c := range text {
		switch {
		case c == '\\', c == '"' && (mark == `"` || strings.HasPrefix(text[i:], `""`) || i == len(text)-1):
			out.WriteString(`\` + string(c))
		case c == '\t':
			out.WriteString(`\t`)
		case isHidden(c) && c > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, c)
		case isHidden(c):
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			out.WriteRune(c)
		}
	}
	return mark + out.String() + mark
}
