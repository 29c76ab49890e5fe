package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// outputOf runs a command line, which must succeed, and returns its stdout.
func outputOf(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := Main(t.Context(), args, environment{Now: time.Now, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}); code != 0 {
		t.Fatalf("%q ends with %d: %s", args, code, stderr.String())
	}
	return stdout.String()
}

// TestVersion checks what a release says of itself, and that a run's commit says the same.
func TestVersion(t *testing.T) {
	before := [3]string{releaseVersion, releaseRevision, releaseTime}
	t.Cleanup(func() { releaseVersion, releaseRevision, releaseTime = before[0], before[1], before[2] })
	const commit = "4f2a90c1d3e45b6f708192a3b4c5d6e7f8091a2b"
	for _, c := range []struct{ version, revision, want string }{
		{"0.1.0", commit, "0.1.0+4f2a90c1d3e4"},
		{"0.1.0-dev", commit + "-dirty", "0.1.0-dev+4f2a90c1d3e4.dirty"},
		{"0.1.0", "", "0.1.0"},
	} {
		releaseVersion, releaseRevision = c.version, c.revision
		if c.revision == "" && buildSetting("vcs.revision") != "" {
			continue
		}
		if got := outputOf(t, "--version"); got != "dealflow version "+c.want+"\n" {
			t.Errorf("--version prints %q, want %s", got, c.want)
		}
		var said struct{ Version, Revision string }
		if err := json.Unmarshal([]byte(outputOf(t, "version", "--json")), &said); err != nil || said.Version != c.want || said.Revision != c.revision {
			t.Errorf("version --json has %+v, %v, want %s of %s", said, err, c.want, c.revision)
		}
	}
	releaseVersion, releaseRevision = "0.1.0", commit
	dir := filepath.Join(t.TempDir(), "demo")
	outputOf(t, "demo", "--nights", "3", "--deals", "5", "--dir", dir)
	if runs := outputOf(t, "runs", "--lake", dir, "--json"); strings.Count(runs, `"dealflow_version": "0.1.0+4f2a90c1d3e4"`) != 3 {
		t.Errorf("the commits of three runs do not name the version:\n%s", runs)
	}
}

// TestManPages checks that there is a page for each command, and that the same program writes the same bytes.
func TestManPages(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	outputOf(t, "man", one)
	outputOf(t, "man", two)
	pages := 0
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		first, err1 := os.ReadFile(filepath.Join(one, name))
		second, err2 := os.ReadFile(filepath.Join(two, name))
		if err1 != nil || err2 != nil || !bytes.Equal(first, second) || !bytes.Contains(first, []byte(".SH SYNOPSIS")) {
			t.Errorf("%s: %v, %v, or its bytes differ:\n%.200s", name, err1, err2, first)
		}
		pages++
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				walk(sub)
			}
		}
	}
	walk(new(app).root())
	if pages < 25 {
		t.Errorf("%d pages were checked: the test sees too little", pages)
	}
}

// TestCompletions checks what a shell proposes for the values of flags, and that the scripts of all shells are there.
func TestCompletions(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("dealflow.yaml", []byte("profiles: {test: {lake: a}, production: {lake: b}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"run --contract":                   "report\nfreeze\n",
		"sync --log-format":                "text\njson\n",
		"query --format":                   "table\n",
		"status --profile":                 "production\ntest\n",
		"run --feeds bond/ig/priced,loan/": "bond/ig/priced,loan/ll/priced\n",
	} {
		args := append([]string{"__complete"}, strings.Fields(line)...)
		if !strings.HasSuffix(line, "/") {
			args = append(args, "")
		}
		if got := outputOf(t, args...); !strings.Contains(got, want) {
			t.Errorf("%s is completed by\n%s\nwant\n%s", line, got, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if script := outputOf(t, "completion", shell); !strings.Contains(script, "dealflow") {
			t.Errorf("completion %s prints %q", shell, script)
		}
	}
	if err := os.WriteFile("dealflow.yaml", []byte("laek: a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	outputOf(t, "completion", "bash") // whatever is in the file
}

// TestVersionIsInChangelog checks that the changelog has a section for the version that is being made.
func TestVersionIsInChangelog(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	number, _, _ := strings.Cut(releaseVersion, "-")
	if !strings.Contains(string(text), "\n## "+number+" ") {
		t.Errorf("CHANGELOG.md has no section for %s", number)
	}
}
