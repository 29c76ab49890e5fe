package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"dealflow/internal/exitcode"
	"dealflow/internal/testkit"
)

// The pages that show what the program prints.
const (
	readmePath    = "../../README.md"
	firstHourPath = "../../docs/tutorial/first-hour.md"
	exitsPath     = "../../docs/reference/exit-codes.md"
)

// TestReadme compares the examples in the README with what the program prints: the demonstration, the first SQL, the
// exit codes. It also checks docs/generated/analyses.md, whose examples query the same lake. What differs from run to run (port,
// folder, seconds) is masked.
func TestReadme(t *testing.T) {
	dir := t.TempDir() + "/demo-lake"
	demo := runMain(t, "demo", "--nights", "10", "--seed", "1", "--dir", dir)
	demo = strings.ReplaceAll(demo, os.Args[0], "bin/dealflow")
	demo = strings.ReplaceAll(demo, dir, "demo-lake")
	checkBlock(t, firstHourPath, "demo", "```\n"+demo+"```\n")
	_, nights, _ := strings.Cut(demo, "\n\nnight")
	checkBlock(t, readmePath, "nights", "```\nnight"+strings.Join(strings.SplitAfter(nights, "\n")[:6], "")+"```\n")

	block := pageBlock(t, readmePath, "query")
	_, command, _ := strings.Cut(block, `demo-lake "`)
	question, _, _ := strings.Cut(command, `"`)
	prompt := strings.TrimPrefix(block[:strings.Index(block, question)+len(question)], "```console\n")
	answer := runMain(t, "query", "--lake", dir, question)
	checkBlock(t, readmePath, "query", "```console\n"+prompt+"\"\n"+answer+"```\n")

	var table strings.Builder
	table.WriteString("| code | meaning |\n|---|---|\n")
	for _, e := range exitcode.Table() {
		fmt.Fprintf(&table, "| %d | %s |\n", e.Code, e.Text)
	}
	checkBlock(t, exitsPath, "exits", table.String())
	checkAnalysesDoc(t, dir)
}

// runMain runs the program in this process and returns its stdout.
func runMain(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	code := Main(t.Context(), args, environment{
		Now: time.Now, Stdin: strings.NewReader(""), Stdout: &out, Stderr: t.Output(),
	})
	if code != 0 {
		t.Fatalf("%v: exit code %d", args, code)
	}
	return out.String()
}

// pageBlock returns the text of a page between <!-- name --> and <!-- /name -->.
func pageBlock(t *testing.T, page, name string) string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok1 := strings.Cut(string(data), "<!-- "+name+" -->\n")
	block, _, ok2 := strings.Cut(rest, "<!-- /"+name+" -->")
	if !ok1 || !ok2 {
		t.Fatalf("%s has no block %s", page, name)
	}
	return block
}

func checkBlock(t *testing.T, page, name, want string) {
	t.Helper()
	got := pageBlock(t, page, name)
	if testkit.Updating() {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		marked := func(block string) string { return "<!-- " + name + " -->\n" + block + "<!-- /" + name + " -->" }
		text := strings.Replace(string(data), marked(got), marked(want), 1)
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if lasting(got) != lasting(want) {
		t.Errorf("%s: the block %s is not what the program prints (go test ./cmd/dealflow -run TestReadme -update rewrites it).\npage:\n%s\nprogram:\n%s", page, name, got, want)
	}
}

var (
	port    = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	seconds = regexp.MustCompile(`(?m)^( +\d+  \d{4}-\d\d-\d\d(?: +\d+){5}) +[\d.]+$`)
)

// lasting masks the parts of a text that differ from run to run.
func lasting(text string) string {
	return seconds.ReplaceAllString(port.ReplaceAllString(text, "127.0.0.1:PORT"), "$1 SECONDS")
}
