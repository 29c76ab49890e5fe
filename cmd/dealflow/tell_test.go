package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/internal/lineage/lineagetest"
	"dealflow/internal/pull"
	"dealflow/internal/status"
	"dealflow/schemas/lake"
)

var lakeLabel = regexp.MustCompile(`,lake="[^"]*"|lake="[^"]*",?`)

// samples returns the values of metrics in the text format, by name and labels without the lake.
func samples(t *testing.T, text string) map[string]float64 {
	t.Helper()
	found := map[string]float64{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(lakeLabel.ReplaceAllString(line, "")), "} "); ok && !strings.HasPrefix(line, "#") {
			number, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			found[name+"}"] = number
		}
	}
	return found
}

// TestMetricsFile pulls a night, is refused, loses the lake, and restores it. After each command the file has the numbers of
// status, how the command ended, and the last success of each command. The server of the lake shows the same numbers.
func TestMetricsFile(t *testing.T) {
	m := newStalling(t)
	dir := t.TempDir()
	root, file := filepath.Join(dir, "lake"), filepath.Join(dir, "dealflow.prom")
	settings := []string{"DEALFLOW_LAKE=" + root, "DEALFLOW_METRICS_FILE=" + file, "DEALFLOW_RUN_FEEDS=loan/ll/priced,bond/ig/priced", "DEALFLOW_SYNC_FEEDS=loan/ll/priced"}
	read := func() map[string]float64 {
		t.Helper()
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return samples(t, string(data))
	}
	wantSamples := func(what string, got, want map[string]float64) {
		t.Helper()
		for name, value := range want {
			if have, ok := got[name]; !ok || have != value {
				t.Errorf("%s: %s is %v (%t), want %v", what, name, have, ok, value)
			}
		}
	}
	stateNow := func(want int) (s status.Result) {
		t.Helper()
		code, out := m.exitOf(t, []string{settings[0]}, "status", "--json")
		if err := json.Unmarshal([]byte(out), &s); err != nil || code != want {
			t.Fatalf("status ends with %d, want %d: %v\n%s", code, want, err, out)
		}
		return s
	}
	ofLake := func(s status.Result) map[string]float64 {
		return map[string]float64{
			`dealflow_lake_readable{}`: 1, `dealflow_lake_state{state="` + s.State + `"}`: 1, `dealflow_lake_commit{}`: float64(s.Commit),
			`dealflow_lake_files{}`: float64(s.Files), `dealflow_lake_bytes{}`: float64(s.Bytes), `dealflow_lake_catalog_commit{}`: float64(s.CatalogCommit),
			`dealflow_lake_last_success_timestamp_seconds{}`:                  float64(s.LastSuccess.KnownAt.UnixMicro()) / 1e6,
			`dealflow_feed_deals{feed="loan/ll/priced"}`:                      float64(s.Feeds[feedIndex(t, s, "loan/ll/priced")].Deals),
			`dealflow_feed_snapshot_timestamp_seconds{feed="bond/ig/priced"}`: float64(s.Feeds[feedIndex(t, s, "bond/ig/priced")].SnapshotAt.UnixMicro()) / 1e6,
			`dealflow_night_requests{}`:                                       float64(s.Nights[0].Requests),
			`dealflow_lake_findings{kind="failed",severity="problem"}`:        countFindings(s, "failed"),
			`dealflow_lake_findings{kind="catalog",severity="warning"}`:       countFindings(s, "catalog"),
			`dealflow_lake_last_failure_open{}`:                               map[bool]float64{true: 1}[s.LastFailure != nil && s.LastFailure.Open],
			`dealflow_lake_max_age_seconds{}`:                                 float64(s.MaxAgeSeconds),
		}
	}

	if code, out := m.exitOf(t, settings, "run"); code != 0 {
		t.Fatalf("the night ends with %d:\n%s", code, out)
	}
	night := read()
	wantSamples("a night", night, ofLake(stateNow(0)))
	wantSamples("a night", night, map[string]float64{`dealflow_command_exit_code{command="run"}`: 0, `dealflow_command_success_timestamp_seconds{command="run"}`: night[`dealflow_command_end_timestamp_seconds{command="run"}`]})
	if night[`dealflow_command_requests{command="run"}`] < 2 {
		t.Errorf("the run sent %v requests, want some", night[`dealflow_command_requests{command="run"}`])
	}
	kept := map[string]float64{
		`dealflow_command_success_timestamp_seconds{command="run"}`: night[`dealflow_command_success_timestamp_seconds{command="run"}`],
		`dealflow_lake_last_success_timestamp_seconds{}`:            night[`dealflow_lake_last_success_timestamp_seconds{}`],
	}

	if code, out := m.exitOf(t, settings, "run", "--attempts", "1", "--api", m.url+"/none"); code != 4 {
		t.Errorf("a run without an API ends with %d:\n%s", code, out)
	}
	wantSamples("a failure", read(), kept)
	wantSamples("a failure", read(), ofLake(stateNow(8)))
	wantSamples("a failure", read(), map[string]float64{`dealflow_command_exit_code{command="run"}`: 4, `dealflow_lake_findings{kind="failed",severity="problem"}`: 1})

	away := root + "-away"
	if err := os.Rename(root, away); err != nil {
		t.Fatal(err)
	}
	if code, out := m.exitOf(t, settings, "sync"); code != 10 {
		t.Errorf("a sync without a lake ends with %d, want 10:\n%s", code, out)
	}
	lost := read()
	wantSamples("no lake", lost, kept)
	wantSamples("no lake", lost, map[string]float64{`dealflow_lake_readable{}`: 0, `dealflow_lake_state{state="unknown"}`: 1, `dealflow_command_exit_code{command="sync"}`: 10, `dealflow_command_exit_code{command="run"}`: 4, `dealflow_feed_deals{feed="loan/ll/priced"}`: night[`dealflow_feed_deals{feed="loan/ll/priced"}`]})

	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(away, root); err != nil {
		t.Fatal(err)
	}
	if code, out := m.exitOf(t, settings, "status"); code != 8 {
		t.Errorf("status ends with %d, want 8:\n%s", code, out)
	}
	s := stateNow(8)
	wantSamples("status", read(), ofLake(s))
	wantSamples("status", read(), kept)

	// Without the file, what the lake knows of the last success is there again.
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if code, out := m.exitOf(t, settings, "verify"); code != 0 {
		t.Errorf("verify ends with %d:\n%s", code, out)
	}
	wantSamples("a new file", read(), map[string]float64{
		`dealflow_command_success_timestamp_seconds{command="run"}`: float64(s.LastSuccess.KnownAt.UnixMicro()) / 1e6, `dealflow_command_exit_code{command="verify"}`: 0,
	})

	wantSamples("serve", samples(t, scrape(t, root)), ofLake(s))
}

func feedIndex(t *testing.T, s status.Result, name string) int {
	t.Helper()
	for i := range s.Feeds {
		if s.Feeds[i].Feed.String() == name {
			return i
		}
	}
	t.Fatalf("status has no feed %s", name)
	return 0
}

func countFindings(s status.Result, kind string) (n float64) {
	for _, f := range s.Findings {
		if f.Kind == kind {
			n++
		}
	}
	return n
}

// scrape serves a lake and returns what it shows under /metrics.
func scrape(t *testing.T, root string) string {
	t.Helper()
	stderr := &lines{address: make(chan string, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		done <- Main(ctx, []string{"serve", "--lake", root, "--listen", "127.0.0.1:0"},
			environment{Environ: []string{"TMPDIR=" + t.TempDir(), "DEALFLOW_CLOCK=server"}, Now: time.Now, Stdout: t.Output(), Stderr: stderr})
	}()
	response, err := http.Get(<-stderr.address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	cancel()
	if code := <-done; err != nil || code != 0 {
		t.Errorf("serve ends with %d: %v %s", code, err, stderr.text.String())
	}
	for _, name := range []string{"go_goroutines ", `dealflow_build_info{version=`, "dealflow_http_requests_in_flight 1"} {
		if !strings.Contains(string(body), "\n"+name) {
			t.Errorf("/metrics has no %s", name)
		}
	}
	return string(body)
}

// listener is a web server for hooks and events, which keeps what it got.
type listener struct {
	url string

	mu     sync.Mutex
	status int
	got    []string // path and token, then the body
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l := &listener{status: http.StatusOK}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.got = append(l.got, r.URL.RequestURI()+" "+r.Header.Get("Authorization"), string(body))
		w.WriteHeader(l.status)
	}))
	t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

// answer sets the status of later answers.
func (l *listener) answer(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = status
}

// taken returns what the server got since the last call: pairs of a head and a body.
func (l *listener) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	got := l.got
	l.got = nil
	return got
}

// TestHooksAndLineage lets commands succeed, fail and give way. Hooks get the result, and the events of OpenLineage have
// the form of the specification and name what the commit has. What cannot be told is a warning, and no secret is anywhere.
func TestHooksAndLineage(t *testing.T) {
	m := newStalling(t)
	dir := t.TempDir()
	root, said, events := filepath.Join(dir, "lake"), filepath.Join(dir, "said"), filepath.Join(dir, "events.ndjson")
	settings := []string{"DEALFLOW_LAKE=" + root, "DEALFLOW_RUN_FEEDS=loan/ll/priced", "DEALFLOW_SYNC_FEEDS=loan/ll/priced", "PATH=" + os.Getenv("PATH")}
	with := func(more ...string) []string { return append(slices.Clone(settings), more...) }
	var printed strings.Builder
	run := func(want int, settings []string, args ...string) string {
		t.Helper()
		code, out := m.exitOf(t, settings, args...)
		if code != want {
			t.Errorf("%v ends with %d, want %d:\n%s", args, code, want, out)
		}
		printed.WriteString(out)
		return out
	}
	parse := func(text string) (d told) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatalf("%v: %q", err, text)
		}
		return d
	}

	// A night, told to a command and to a file.
	run(0, with("DEALFLOW_ON_SUCCESS=cat > "+said+"; env | grep -c CLIENT_SECRET= >> "+said, "DEALFLOW_ON_FAILURE=false", "DEALFLOW_OPENLINEAGE="+events, "DEALFLOW_OPENLINEAGE_NAMESPACE=desk"), "run")
	var row struct {
		lake.Commit
	}
	if err := json.Unmarshal([]byte(run(0, settings, "runs", "show", "1", "--json")), &row); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := strings.CutSuffix(string(data), "}\n0\n")
	if !ok {
		t.Errorf("the hook got %q, want an object, and no secret among its variables", data)
	}
	got := parse(text + "}")
	var result pull.Result
	encoded, _ := json.Marshal(got.Result)
	if err := json.Unmarshal(encoded, &result); err != nil {
		t.Fatal(err)
	}
	if got.Event != "success" || got.Command != "run" || got.ExitCode != 0 || got.Outcome != "done" || got.Commit != 1 || got.RunID != row.RunID || result.RunID != row.RunID || len(result.Feeds) != 1 ||
		got.SnapshotDate != row.SnapshotDate || got.Error+got.Todo != "" || got.Warnings == nil || !strings.Contains(got.Text, "commit 1, done") {
		t.Errorf("the hook got %+v", got)
	}
	data, err = os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d events, want START and COMPLETE:\n%s", len(lines), data)
	}
	start, end := lineagetest.Parse(t, []byte(lines[0])), lineagetest.Parse(t, []byte(lines[1]))
	if start.EventType != "START" || end.EventType != "COMPLETE" || start.Run.RunID != row.RunID || end.Run.RunID != row.RunID || end.Job.Namespace != "desk" || end.Job.Name != "dealflow.run" {
		t.Errorf("events: %s", data)
	}
	feed := row.Feeds[0]
	if len(end.Inputs) != 1 || end.Inputs[0].Namespace != m.url || end.Inputs[0].Name != "v3/loan/ll/priced-deal" || end.Inputs[0].InputFacets["inputStatistics"]["rowCount"] != float64(feed.Deals) {
		t.Errorf("inputs: %+v", end.Inputs)
	}
	rows := map[string]float64{}
	for _, f := range row.Add {
		rows[root+"/"+f.Table] += float64(f.Rows)
	}
	for _, d := range end.Outputs {
		if d.Namespace != "file" || d.OutputFacets["outputStatistics"]["rowCount"] != rows[d.Name] {
			t.Errorf("output %s %s has %v rows, want %v", d.Namespace, d.Name, d.OutputFacets["outputStatistics"]["rowCount"], rows[d.Name])
		}
		delete(rows, d.Name)
	}
	if len(rows) > 0 {
		t.Errorf("no event has the tables %v", rows)
	}

	// A failure, told to web servers.
	const token, path = "canary-token", "/services/canary-path?key=canary-key"
	hooks, marquez := newListener(t), newListener(t)
	web := with("DEALFLOW_ON_FAILURE="+hooks.url+path, "DEALFLOW_ON_SUCCESS=false", "DEALFLOW_WEBHOOK_TOKEN="+token, "DEALFLOW_OPENLINEAGE="+marquez.url, "DEALFLOW_OPENLINEAGE_TOKEN_COMMAND=echo "+token+"-2")
	run(4, web, "sync", "--api", m.url+"/none")
	heard := hooks.taken()
	if len(heard) != 2 || heard[0] != path+" Bearer "+token {
		t.Fatalf("the webhook got %q", heard)
	}
	if got := parse(heard[1]); got.Event != "failure" || got.Command != "sync" || got.ExitCode != 4 || got.Outcome != "failed" || got.Commit != 0 || got.RunID == "" || !strings.Contains(got.Error, "credentials refused") || !strings.Contains(got.Todo, "dealflow doctor") {
		t.Errorf("the webhook got %s", heard[1])
	}
	heard = marquez.taken()
	if len(heard) != 4 || heard[0] != "/api/v1/lineage Bearer "+token+"-2" {
		t.Fatalf("the server of events got %q", heard)
	}
	if fail := lineagetest.Parse(t, []byte(heard[3])); fail.EventType != "FAIL" || !strings.Contains(fmt.Sprint(fail.Run.Facets["errorMessage"]["message"]), "credentials refused") {
		t.Errorf("got %s", heard[3])
	}

	// A command that gives way is neither a success nor a failure.
	stalled := m.stall(t, settings, "run")
	run(0, web, "sync")
	run(13, web, "compact")
	if heard := hooks.taken(); len(heard) > 0 {
		t.Errorf("a sync that gave way is told to the hook: %q", heard)
	}
	if heard := marquez.taken(); len(heard) != 8 || lineagetest.Parse(t, []byte(heard[3])).EventType != "ABORT" || lineagetest.Parse(t, []byte(heard[7])).EventType != "ABORT" {
		t.Errorf("a sync that gave way: %q", heard)
	}
	stalled.kill()
	run(0, settings, "lease", "break")

	// What cannot be told is a warning.
	hooks.answer(http.StatusForbidden)
	marquez.answer(http.StatusForbidden)
	out := run(4, web, "sync", "--api", m.url+"/none")
	for _, warning := range []string{"warning: a hook failed: --on-failure: POST " + hooks.url + "/…: got status 403", "warning: an event of OpenLineage was not sent event=FAIL"} {
		if !strings.Contains(out, warning) {
			t.Errorf("no %q in\n%s", warning, out)
		}
	}
	out = run(0, with("DEALFLOW_ON_SUCCESS=echo canary-token >&2; exit 3", "DEALFLOW_WEBHOOK_TOKEN="+token, "DEALFLOW_OPENLINEAGE="+filepath.Join(dir, "none", "x")), "verify")
	if !strings.Contains(out, "--on-success: exit status 3: [redacted]") || !strings.Contains(out, "event=COMPLETE") {
		t.Errorf("a hook that fails, and a file that cannot be written:\n%s", out)
	}
	run(0, web, "config", "show", "sync", "--origin")
	for _, target := range []string{"HTTPS://h/?tok=canary", " https://h/canary", "https:/h/?tok=canary@h"} {
		run(0, with("DEALFLOW_OPENLINEAGE="+target, "DEALFLOW_ON_SUCCESS="+target), "config", "show", "sync")
	}
	for _, target := range []string{"https://%zz/canary-path", `"https://h/canary"`, " 'HTTP://h/canary'"} {
		run(2, with("DEALFLOW_ON_FAILURE="+target), "sync")
		run(2, with("DEALFLOW_OPENLINEAGE="+target), "sync")
		run(2, with("DEALFLOW_ON_SUCCESS="+target), "config", "show", "sync")
	}
	marquez.taken()
	run(4, with("DEALFLOW_ON_FAILURE=hooks.test/canary", "DEALFLOW_OPENLINEAGE= "+strings.Replace(marquez.url, "http", "HTTP", 1)), "sync", "--api", m.url+"/none")
	if heard := marquez.taken(); len(heard) != 4 || heard[0] != "/api/v1/lineage " {
		t.Errorf("a server of events whose URL has a blank and capitals got %q", heard)
	}
	if i := strings.Index(printed.String(), "canary"); i >= 0 {
		t.Errorf("a secret is printed: …%s…", printed.String()[max(0, i-200):i+20])
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "canary") {
			t.Errorf("%s has a secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestHookVariables checks which variables a hook has: those of AWS, so that it can use a bucket, but no secret of this program.
func TestHookVariables(t *testing.T) {
	m := newStalling(t)
	said := filepath.Join(t.TempDir(), "said")
	settings := []string{
		"DEALFLOW_LAKE=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "DEALFLOW_ON_FAILURE=env > " + said + "; echo $AWS_SECRET_ACCESS_KEY; exit 3", "DEALFLOW_RUN_ON_SUCCESS=canary-hook",
		"DEALFLOW_WEBHOOK_TOKEN=canary-token", "AWS_SECRET_ACCESS_KEY=canary-aws",
	}
	_, out := m.exitOf(t, settings, "verify")
	if !strings.Contains(out, "--on-failure: exit status 3: [redacted]") || strings.Contains(out, "canary") {
		t.Errorf("the hook's last line is a secret:\n%s", out)
	}
	data, err := os.ReadFile(said)
	for text, want := range map[string]bool{
		"DEALFLOW_CLIENT_ID=demo": true, "AWS_SECRET_ACCESS_KEY=canary-aws": true, "CLIENT_SECRET=": false, "canary-token": false, "canary-hook": false, "ON_FAILURE=": false,
	} {
		if strings.Contains(string(data), text) != want {
			t.Errorf("%v: %q among the hook's variables: %t, want %t", err, text, !want, want)
		}
	}
}

// TestHookOfHook starts dealflow in a hook, with the settings file that names the hook. The hook's commands call no hook.
func TestHookOfHook(t *testing.T) {
	m := newStalling(t)
	dir := t.TempDir()
	said, file := filepath.Join(dir, "said"), filepath.Join(dir, "dealflow.yaml")
	// Three are enough to see it: without a limit, each would start another one.
	hook := fmt.Sprintf("echo $$ >> %s; test $(wc -l < %s) -ge 3 || %s verify --strict --config %s", said, said, os.Args[0], file)
	if err := os.WriteFile(file, fmt.Appendf(nil, "lake: %s\non_success: %q\non_failure: %q\n", filepath.Join(dir, "lake"), hook, hook), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := []string{"PATH=" + os.Getenv("PATH"), "DEALFLOW_CONFIG=" + file, "DEALFLOW_FEEDS=loan/ll/priced"}
	for n, want := range []int{0, 4} {
		if code, out := m.exitOf(t, settings, "run", "--api", m.url+[]string{"", "/none"}[n]); code != want || strings.Contains(out, "warning: ") {
			t.Errorf("a run ends with %d, want %d and no warning:\n%s", code, want, out)
		}
		if data, err := os.ReadFile(said); err != nil || strings.Count(string(data), "\n") != n+1 {
			t.Errorf("%v: the hook was called %d times, want %d", err, strings.Count(string(data), "\n"), n+1)
		}
	}
}

// TestAddressWithPassword gives the lake's address a password. The command is refused, and neither what it prints nor the
// hook nor the metrics file has the password.
func TestAddressWithPassword(t *testing.T) {
	m := newStalling(t)
	for address, shown := range map[string]string{
		"s3://AKIA:canary@bucket/x": "s3://…@bucket/x", "s3:/AKIA:canary@bucket/x": "s3:/…@bucket/x", "S3:AKIA:canary@bucket": "S3:…@bucket",
		"https://AKIA:canary@bucket/x":        "https://…@bucket/x",
		"https://AKIA:canary@bucket/x?canary": "", // refused before the command begins
	} {
		dir := t.TempDir()
		said, file := filepath.Join(dir, "said"), filepath.Join(dir, "dealflow.prom")
		settings := []string{"PATH=" + os.Getenv("PATH"), "DEALFLOW_ON_FAILURE=cat > " + said, "DEALFLOW_METRICS_FILE=" + file, "DEALFLOW_OPENLINEAGE=" + filepath.Join(dir, "events")}
		code, out := m.exitOf(t, settings, "run", "--lake", address)
		if code != 2 || strings.Contains(out, "canary") {
			t.Errorf("%s: the run ends with %d, want 2 and no password:\n%s", address, code, out)
		}
		for _, path := range []string{said, file} {
			data, err := os.ReadFile(path)
			if shown == "" && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil || strings.Contains(string(data), "canary") || !strings.Contains(string(data), shown) {
				t.Errorf("%s: %v, want %s and no password in\n%s", address, err, shown, data)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "events")); err == nil {
			t.Errorf("%s: an event was sent without a lake", address)
		}
	}
}
