// Package ownschema lets the macros of a catalog find their own tables in an attached catalog.
//
// DuckDB binds a view in its own catalog, but the body of a macro in the catalogs of the caller's search path. If a
// program attaches the catalog, a macro that reads main.runs finds no such table, or that of another lake. So each
// catalog has a schema whose name no other lake's catalog has, lake_<id>. It contains each macro that another macro
// calls, and a view over each table or view that a macro reads. DuckDB before 1.4.4 looks for what a view of any other
// schema reads in main in the caller's main. So a view of main is in that schema with its own body, and the tables are
// not in main: where people read one, main has a view over it. The bodies of all macros name that schema alone. A
// caller adds it to its search path, as the view lake_help says; without it, a macro is an error, and never reads
// another lake.
package ownschema

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"dealflow/sql/quote"
)

// ID returns the identity of a lake, for the name of its schema: 12 hexadecimal digits of a hash of what only this lake
// has.
func ID(unique string) string {
	sum := sha256.Sum256([]byte(unique))
	return hex.EncodeToString(sum[:6])
}

// created matches the beginning of a statement that creates what a macro can name.
var created = regexp.MustCompile(`^CREATE (TABLE|VIEW|MACRO) (?:(\w+)\.)?(\w+)`)

// qualified matches a name with its schema.
var qualified = regexp.MustCompile(`\b(main|_dealflow|history|snapshots|files)\.(\w+)\b`)

// Statements returns the statements that create a schema with what the macros of layout name, and that let the macros
// outside the schema read it. The statements of layout must have been executed.
//
// DuckDB binds a macro's body when it creates the macro, and the bodies of the macros in it. So a macro that is in the
// schema has its body there alone, and is first created with a body of nothing, so that the macro outside, which calls it,
// is bound in no time.
func Statements(layout, name string) string {
	schema := quote.Name(name)
	entries, comments := entriesOf(layout)
	kinds := map[string]string{} // by qualified name
	for _, e := range entries {
		kinds[e.name] = e.kind
	}
	bodies := make([]string, len(entries))       // from the parameters on
	named := map[string]bool{}                   // what a macro or a copied view names
	for i, e := range slices.Backward(entries) { // an entry names earlier ones
		hasBody := e.kind == "MACRO" || named[e.name] && isCopied(e)
		if !hasBody {
			continue
		}
		bodies[i] = outsideTexts(e.body, func(code string) string {
			return qualified.ReplaceAllStringFunc(code, func(name string) string {
				if kinds[name] == "" {
					return name
				}
				named[name] = true
				return schema + "." + quote.Name(Name(name))
			})
		})
	}
	var views, first, macros strings.Builder
	for i, e := range entries {
		inside := schema + "." + quote.Name(Name(e.name))
		switch {
		case e.kind == "MACRO" && named[e.name]:
			m := parseMacro(bodies[i])
			fmt.Fprintf(&first, "CREATE MACRO %s%s AS %s;\n", inside, m.parameters, m.nothing)
			fmt.Fprintf(&first, "CREATE OR REPLACE MACRO %s%s AS %s%s(%s);\n", e.name, m.parameters, m.from, inside, m.arguments)
			fmt.Fprintf(&macros, "CREATE OR REPLACE MACRO %s%s;\n", inside, bodies[i])
		case e.kind == "MACRO":
			fmt.Fprintf(&macros, "CREATE OR REPLACE MACRO %s%s;\n", e.name, bodies[i])
		case named[e.name] && isCopied(e):
			fmt.Fprintf(&macros, "CREATE VIEW %s%s;\n", inside, bodies[i])
		case named[e.name]:
			fmt.Fprintf(&views, "CREATE VIEW %s AS FROM %s;\n", inside, e.name)
		}
	}
	return "CREATE SCHEMA " + schema + ";\n" + views.String() + first.String() + macros.String() + comments
}

// isCopied tells whether the schema contains the entry's own body, instead of a view over the entry.
func isCopied(e entry) bool { return e.kind == "VIEW" && strings.HasPrefix(e.name, "main.") }

// entry is a statement of a layout that creates what a macro can name.
type entry struct {
	kind string // TABLE, VIEW or MACRO
	name string // with its schema
	body string // what follows the name
}

// entriesOf returns the entries of a layout, and its comments on macros: DuckDB drops the comment of a macro that is replaced.
func entriesOf(layout string) (entries []entry, comments string) {
	for _, statement := range splitStatements(layout) {
		if strings.HasPrefix(statement, "COMMENT ON MACRO") {
			comments += statement + ";\n"
		}
		if found := created.FindStringSubmatch(statement); found != nil {
			entries = append(entries, entry{found[1], cmp.Or(found[2], "main") + "." + found[3], statement[len(found[0]):]})
		}
	}
	return entries, comments
}

// macro has the parts of a macro's declaration, and those of one that calls it with the same parameters.
type macro struct {
	parameters string // in parentheses
	arguments  string // that hand on each parameter
	from       string // what precedes the call: "TABLE FROM " or ""
	nothing    string // a body without any names
}

// isTable matches what follows the parameters of a table macro.
var isTable = regexp.MustCompile(`^\s*AS\s+TABLE\b`)

// parseMacro takes apart what follows a macro's name.
func parseMacro(declaration string) macro {
	var parts []string // parameters with their defaults
	end, from, depth := 0, 1, 0
	for end == 0 || depth > 0 {
		switch past := skipText(declaration, end); {
		case past > end:
			end = past
			continue
		case strings.ContainsRune("([", rune(declaration[end])):
			depth++
		case strings.ContainsRune(")]", rune(declaration[end])):
			depth--
		}
		if depth == 0 || depth == 1 && declaration[end] == ',' {
			parts, from = append(parts, declaration[from:end]), end+1
		}
		end++
	}
	m := macro{parameters: declaration[:end], nothing: "NULL"}
	if isTable.MatchString(declaration[end:]) {
		m.from, m.nothing = "TABLE FROM ", "TABLE SELECT 1"
	}
	for i, part := range parts {
		name, _, optional := strings.Cut(part, ":=")
		if name = strings.TrimSpace(name); optional {
			name += " := " + name
		}
		parts[i] = name
	}
	m.arguments = strings.Join(parts, ", ")
	return m
}

// Name is the name of an entry in the catalog's own schema. The names of main stay as they are.
func Name(name string) string {
	schema, rest, _ := strings.Cut(name, ".")
	switch schema {
	case "main":
		return rest
	case "_dealflow":
		return "_" + rest
	}
	return schema + "_" + rest
}

// splitStatements splits SQL at the semicolons outside of texts and comments. It drops comments and white space before
// each statement.
func splitStatements(text string) []string {
	var all []string
	from := 0
	add := func(end int) {
		statement := strings.TrimSpace(text[from:end])
		for strings.HasPrefix(statement, "--") {
			_, rest, _ := strings.Cut(statement, "\n")
			statement = strings.TrimSpace(rest)
		}
		if statement != "" {
			all = append(all, statement)
		}
		from = end + 1
	}
	for i := 0; i < len(text); i++ {
		if end := skipText(text, i); end > i {
			i = end - 1
		} else if text[i] == ';' {
			add(i)
		}
	}
	add(len(text))
	return all
}

// skipText returns the end of the quoted text, quoted name or comment that begins at i; i if none does.
func skipText(text string, i int) int {
	var closing string
	switch {
	case text[i] == '\'' || text[i] == '"':
		closing = text[i : i+1]
	case strings.HasPrefix(text[i:], "--"):
		closing = "\n"
	default:
		return i
	}
	end := strings.Index(text[i+1:], closing)
	if end < 0 {
		return len(text)
	}
	return i + 1 + end + len(closing)
}

// outsideTexts replaces the parts of SQL that are outside of quoted texts, quoted names and comments.
func outsideTexts(text string, replace func(code string) string) string {
	var out strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		if end := skipText(text, i); end > i {
			out.WriteString(replace(text[from:i]))
			out.WriteString(text[i:end])
			from, i = end, end-1
		}
	}
	out.WriteString(replace(text[from:]))
	return out.String()
}
