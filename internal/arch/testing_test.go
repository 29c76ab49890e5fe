package arch_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// variable is a variable that says how much tests try.
var variable = regexp.MustCompile(`\bTEST_[A-Z0-9_]+\b`)

// TestTestingDocument checks that each test and each variable that TESTING.md names exists, and that it names each
// variable that Makefile and .ci/run set.
func TestTestingDocument(t *testing.T) {
	const root = "../.."
	document := text(t, filepath.Join(root, "TESTING.md"))
	var tests strings.Builder
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && (strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testkit") && strings.HasSuffix(path, ".go")) {
			tests.WriteString(text(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`\b(Test|Benchmark)[A-Z]\w+`).FindAllString(document, -1)
	for _, name := range names {
		if !strings.Contains(tests.String(), "\nfunc "+name+"(") {
			t.Errorf("TESTING.md names %s, which is not a test", name)
		}
	}
	variables := variable.FindAllString(document, -1)
	for _, name := range variables {
		if !strings.Contains(tests.String(), `"`+name+`"`) {
			t.Errorf("TESTING.md names %s, which no test reads", name)
		}
	}
	for _, path := range []string{"Makefile", ".ci/run"} {
		for _, name := range variable.FindAllString(text(t, filepath.Join(root, path)), -1) {
			if !strings.Contains(document, "| `"+name+"` |") {
				t.Errorf("%s sets %s, which is not in the table of TESTING.md", path, name)
			}
		}
	}
	if len(names) < 30 || len(variables) < 15 {
		t.Errorf("%d tests and %d variables were found in TESTING.md: the check sees too little", len(names), len(variables))
	}
}

// TestBenchmarksGetVariables checks that the variables in front of a command of the Makefile reach the benchmarks: in
// `TEST_SIZES=1k mkdir -p bench && go test`, they reach mkdir alone.
func TestBenchmarksGetVariables(t *testing.T) {
	dry := exec.CommandContext(t.Context(), "make", "--dry-run", "bench", "bench-peers")
	dry.Dir = "../.."
	lines, err := dry.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, lines)
	}
	set := regexp.MustCompile(`(?m)^(?:TEST_\w+=\S+ )+(.*)$`).FindAllStringSubmatch(string(lines), -1)
	for _, line := range set {
		if !strings.HasPrefix(line[1], "go test ") {
			t.Errorf("not go test, but another command gets the variables: %s", line[0])
		}
	}
	if len(set) < 5 {
		t.Errorf("%d lines with variables were found: the check sees too little\n%s", len(set), lines)
	}
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
