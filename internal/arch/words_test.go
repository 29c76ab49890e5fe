package arch_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// plainer has words that readers of other mother tongues read twice, and what to write instead.
var plainer = map[string]string{
	"behind":       "after, or older than",
	"beside":       "next to",
	"lies":         "is under, is in, is between",
	"but for":      "except",
	"whoever":      "the caller, the reader, the writer",
	"nobody":       "no caller, no reader",
	"somebody":     "a person, a caller",
	"anew":         "again",
	"afresh":       "again, from scratch",
	"hangs on":     "depends on",
	"goes on from": "continues from",
	"so many":      "the number",
	"held against": "compared with",
	"stands":       "is current, exists, is at",
	"alike":        "the same, equal",
	"meanwhile":    "since, at the same time",
}

// codeSpans are names in a page, such as those of flags.
var codeSpans = regexp.MustCompile("`[^`]*`|--[a-z][a-z-]*")

// TestPlainWords keeps words out of Go comments, SQL files and pages, for which there are plainer ones. The generated
// pages show the help texts, the docs of columns and the comments of analyses.
// It also refuses identifiers named of, which say nothing.
func TestPlainWords(t *testing.T) {
	const root = "../.."
	var list []string
	for word := range plainer {
		list = append(list, word)
	}
	words := regexp.MustCompile(`(?i)\b(` + strings.Join(list, "|") + `)\b`)
	check := func(where, text string) {
		if word := words.FindString(text); word != "" {
			t.Errorf("%s: %q: write %s (docs/reference/glossary.md)", where, word, plainer[strings.ToLower(word)])
		}
	}
	checkLines := func(path string) {
		for i, line := range strings.Split(text(t, path), "\n") {
			check(fmt.Sprintf("%s:%d", path, i+1), codeSpans.ReplaceAllString(line, ""))
		}
	}
	comments, statements, pages := 0, 0, 0
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && skipped(path) {
				return filepath.SkipDir
			}
			return err
		}
		switch filepath.Ext(path) {
		case ".go":
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, group := range file.Comments {
				for _, comment := range group.List {
					comments++
					check(files.Position(comment.Pos()).String(), withoutCode(comment))
				}
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if name, ok := node.(*ast.Ident); ok && name.Name == "of" {
					t.Errorf("%s: an identifier is named of: name what it is, or what the function does", files.Position(name.Pos()))
				}
				return true
			})
		case ".sql":
			statements++
			checkLines(path)
		case ".md":
			pages++
			checkLines(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if comments < 3000 || statements < 40 || pages < 40 {
		t.Errorf("%d comments, %d SQL files and %d pages were read: the check sees too little", comments, statements, pages)
	}
}

// skipped says whether a folder has no text of ours: hidden ones, what is built, test data.
func skipped(path string) bool {
	name := filepath.Base(path)
	return name != ".." && strings.HasPrefix(name, ".") || name == "bin" || name == "testdata"
}

// withoutCode drops what a comment quotes: texts in quotation marks or backticks are the program's, not ours.
func withoutCode(comment *ast.Comment) string {
	return quoted.ReplaceAllString(comment.Text, "")
}

var quoted = regexp.MustCompile("`[^`]*`|\"[^\"]*\"")
