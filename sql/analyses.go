package sql

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Analysis is what the comment before an analysis' macro says of it.
type Analysis struct {
	Name  string
	Title string // one sentence: what it gives

	Definition, Parameters, Units, Caveats string

	Question string // what the example asks
	Example  string // a query that runs on any lake's catalog

	// AsOf are the queries that prove that the analysis keeps to its instant: what the catalog answers right after a
	// commit, it answers for good. Each is what follows FROM, with {as_of} for the instant. A query with {feed} is
	// meant for every feed ('bond', 'IG', 'priced'), with {deal_id} for one deal of it.
	AsOf []string
}

// Analyses lists the analyses in the order in which the catalog makes them: by file name, except that a file comes
// after those that it reads. The caller owns the slice. The error names the file whose comment is not complete.
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

// The lines below the title of an analysis: the file that must come first, and a query of Analysis.AsOf.
const (
	afterLine = "-- after: "
	asOfLine  = "-- as of: "
)

// analysisFile is a file of analyses/, without the ending of its name.
type analysisFile struct {
	name, text string
	after      []string // the files whose views or macros it reads
}

// analysisFiles reads the files of analyses/ in an order in which each finds what it reads.
func analysisFiles(from fs.FS) ([]analysisFile, error) {
	names, err := fs.Glob(from, "analyses/*.sql") // by name
	if err != nil {
		return nil, err
	}
	var left []analysisFile
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
		left = append(left, file)
	}
	var ordered []analysisFile
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(file analysisFile) bool {
			return !slices.ContainsFunc(file.after, func(other string) bool { return !holds(ordered, other) })
		})
		if next < 0 {
			return nil, fmt.Errorf("analyses/%s.sql: it comes after %s, which is no other file or comes after it", left[0].name, strings.Join(left[0].after, ", "))
		}
		ordered = append(ordered, left[next])
		left = slices.Delete(left, next, next+1)
	}
	return ordered, nil
}

func holds(files []analysisFile, name string) bool {
	return slices.ContainsFunc(files, func(file analysisFile) bool { return file.name == name })
}

// analyses reads what the file's comments say.
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

// parseAnalysis reads the comment at the beginning of a block; ok is false where it describes no
// analysis. A comment that begins as one and is not complete is an error.
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

// parts reads the named paragraphs of a comment.
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
		case part != nil:
			*part += " " + strings.TrimSpace(text)
		}
	}
}
