package sql

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed examples/*.sql
var examples embed.FS

// Example is a query for learning that runs on any lake's catalog.
type Example struct {
	Name string // of its file in examples/, without .sql
	Text string // of the whole file: comment lines first, then one statement
}

// Title is the example's comment, on one line.
func (e Example) Title() string {
	var lines []string
	for line := range strings.Lines(e.Text) {
		comment, ok := strings.CutPrefix(line, "-- ")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimSpace(comment))
	}
	return strings.Join(lines, " ")
}

// ExampleByName returns an example. It panics if there is none of that name: callers pass constants.
func ExampleByName(name string) Example {
	text, err := examples.ReadFile("examples/" + name + ".sql")
	if err != nil {
		panic(fmt.Sprintf("no example %s", name))
	}
	return Example{Name: name, Text: strings.TrimSpace(string(text))}
}
