package sql

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Analysis is the comment before an analysis' macro, by part.
type Analysis struct {
	Name  string
	Title string // one sentence: what it returns

	// Each is a paragraph on one line; the items of a list follow on lines of their own, which begin with "- ".
	Definition, Parameters, Units, Caveats string

	Question string // the question that the example answers
	Example  string // a query that runs on any lake's catalog

	// AsOf are the queries that prove that the analysis keeps to its instant: the answer right after a commit never
	// changes later. Each is the text after FROM, with {as_of} for the instant. A query with {feed} is run for every
	// feed ('bond', 'IG', 'priced'), a query with {deal_id} for one deal of it.
	AsOf []string
}

// Analyses lists the analyses in the order in which the catalog creates them: by file name, except that a file comes
// after those that it reads. The caller owns the slice. The error names the file whose comment is incomplete.
func Analyses() ([]Analysis, error) {
	files, err := analysisFiles(statements)
	if err != nil {
		return nil, err
	}
	var all []Analysis
	for i := range files {
		described, err := files[i].analyses()
		if err != nil {
			return nil, fmt.Errorf("analyses/%s.sql: %w", files[i].name, err)
		}
		all = append(all, described...)
	}
	return all, nil
}

// Prefixes of the lines below an analysis' title: the file that must come first, and a query of Analysis.AsOf.
const (
	afterLine = "-- after: "
	asOfLine  = "-- as of: "
)

// analysisFile is a file of analyses/; name has no ".sql".
type analysisFile struct {
	name, text string
	after      []string // the files whose views or macros it reads
}

// analysisFiles reads the files of analyses/ and orders them so that each comes after those that it reads.
func analysisFiles(from fs.FS) ([]analysisFile, error) {
	names, err := fs.Glob(from, "analyses/*.sql") // by name
	if err != nil {
		return nil, err
	}
	var remaining []analysisFile
	for _, name := range names {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, err
		}
		file := analysisFile{name: strings.TrimSuffix(path.Base(name), ".sql"), text: string(text)}
		for line := range strings.Lines(file.text) {
			if other, ok := strings.CutPrefix(line, afterLine); ok {
				file.after = append(file.after, strings.TrimSpace(other))
			}
		}
		remaining = append(remaining, file)
	}
	var ordered []analysisFile
	for len(remaining) > 0 {
		next := slices.IndexFunc(remaining, func(file analysisFile) bool {
			return !slices.ContainsFunc(file.after, func(other string) bool { return !contains(ordered, other) })
		})
		if next < 0 {
			return nil, fmt.Errorf("analyses/%s.sql: it comes after %s: want existing files, and no circle", remaining[0].name, strings.Join(remaining[0].after, ", "))
		}
		ordered = append(ordered, remaining[next])
		remaining = slices.Delete(remaining, next, next+1)
	}
	return ordered, nil
}

func contains(files []analysisFile, name string) bool {
	return slices.ContainsFunc(files, func(file analysisFile) bool { return file.name == name })
}

// analyses parses the comments of the file.
func (f *analysisFile) analyses() ([]Analysis, error) {
	var all []Analysis
	for block := range strings.SplitSeq(f.text, "\n\n") {
		a, ok, err := parseAnalysis(block)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no comment describes an analysis")
	}
	return all, nil
}

// parseAnalysis parses the comment at the beginning of a block. ok is false if the comment describes no analysis. A
// comment that begins like a description and is incomplete is an error.
func parseAnalysis(block string) (a Analysis, ok bool, err error) {
	lines := strings.Split(block, "\n")
	title, isComment := strings.CutPrefix(lines[0], "-- ")
	end := slices.Index(lines, "--")
	if !isComment || end < 0 {
		return a, false, nil
	}
	a.Name, a.Title, ok = strings.Cut(title, ": ")
	for _, line := range lines[1:end] {
		query, isQuery := strings.CutPrefix(line, asOfLine)
		switch {
		case isQuery && strings.Contains(query, "{as_of}"):
			a.AsOf = append(a.AsOf, query)
		case isQuery:
			return a, false, fmt.Errorf("%s: the query %q has no {as_of}", a.Name, query)
		case !strings.HasPrefix(line, afterLine):
			return a, false, fmt.Errorf("%s: want the title on one line, then lines %q and %q, got %q", a.Name, afterLine, asOfLine, line)
		}
	}
	a.parts(lines[end+1:])
	if !ok || a.Definition == "" || a.Units == "" || a.Caveats == "" || a.Example == "" || len(a.AsOf) == 0 {
		return a, false, fmt.Errorf("the comment before %s is not complete: want a title, a line %q, Definition, Units, Caveats and Example", a.Name, asOfLine)
	}
	return a, true, nil
}

// macroHead matches how a statement of the layout begins that creates a macro for readers: its name and parameters.
var macroHead = regexp.MustCompile(`CREATE MACRO main\.(\w+)\(([^)]*)\)`)

// OptionalParameters returns the parameters that have a default, by macro of the catalog. The caller owns the map.
func OptionalParameters() (map[string][]string, error) {
	texts, err := allTexts()
	all := map[string][]string{}
	for _, text := range texts {
		for _, found := range macroHead.FindAllStringSubmatch(text, -1) {
			for param := range strings.SplitSeq(found[2], ", ") {
				if name, _, ok := strings.Cut(param, " := "); ok {
					all[found[1]] = append(all[found[1]], name)
				}
			}
		}
	}
	return all, err
}

// parts reads the named paragraphs of a comment into the analysis.
func (a *Analysis) parts(lines []string) {
	parts := map[string]*string{"Definition": &a.Definition, "Parameters": &a.Parameters, "Units": &a.Units, "Caveats": &a.Caveats, "Example": &a.Question}
	var part *string
	for _, line := range lines {
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
		case part != nil && strings.HasPrefix(text, "  - "):
			*part += "\n" + strings.TrimSpace(text)
		case part != nil:
			*part += " " + strings.TrimSpace(text)
		}
	}
}
