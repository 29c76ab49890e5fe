package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit"
)

const readmePath = "../../README.md"

// TestReadme compares what the README shows with what the program prints: the demonstration, the first SQL,
// the exit codes; and docs/generated/analyses.md, whose examples are asked of the same lake. What differs from run to run (port, folder, seconds) is left out of the comparison.
func TestReadme(t *testing.T) {
	dir := t.TempDir() + "/demo-lake"
	demo := runMain(t, "demo", "--nights", "10", "--seed", "1", "--dir", dir)
	demo = strings.ReplaceAll(demo, os.Args[0], "bin/dealflow")
	demo = strings.ReplaceAll(demo, dir, "demo-lake")
	checkBlock(t, "demo", "```\n"+demo+"```\n")

	block := readmeBlock(t, "query")
	_, command, _ := strings.Cut(block, `demo-lake "`)
	question, _, _ := strings.Cut(command, `"`)
	prompt := strings.TrimPrefix(block[:strings.Index(block, question)+len(question)], "```console\n")
	answer := runMain(t, "query", "--lake", dir, question)
	checkBlock(t, "query", "```console\n"+prompt+"\"\n"+answer+"```\n")

	var table strings.Builder
	table.WriteString("| code | meaning |\n|---|---|\n")
	for _, e := range exits {
		fmt.Fprintf(&table, "| %d | %s |\n", e.code, e.meaning)
	}
	checkBlock(t, "exits", table.String())
	checkAnalysesDoc(t, dir)
}

// runMain runs the program in this process and gives its stdout.
func runMain(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	code := Main(t.Context(), args, environment{
		Getenv: func(string) string { return "" }, Now: time.Now, Stdin: strings.NewReader(""), Stdout: &out, Stderr: t.Output(),
	})
	if code != 0 {
		t.Fatalf("%v: exit code %d", args, code)
	}
	return out.String()
}

// readmeBlock is what stands between <!-- name --> and <!-- /name -->.
func readmeBlock(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(readmePath)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok1 := strings.Cut(string(data), "<!-- "+name+" -->\n")
	block, _, ok2 := strings.Cut(rest, "<!-- /"+name+" -->")
	if !ok1 || !ok2 {
		t.Fatalf("README has no block %s", name)
	}
	return block
}

func checkBlock(t *testing.T, name, want string) {
	t.Helper()
	got := readmeBlock(t, name)
	if testkit.Updating() {
		data, err := os.ReadFile(readmePath)
		if err != nil {
			t.Fatal(err)
		}
		marked := func(block string) string { return "<!-- " + name + " -->\n" + block + "<!-- /" + name + " -->" }
		text := strings.Replace(string(data), marked(got), marked(want), 1)
		if err := os.WriteFile(readmePath, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if lasting(got) != lasting(want) {
		t.Errorf("README's block %s is not what the program prints (go test ./cmd/dealflow -run TestReadme -update rewrites it).\nREADME:\n%s\nprogram:\n%s", name, got, want)
	}
}

var (
	port    = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	seconds = regexp.MustCompile(`(?m)^( +\d+  \d{4}-\d\d-\d\d(?: +\d+){5}) +[\d.]+$`)
)

// lasting masks what differs from run to run.
func lasting(text string) string {
	return seconds.ReplaceAllString(port.ReplaceAllString(text, "127.0.0.1:PORT"), "$1 SECONDS")
}
