package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
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
	status := func(want int) (s statusResult) {
		t.Helper()
		code, out := m.exitOf(t, []string{settings[0]}, "status", "--json")
		if err := json.Unmarshal([]byte(out), &s); err != nil || code != want {
			t.Fatalf("status ends with %d, want %d: %v\n%s", code, want, err, out)
		}
		return s
	}
	ofLake := func(s statusResult) map[string]float64 {
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
	wantSamples("a night", night, ofLake(status(0)))
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
	wantSamples("a failure", read(), ofLake(status(8)))
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
	s := status(8)
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

func feedIndex(t *testing.T, s statusResult, name string) int {
	t.Helper()
	for i := range s.Feeds {
		if s.Feeds[i].Feed.String() == name {
			return i
		}
	}
	t.Fatalf("status has no feed %s", name)
	return 0
}

func countFindings(s statusResult, kind string) (n float64) {
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
