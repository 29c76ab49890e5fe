package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"dealflow/internal/advice"
	"dealflow/internal/attempts"
	"dealflow/internal/status"
	"dealflow/internal/testkit/s3test"
	"dealflow/schemas/lake"
)

// TestKilledIsTold kills a run and a sync with signal 9. The next start finds both, also a run whose work folder is gone,
// and `runs` and `status` tell them.
func TestKilledIsTold(t *testing.T) {
	m := newStalling(t)
	root, work := filepath.Join(t.TempDir(), "lake"), t.TempDir()
	settings := []string{"DEALFLOW_LAKE=" + root, "DEALFLOW_WORK_DIR=" + work}
	if code, out := m.exitOf(t, settings, "run"); code != 0 {
		t.Fatalf("the first night ends with %d:\n%s", code, out)
	}
	m.stall(t, settings, "sync").kill()
	m.stall(t, settings, "run").kill()
	if code, out := m.exitOf(t, settings, "status"); code != 8 || !strings.Contains(out, "problem: failed: the last run, started at ") || !strings.Contains(out, "killed: ") {
		t.Errorf("after the kill status ends with %d, want 8, and that the run was killed:\n%s", code, out)
	}
	elsewhere := []string{settings[0], "DEALFLOW_WORK_DIR=" + t.TempDir()}
	m.stall(t, elsewhere, "run").kill()
	if code, out := m.exitOf(t, settings, "run"); code != 0 || strings.Count(out, "an earlier command was killed") != 1 {
		t.Errorf("the run after the kills ends with %d, want 0, and a warning of the one whose work folder is gone:\n%s", code, out)
	}
	_, out := m.exitOf(t, settings, "runs", "--json")
	var rows []struct {
		Commit  int64             `json:"commit"`
		Command string            `json:"command"`
		Outcome string            `json:"outcome"`
		Attempt *attempts.Attempt `json:"attempt"`
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.Command+" "+r.Outcome)
		if r.Attempt == nil || r.Commit == 0 && (r.Attempt.State != attempts.Killed || r.Attempt.Error == "") {
			t.Errorf("commit %d, %s: its attempt is %+v, want a kill with a reason where there is no commit", r.Commit, r.Command, r.Attempt)
		}
	}
	if want := []string{"run done", "run killed", "run killed", "sync killed", "run done"}; !slices.Equal(got, want) {
		t.Errorf("runs: %q, want %q", got, want)
	}
	if code, out := m.exitOf(t, settings, "status"); code != 0 {
		t.Errorf("after the next run status ends with %d, want 0:\n%s", code, out)
	}
	if names, _ := filepath.Glob(filepath.Join(work, "*")); len(names) > 0 {
		t.Errorf("the work folder has %q, want nothing", names)
	}
}

// TestAttemptWithoutRight runs with a key that may not write attempts, and with one that may write nothing: the first is a
// warning, and the second ends with its own error.
func TestAttemptWithoutRight(t *testing.T) {
	server := s3test.Start(t, s3test.Options{})
	m := newStalling(t)
	work := t.TempDir()
	settings := func(s s3test.Server) []string {
		return []string{
			"DEALFLOW_LAKE=s3://" + s.Bucket + "/lake", "AWS_ENDPOINT_URL_S3=" + s.Endpoint, "AWS_REGION=" + s.Region,
			"AWS_ACCESS_KEY_ID=" + s.AccessKey, "AWS_SECRET_ACCESS_KEY=" + s.SecretKey, "DEALFLOW_WORK_DIR=" + work,
		}
	}
	refusing := func(refused func(*http.Request) bool) s3test.Server {
		return server.Front(t, func(server http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet && r.Method != http.MethodHead && refused(r) {
					s3test.Refuse(w, http.StatusForbidden, "AccessDenied")
					return
				}
				server.ServeHTTP(w, r)
			})
		})
	}
	if code, out := m.exitOf(t, settings(server), "run", "--feeds", "loan/ll/priced"); code != 0 {
		t.Fatalf("the first run ends with %d:\n%s", code, out)
	}
	narrow := refusing(func(r *http.Request) bool { return strings.Contains(r.URL.Path, lake.AttemptsPrefix) })
	if code, out := m.exitOf(t, settings(narrow), "run", "--feeds", "loan/ll/priced"); code != 0 || !strings.Contains(out, "it waits in the work folder") {
		t.Errorf("with a key that may not write attempts a run ends with %d, want 0 and a warning:\n%s", code, out)
	}
	readOnly := refusing(func(*http.Request) bool { return true })
	if code, out := m.exitOf(t, settings(readOnly), "run", "--feeds", "loan/ll/priced"); code != 1 || !strings.Contains(out, "dealflow: lease: ") {
		t.Errorf("with a key that may not write a run ends with %d, want 1 and the error of its own put:\n%s", code, out)
	}
	if folders, _ := filepath.Glob(filepath.Join(work, "dealflow-attempts-*", "*")); len(folders) != 2 {
		t.Errorf("%q wait, want the ends of two runs", folders)
	}
}

// TestStatusOfDeadStore asks for the status of a lake whose store does not answer: a folder on a file system that hangs,
// here a named pipe that no program writes to, and a server that sends nothing.
func TestStatusOfDeadStore(t *testing.T) {
	m := newStalling(t)
	root := filepath.Join(t.TempDir(), "lake")
	if err := os.MkdirAll(filepath.Join(root, "_dealflow"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(root, filepath.FromSlash(lake.LatestKey)), 0o644); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	silent := s3test.Start(t, s3test.Options{}).Front(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	})
	for name, settings := range map[string][]string{
		"folder": {"DEALFLOW_LAKE=" + root},
		"S3": {
			"DEALFLOW_LAKE=s3://" + silent.Bucket + "/lake", "AWS_ENDPOINT_URL_S3=" + silent.Endpoint, "AWS_REGION=" + silent.Region,
			"AWS_ACCESS_KEY_ID=" + silent.AccessKey, "AWS_SECRET_ACCESS_KEY=" + silent.SecretKey,
		},
	} {
		code, out := m.exitOf(t, settings, "status", "--timeout", "50ms", "--json")
		for _, want := range []string{`"state": "unknown"`, `"kind": "unreadable"`, "did not answer in time"} {
			if code != 1 || !strings.Contains(out, want) {
				t.Errorf("%s: status ends with %d, want 1 and %s:\n%s", name, code, want, out)
			}
		}
	}
}

// TestFindingsAreDocumented compares the kinds of findings with those of the page about status.
func TestFindingsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/status.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "<!-- findings -->")
	table, _, _ = strings.Cut(table, "<!-- /findings -->")
	documented := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| ([a-z]+) \\|").FindAllStringSubmatch(table, -1) {
		documented[row[1]] = row[2]
	}
	for kind, severity := range status.Kinds() {
		if documented[kind] != severity {
			t.Errorf("finding %s of severity %s: the page says %q", kind, severity, documented[kind])
		}
	}
	if len(documented) != len(status.Kinds()) {
		t.Errorf("the page has %d kinds of findings, want %d", len(documented), len(status.Kinds()))
	}
}

// TestConclude checks the outcome of an attempt for each exit code, and that a failure without a commit counts as one.
func TestConclude(t *testing.T) {
	for _, c := range []struct {
		code     int
		reported attempts.Result // by the command
		outcome  string
		failed   bool
	}{
		{0, attempts.Result{}, "done", false},
		{0, attempts.Result{Outcome: "unchanged"}, "unchanged", false},
		{0, attempts.Result{Outcome: "skipped"}, "skipped", false},
		{13, attempts.Result{Outcome: "skipped"}, "skipped", false},
		{0, attempts.Result{Outcome: "done", Commit: 7}, "done", false},
		{1, attempts.Result{Outcome: "done", Commit: 7}, "done", false},
		{3, attempts.Result{Outcome: "partial", Commit: 7}, "partial", false},
		{9, attempts.Result{Outcome: "unchanged"}, "unchanged", false},
		{3, attempts.Result{Outcome: "unchanged"}, "failed", true}, // a sync: nothing new, and some feeds failed
		{1, attempts.Result{}, "failed", true},
		{2, attempts.Result{}, "failed", true},
		{4, attempts.Result{Outcome: "failed"}, "failed", true},
		{5, attempts.Result{Outcome: "failed"}, "failed", true},
		{12, attempts.Result{Outcome: "failed"}, "failed", true},
		{6, attempts.Result{Outcome: "failed"}, "held", true},
		{7, attempts.Result{}, "failed", true},
		{130, attempts.Result{Outcome: "failed"}, "cancelled", true},
	} {
		at := &attempt{result: c.reported}
		at.conclude(c.code, nil)
		if got := (&attempts.Attempt{Result: at.result}); got.Outcome != c.outcome || got.Failed() != c.failed || *got.ExitCode != c.code {
			t.Errorf("exit code %d, reported %+v: got %s, failed %t; want %s, %t", c.code, c.reported, got.Outcome, got.Failed(), c.outcome, c.failed)
		}
		if todo := advice.AfterAttempt(&attempts.Attempt{Result: at.result, Command: "run"}); c.failed && todo == "" {
			t.Errorf("exit code %d: nothing to do", c.code)
		}
	}
}
