package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBadPaths checks that every command refuses a path that the name of a file of DuckDB cannot have, in the same way, and
// creates nothing.
func TestBadPaths(t *testing.T) {
	for name, want := range map[string]string{"two\nlines": "control characters", "what?": "without ?", "caf\xe9": "UTF-8"} {
		t.Run(want, func(t *testing.T) { testBadPath(t, name, want) })
	}
}

func testBadPath(t *testing.T, name, reason string) {
	parent := t.TempDir()
	path := filepath.Join(parent, name)
	env := []string{"DEALFLOW_API=http://127.0.0.1:1", "DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo"}
	refused := func(want string, args ...string) {
		t.Helper()
		var stdout, stderr strings.Builder
		code := Main(t.Context(), args, environment{Environ: env, Now: time.Now, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		if code != 2 || !strings.Contains(stderr.String(), want) || stdout.Len() > 0 {
			t.Errorf("%q ends with %d, want 2 and %q:\n%s%s", args, code, want, stdout.String(), stderr.String())
		}
	}
	root := new(app).root()
	commands := 0
	for _, cmd := range root.Commands() {
		if cmd.Hidden || cmd.Name() == "version" || cmd.Name() == "demo" || cmd.Name() == "man" { // they use no lake of the settings
			continue
		}
		commands++
		for _, flag := range []string{"lake", "work-dir", "cache-dir"} {
			args := []string{cmd.Name(), "--" + flag, path}
			switch cmd.Name() {
			case "copy":
				args = append(args, filepath.Join(parent, "source"), filepath.Join(parent, "target"))
			case "ddl":
				args = append(args, "postgres")
			case "export":
				args = append(args, "--full", filepath.Join(parent, "target"))
			case "quarantine":
				args = append(args, "list")
			case "lease":
				args = append(args, "show")
			case "query":
				args = append(args, "SELECT 1")
			case "serve":
				if flag != "lake" {
					args = append(args, "--sim")
				}
			}
			refused("--"+flag+" ", args...)
		}
	}
	if commands < 14 {
		t.Errorf("%d commands were tried: the test sees too little", commands)
	}
	refused(reason, "demo", "--dir", path)
	refused(reason, "copy", filepath.Join(parent, "source"), path)
	refused(reason, "copy", path, filepath.Join(parent, "target"))
	refused(reason, "upgrade", "--lake", filepath.Join(parent, "source"), "--to", path)
	refused("control characters", "status", "--lake", filepath.Join(parent, "a\tb"))
	env = append(env, "DEALFLOW_LAKE="+path)
	refused("--lake, from DEALFLOW_LAKE: ", "status")
	env = env[:len(env)-1]
	t.Setenv("TMPDIR", path)
	refused("TMPDIR", "status")
	refused(reason, "status")
	for _, name := range []string{"100%", "a#b", "day=1"} { // a lake may be there, but DuckDB makes no files there
		refused("want a path without the characters", "status", "--work-dir", filepath.Join(parent, name))
		t.Setenv("TMPDIR", filepath.Join(parent, name))
		refused("(TMPDIR)", "status")
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
		t.Errorf("created: %v, %v", entries, err)
	}
}

// TestQuotedAddress: a file of variables keeps the quotes around an address. The error shows no password.
func TestQuotedAddress(t *testing.T) {
	for _, lake := range []string{`"s3://KEY:hunter2@bucket/lake"`, " s3://KEY:hunter2@bucket/lake", `'s3:/KEY:hunter2@bucket/lake'`} {
		var stderr strings.Builder
		env := environment{Environ: append(asQuick(), "DEALFLOW_LAKE="+lake), Now: time.Now, Stdin: strings.NewReader(""), Stdout: &stderr, Stderr: &stderr}
		if code := Main(t.Context(), []string{"status"}, env); code != 2 || strings.Contains(stderr.String(), "hunter2") || !strings.Contains(stderr.String(), "without quotes or blanks") {
			t.Errorf("%s: got %d\n%s", lake, code, stderr.String())
		}
	}
}
