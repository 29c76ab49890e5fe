package sql

import (
	"fmt"
	"io/fs"
	"strings"
)

// analysisFiles are the files of analyses/ in an order in which each finds what it reads.
var analysisFiles = []string{
	"field_change", "changes", "bond_priced_as_of", "loan_priced_as_of", "pipeline_as_of", "pipeline_conversion",
	"league_table", "execution_metrics", "issuance_volume", "deal_timeline", "restatement_stats", "tap_family",
	"maturity_wall", "loan_flex_and_terms", "parse_coverage", "data_quality",
}

// Analysis is what the comment before an analysis' macro says of it.
type Analysis struct {
	Name  string
	Title string // one sentence: what it gives

	Definition, Parameters, Units, Caveats string

	Question string // what the example asks
	Example  string // a query that runs on any lake's catalog
}

// Analyses lists the analyses in the order of their files. The caller owns the slice.
func Analyses() []Analysis {
	var all []Analysis
	for _, name := range analysisFiles {
		text, err := fs.ReadFile(statements, "analyses/"+name+".sql")
		if err != nil {
			panic(err) // the list is this file's
		}
		for block := range strings.SplitSeq(string(text), "\n\n") {
			if a, ok := parseAnalysis(block); ok {
				all = append(all, a)
			}
		}
	}
	return all
}

// parseAnalysis reads the comment at the beginning of a block; ok is false where it describes no
// analysis. A comment that begins as one and is none is a mistake in the program.
func parseAnalysis(block string) (a Analysis, ok bool) {
	lines := strings.Split(block, "\n")
	title, isComment := strings.CutPrefix(lines[0], "-- ")
	if !isComment || len(lines) < 2 || lines[1] != "--" {
		return a, false
	}
	a.Name, a.Title, ok = strings.Cut(title, ": ")
	parts := map[string]*string{"Definition": &a.Definition, "Parameters": &a.Parameters, "Units": &a.Units, "Caveats": &a.Caveats, "Example": &a.Question}
	var part *string
	for _, line := range lines[2:] {
		text, isComment := strings.CutPrefix(line, "-- ")
		if !isComment {
			break
		}
		if name, first, found := strings.Cut(text, ": "); found && parts[name] != nil {
			part = parts[name]
			*part = first
			continue
		}
		switch {
		case part == &a.Question:
			a.Example += strings.TrimPrefix(text, "  ") + "\n"
		case part != nil:
			*part += " " + strings.TrimSpace(text)
		}
	}
	if !ok || a.Definition == "" || a.Units == "" || a.Caveats == "" || a.Example == "" {
		panic(fmt.Sprintf("analyses: the comment before %s is not whole", a.Name))
	}
	return a, true
}
