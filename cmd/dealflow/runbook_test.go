package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dealflow/internal/exitcode"
	"dealflow/internal/logs"
	"dealflow/internal/status"
)

// TestRunbookIsComplete checks that the runbook has an entry for each exit code, each check of doctor, each finding of
// status, each line of the log that is a warning or an error, and each warning of a result; and no others.
func TestRunbookIsComplete(t *testing.T) {
	page, err := os.ReadFile("../../docs/how-to/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	var codes, findings []string
	for _, e := range exitcode.Table() {
		codes = append(codes, strconv.Itoa(e.Code))
	}
	for kind := range status.Kinds() {
		findings = append(findings, kind)
	}
	lines, warnings := sourceWarnings(t)
	for _, c := range []struct {
		section string
		least   int
		want    []string
	}{
		{"Exit codes", 14, codes},
		{"What doctor finds", 15, doctorChecks(t)},
		{"What status finds", 19, findings},
		{"Lines of the log", 30, lines},
		{"Warnings of a result", 15, warnings},
	} {
		if len(c.want) < c.least {
			t.Errorf("%s: the program has %d, want at least %d: the test sees too little", c.section, len(c.want), c.least)
		}
		entries := runbookEntries(t, string(page), c.section)
		for _, name := range c.want {
			if entries[name] == 0 {
				t.Errorf("docs/how-to/runbook.md lacks an entry for %q under %q: say what it means and what to do", name, c.section)
			}
		}
		for name, n := range entries {
			switch {
			case !slices.Contains(c.want, name):
				t.Errorf("docs/how-to/runbook.md has an entry for %q under %q, which the program does not have", name, c.section)
			case n > 1:
				t.Errorf("docs/how-to/runbook.md has %d entries for %q under %q, want one", n, name, c.section)
			}
		}
	}
}

// runbookEntries returns how many entries a section has under each name. An entry is an item of a list that begins with
// its names in bold, and has a sentence.
func runbookEntries(t *testing.T, page, section string) map[string]int {
	t.Helper()
	_, rest, ok := strings.Cut(page, "\n## "+section+"\n")
	if !ok {
		t.Fatalf("docs/how-to/runbook.md has no section %q", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	entries := map[string]int{}
	for item := range strings.SplitSeq(rest, "\n- ") {
		match := regexp.MustCompile(`(?s)^\*\*(.+?)\*\*:(.*)`).FindStringSubmatch(item)
		if match == nil {
			continue
		}
		name := strings.Join(strings.Fields(match[1]), " ")
		entries[name]++
		if text := strings.Join(strings.Fields(match[2]), " "); len(text) < 20 || !strings.HasSuffix(text, ".") && !strings.Contains(text, ". ") {
			t.Errorf("docs/how-to/runbook.md: the entry %q under %q says %q: want what to do", name, section, text)
		}
	}
	return entries
}

// doctorChecks returns the names of doctor's checks: what its source passes to the makers of diagnoses.
func doctorChecks(t *testing.T) (checks []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doctor.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	makers := []string{"found", "skipped", "problem", "diagnoseDisk"}
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || slices.Contains(makers, function.Name.Name) {
			continue
		}
		constant := ""
		ast.Inspect(function, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && spec.Names[0].Name == "check" {
				constant = literalText(spec.Values[0])
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || !slices.Contains(makers, types.ExprString(call.Fun)) {
				return true
			}
			name := literalText(call.Args[0])
			if types.ExprString(call.Args[0]) == "check" {
				name = constant
			}
			if name == "" {
				t.Errorf("doctor.go, %s: the name of a check is %s, want a literal or the constant check", function.Name.Name, types.ExprString(call.Args[0]))
			} else if !slices.Contains(checks, name) {
				checks = append(checks, name)
			}
			return true
		})
	}
	return checks
}

// sourceWarnings reads the source of the program. It returns the names of the lines that are logged as warnings or errors,
// and the texts that are warnings of a result, with … for what is put into them.
func sourceWarnings(t *testing.T) (lines, warnings []string) {
	t.Helper()
	const root = "../.."
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == "bin" || name == "bench" || name == "testkit" || strings.HasPrefix(name, ".") && name != "..") {
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
			if call, ok := n.(*ast.CallExpr); ok && isLogged(call) {
				name := literalText(call.Args[0])
				switch types.ExprString(call.Args[0]) {
				case "logs.CommandFailed":
					name = logs.CommandFailed
				case "logs.Warning":
					name = logs.Warning
				}
				lines = append(lines, name)
			}
			for _, e := range warningTexts(n) {
				switch text := formText(e); {
				case text == "" && !namesWarning(e):
					t.Errorf("%s: the warning %s has no text that a test can read: give it a literal, or a name that ends in Warning", files.Position(n.Pos()), types.ExprString(e))
				case text != "" && text != "…: …": // that one is a step, whose name is found where the step is
					warnings = append(warnings, text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	slices.Sort(warnings)
	return slices.Compact(lines), slices.Compact(warnings)
}

// isLogged reports whether a call writes a warning or an error to the log.
func isLogged(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (method.Sel.Name == "Warn" || method.Sel.Name == "Error") && len(call.Args) > 0 &&
		regexp.MustCompile(`(?i)(log|log\(\)|logger\(\)|say\(\))$`).MatchString(types.ExprString(method.X)) // as in the test of the vocabulary
}

// warningTexts returns the expressions that a node makes warnings of a result.
func warningTexts(n ast.Node) (texts []ast.Expr) {
	switch n := n.(type) {
	case *ast.CallExpr:
		function := types.ExprString(n.Fun)
		switch {
		case strings.HasSuffix(function, ".warn") && len(n.Args) == 1, // of a result
			(function == "warn" || strings.HasSuffix(function, ".warner(result)")) && isSentence(n.Args[0]): // of a step
			return n.Args[:1]
		case function == "append" && strings.HasSuffix(strings.ToLower(types.ExprString(n.Args[0])), ".warnings") && !n.Ellipsis.IsValid():
			return n.Args[1:]
		}
	case *ast.ValueSpec: // a constant
		if len(n.Values) == 1 && strings.HasSuffix(n.Names[0].Name, "Warning") && isSentence(n.Values[0]) {
			return n.Values
		}
	case *ast.AssignStmt:
		if len(n.Rhs) == 1 && formText(n.Rhs[0]) != "" && types.ExprString(n.Lhs[0]) == "warning" {
			return n.Rhs
		}
	case *ast.FuncDecl: // one that returns a warning
		results := n.Type.Results
		named := results != nil && len(results.List) > 0 && len(results.List[0].Names) > 0 && results.List[0].Names[0].Name == "warning"
		if !named && !strings.HasSuffix(n.Name.Name, "Warning") || n.Body == nil {
			return nil
		}
		ast.Inspect(n.Body, func(inner ast.Node) bool {
			if back, ok := inner.(*ast.ReturnStmt); ok && len(back.Results) > 0 && formText(back.Results[0]) != "" {
				texts = append(texts, back.Results[0])
			}
			return true
		})
	}
	return texts
}

// isSentence reports whether a literal is a text for people, and no word or command line.
func isSentence(e ast.Expr) bool {
	text := literalText(e)
	return strings.Contains(text, " ") && !strings.Contains(text, " --")
}

// namesWarning reports whether an expression passes on a text that another one has made.
func namesWarning(e ast.Expr) bool {
	return regexp.MustCompile(`^(warning|text|.*Warning(\(.*\))?)$`).MatchString(types.ExprString(e))
}

// formText returns the text of a literal, of a call of Sprintf, or of a sum, with … for what is put into it; "" for another
// expression.
func formText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		return regexp.MustCompile(`%[a-z]`).ReplaceAllString(literalText(e), "…")
	case *ast.BinaryExpr:
		if left := formText(e.X); left != "" {
			if right := formText(e.Y); right != "" {
				return left + right
			}
			return left + "…"
		}
	case *ast.CallExpr:
		if types.ExprString(e.Fun) == "fmt.Sprintf" {
			return formText(e.Args[0])
		}
	}
	return ""
}

// literalText returns the text of a literal, "" for another expression.
func literalText(e ast.Expr) string {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return text
}

// TestRecipesNameSettings checks that the variables of dealflow that the recipes and the page about them set exist.
func TestRecipesNameSettings(t *testing.T) {
	settings, err := os.ReadFile("../../docs/generated/settings.md") // it is made from the flags
	if err != nil {
		t.Fatal(err)
	}
	ours := regexp.MustCompile(`\bDEALFLOW_[A-Z_]+`)
	known := append(ours.FindAllString(string(settings), -1), "DEALFLOW_PORT") // which a cluster sets, and no recipe
	names, files := 0, []string{"../../docs/how-to/schedule.md"}
	err = filepath.WalkDir("../../docs/ops", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range ours.FindAllString(string(data), -1) {
			names++
			if !strings.HasSuffix(name, "_") && !slices.Contains(known, name) { // one that ends in _ is the beginning of names
				t.Errorf("%s names the variable %s, which no setting has", path, name)
			}
		}
	}
	if names < 40 || len(files) < 15 {
		t.Errorf("%d names were found in %d files: the test sees too little", names, len(files))
	}
}

// TestRecipesKnowExitCodes checks that the recipes say of each exit code whether a run is tried again: an error, some feeds
// that failed, and another run that won; a new code is in none of the lists until a person has decided.
func TestRecipesKnowExitCodes(t *testing.T) {
	again := []string{"1", "3", "11"}
	var want []string // codes that end a night
	for _, e := range exitcode.Table() {
		if code := strconv.Itoa(e.Code); e.Code != 0 && !slices.Contains(again, code) {
			want = append(want, code)
		}
	}
	for path, list := range map[string]string{
		"systemd/dealflow-run.service": `(?m)^RestartPreventExitStatus=(.*)$`,
		"kubernetes/cronjobs.yaml":     `operator: In, values: \[(.*)\]`,
		"airflow/dealflow_lake.py":     `(?m)^TRY_AGAIN = \{(.*)\}$`,
		"dagster/dealflow_lake.py":     `(?m)^TRY_AGAIN = \{(.*)\}$`,
	} {
		data, err := os.ReadFile("../../docs/ops/" + path)
		if err != nil {
			t.Fatal(err)
		}
		match := regexp.MustCompile(list).FindStringSubmatch(string(data))
		if match == nil {
			t.Errorf("docs/ops/%s has no list %s", path, list)
			continue
		}
		codes, wanted := strings.Fields(strings.ReplaceAll(match[1], ",", " ")), want
		if strings.Contains(list, "TRY_AGAIN") {
			wanted = again
		}
		if !slices.Equal(codes, wanted) {
			t.Errorf("docs/ops/%s has the exit codes %q, want %q", path, codes, wanted)
		}
	}
}
