// Package ownschema lets the macros of a catalog find their own tables in an attached catalog.
//
// DuckDB binds a view in its own catalog, but the body of a macro in the catalogs of the caller's search path. If a
// program attaches the catalog, a macro that reads main.runs finds no such table, or that of another lake. So each
// catalog has a schema whose name no other lake's catalog has, lake_<id>. It contains each macro that another macro
// calls, and a view over each table or view that a macro reads. The bodies of all macros name that schema alone. A
// caller adds it to its search path, as the view lake_help says; without it, a macro is an error, and never reads
// another lake.
package ownschema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
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
// outside the schema read it. They are one transaction. The statements of layout must have been executed.
func Statements(layout, name string) string {
	schema := quoted(name)
	type entry struct{ kind, schema, name, text string }
	var entries []entry
	known := map[string]string{} // kinds of entries by qualified name
	var comments strings.Builder // DuckDB drops the comment of a macro that is replaced
	for _, statement := range splitStatements(layout) {
		if strings.HasPrefix(statement, "COMMENT ON MACRO") {
			comments.WriteString(statement + ";\n")
		}
		if found := created.FindStringSubmatch(statement); found != nil {
			e := entry{found[1], found[2], found[3], statement}
			if e.schema == "" {
				e.schema = "main"
			}
			entries = append(entries, e)
			known[e.schema+"."+e.name] = e.kind
		}
	}
	bodies := map[string]string{}
	named := map[string]bool{} // what a macro names
	for _, e := range entries {
		if e.kind != "MACRO" {
			continue
		}
		bodies[e.schema+"."+e.name] = outsideTexts(e.text[len(created.FindString(e.text)):], func(code string) string {
			return qualified.ReplaceAllStringFunc(code, func(name string) string {
				if known[name] == "" {
					return name
				}
				named[name] = true
				return schema + "." + quoted(Name(name))
			})
		})
	}
	var macros, views strings.Builder
	for _, e := range entries {
		name := e.schema + "." + e.name
		if named[name] {
			if e.kind == "MACRO" {
				fmt.Fprintf(&macros, "CREATE MACRO %s.%s%s;\n", schema, quoted(Name(name)), bodies[name])
			} else {
				fmt.Fprintf(&views, "CREATE VIEW %s.%s AS FROM %s;\n", schema, quoted(Name(name)), name)
			}
		}
		if e.kind == "MACRO" {
			fmt.Fprintf(&macros, "CREATE OR REPLACE MACRO %s%s;\n", name, bodies[name])
		}
	}
	return "BEGIN;\nCREATE SCHEMA " + schema + ";\n" + views.String() + macros.String() + comments.String() + "COMMIT;\n"
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

// quoted quotes a name for SQL.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
