package logs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"dealflow/internal/logs"
)

// write writes one line of each kind.
func write(s *logs.Sink) {
	log := s.Logger(slog.LevelInfo)
	log.Debug("page")
	log.Info("nothing new", "lake", "l", logs.Text("nothing is new in %s", "l"))
	log.With("feed", "bond/ig/priced").Warn("request failed", "attempt", 2, "error", errors.New("two words"))
	log.Error("request failed", "error_id", "e1")
	log.Warn("a hook failed", "hook", "on-success", "error", "exit status 1", logs.Text("--on-success: exit status 1"))
	log.Warn(logs.Warning, "detail", "the disk was full", logs.Text("the disk was full"))
	log.Error(logs.CommandFailed, "error", "no\nlake", "exit_code", 10, logs.Text("no\nlake"))
}

// TestText checks the lines of text: on a terminal without the time and as they are, else with the time and one line each.
func TestText(t *testing.T) {
	var out bytes.Buffer
	s := logs.NewSink(&out, "dealflow")
	s.Terminal = true
	write(s)
	want := "nothing is new in l\nwarning: request failed feed=bond/ig/priced attempt=2 error=\"two words\"\nerror: request failed error_id=e1\n" +
		"warning: a hook failed: --on-success: exit status 1\nwarning: the disk was full\ndealflow: no\nlake\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	s.Terminal = false
	write(s)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 6 || !strings.HasSuffix(lines[5], "Z dealflow: no lake") || len(lines[0]) != len("2026-01-07T22:00:00Z nothing is new in l") {
		t.Errorf("got\n%s", out.String())
	}
}

// TestJSON checks that each line is an object with time, level, msg and the fields, without the sentence.
func TestJSON(t *testing.T) {
	var out bytes.Buffer
	s := logs.NewSink(&out, "dealflow")
	s.JSON = true
	write(s)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 6 {
		t.Fatalf("%d lines, want 6:\n%s", len(lines), out.String())
	}
	var last map[string]any
	if err := json.Unmarshal([]byte(lines[5]), &last); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(last["time"].(string), "Z") || last["level"] != "ERROR" || last["msg"] != "command failed" || last["error"] != "no\nlake" || last["exit_code"] != 10.0 || len(last) != 5 {
		t.Errorf("got %s", lines[5])
	}
	var other bytes.Buffer
	if before := s.To(&other); before != &out {
		t.Error("To does not return the writer before")
	}
	s.Logger(slog.LevelInfo).Info("garbage")
	if !strings.Contains(other.String(), `"garbage"`) {
		t.Errorf("after To, the other writer has %q", other.String())
	}
}
