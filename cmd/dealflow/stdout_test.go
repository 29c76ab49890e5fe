package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dealflow/internal/exitcode"
)

// TestReaderHasGone closes the pipes that a command prints to, as `| head` and a tee that dies do. A command that works on the
// lake goes on to its end, and tells how it ended. A command that only answers ends at once, quietly.
func TestReaderHasGone(t *testing.T) {
	m := newStalling(t)
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	settings := []string{
		"DEALFLOW_LAKE=" + filepath.Join(dir, "lake"), "DEALFLOW_FEEDS=loan/ll/priced", "PATH=" + os.Getenv("PATH"),
		"DEALFLOW_ON_SUCCESS=yes | head -1 > " + said, "DEALFLOW_ON_FAILURE=echo no > " + said,
	}
	// run returns the exit code and what the command printed to the one stream that has a reader.
	run := func(noStdout, noStderr bool, args ...string) (int, string) {
		t.Helper()
		reader, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = reader.Close()
		var printed strings.Builder
		cmd := m.command(t, settings, args...)
		cmd.Stdout, cmd.Stderr = &printed, &printed
		if noStdout {
			cmd.Stdout = writer
		}
		if noStderr {
			cmd.Stderr = writer
		}
		_ = cmd.Run() // the exit code is checked below
		_ = writer.Close()
		return cmd.ProcessState.ExitCode(), printed.String()
	}
	for _, c := range []struct {
		noStdout, noStderr bool
		args               []string
		code               int
		hook               string
	}{
		{false, true, []string{"run", "-v"}, 0, "y\n"},
		{true, false, []string{"run", "--json"}, 0, "y\n"},
		{true, true, []string{"verify"}, 0, "y\n"},
		{true, true, []string{"sync", "--api", m.url + "/none"}, 4, "no\n"},
		{false, true, []string{"watch", "--lake", filepath.Join(dir, "none"), "--require-lake"}, 10, ""},
	} {
		_ = os.Remove(said)
		if code, out := run(c.noStdout, c.noStderr, c.args...); code != c.code {
			t.Errorf("%v ends with %d, want %d:\n%s", c.args, code, c.code, out)
		}
		if data, _ := os.ReadFile(said); string(data) != c.hook {
			t.Errorf("%v: the hook wrote %q, want %q", c.args, data, c.hook)
		}
	}
	for _, args := range [][]string{
		{"query", "FROM range(10000000)", "--format", "csv"}, {"query", "--safe", "FROM range(10000000)", "--format", "csv"}, {"status"}, {"runs", "--json"}, {"demo"}, {"config", "show"}, {"--help"},
	} {
		if code, out := run(true, false, args...); code != exitNoReader || strings.Contains(out, "broken pipe") || strings.Contains(out, "dealflow: ") {
			t.Errorf("%v ends with %d, want %d and no message:\n%s", args, code, exitNoReader, out)
		}
	}
	if code, out := m.exitOf(t, settings, "runs"); code != 0 || strings.Contains(out, "killed") {
		t.Errorf("a command was killed:\n%s", out)
	}
}

// TestFullStdout prints to a full disk. A command that only answers has not answered then, and says so, whatever it prints.
func TestFullStdout(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full: ", err)
	}
	defer full.Close()
	lake := t.TempDir()
	for _, args := range [][]string{
		{"--help"}, {"run", "--help"}, {"--version"}, {"version"}, {"completion", "bash"}, {"ddl", "postgres"}, {"config", "show"}, {"doctor", "--lake", lake}, {"help", "run"},
	} {
		var said strings.Builder
		code := Main(t.Context(), args, environment{Now: time.Now, Stdout: full, Stderr: &said})
		if code != exitcode.Error || !strings.Contains(said.String(), "no space left on device") {
			t.Errorf("%v ends with %d, want %d and the reason; it said:\n%s", args, code, exitcode.Error, said.String())
		}
	}
}
