package logs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dealflow/internal/logs"
	"dealflow/internal/testkit"
)

// logger is an expression that is a logger of log/slog.
var logger = regexp.MustCompile(`(?i)(log|log\(\)|logger\(\)|say\(\))$`)

// TestVocabulary finds all calls of loggers in the program, and checks that each has a name and fields of the vocabulary,
// and that each name of the vocabulary is used.
func TestVocabulary(t *testing.T) {
	const root = "../.."
	used := map[string]bool{}
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == "bench" || name == "testkit" || strings.HasPrefix(name, ".") && name != "..") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if name := checkCall(t, files.Position(call.Pos()).String(), call); name != "" {
					used[name] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range logs.Vocabulary {
		if !used[word.Name] {
			t.Errorf("%q is in the vocabulary, but no line has it", word.Name)
		}
	}
	if len(used) < 40 {
		t.Errorf("%d names were found: the test sees too little", len(used))
	}
}

// checkCall checks a call of a logger, and returns the name of its line; "" for another call.
func checkCall(t *testing.T, where string, call *ast.CallExpr) string {
	t.Helper()
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !logger.MatchString(types.ExprString(method.X)) {
		return ""
	}
	args := call.Args
	switch method.Sel.Name {
	case "Debug", "Info", "Warn", "Error":
	case "Log":
		args = args[2:]
	default:
		return ""
	}
	name, ok := text(args[0])
	word := logs.Find(name)
	if !ok || word == nil {
		t.Errorf("%s: %s is not in the vocabulary (internal/logs/vocabulary.go)", where, types.ExprString(args[0]))
		return ""
	}
	for i := 1; i < len(args) && !call.Ellipsis.IsValid(); {
		if inner, ok := args[i].(*ast.CallExpr); ok && strings.HasPrefix(types.ExprString(inner.Fun), "logs.") {
			i++
			continue
		}
		if key, ok := text(args[i]); !ok || !slices.Contains(word.Fields, key) {
			t.Errorf("%s: %q has the field %s, which the vocabulary lacks", where, name, types.ExprString(args[i]))
		}
		i += 2
	}
	return name
}

func text(e ast.Expr) (string, bool) {
	switch types.ExprString(e) {
	case "logs.CommandFailed":
		return logs.CommandFailed, true
	case "logs.Warning":
		return logs.Warning, true
	}
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(literal.Value)
	return s, err == nil
}

// TestLogDoc compares docs/generated/log.md with the vocabulary.
func TestLogDoc(t *testing.T) {
	var page strings.Builder
	page.WriteString(testkit.Generated + "# Lines on stderr\n\n" +
		testkit.Wrap("Every line that a command prints on stderr is one of these. With `--log-format json` it is an object with `time`, `level` (DEBUG, INFO, WARN or ERROR), `msg` (the name below) and the fields. [Logs](../reference/logs.md) says more. Names and fields are only ever added.", "") +
		"\n\n| msg | fields | what |\n|---|---|---|\n")
	for _, word := range logs.Vocabulary {
		var fields []string
		for _, f := range word.Fields {
			fields = append(fields, "`"+f+"`")
		}
		fmt.Fprintf(&page, "| %s | %s | %s |\n", word.Name, strings.Join(fields, ", "), word.Meaning)
	}
	testkit.Golden(t, "../../docs/generated/log.md", []byte(page.String()))
}
