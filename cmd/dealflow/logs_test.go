package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/extract"
	"dealflow/internal/logs"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// line is a line of stderr in JSON.
type line map[string]any

// linesOf parses the lines of stderr, and checks each against the vocabulary.
func linesOf(t *testing.T, what, stderr string) (all []line) {
	t.Helper()
	for _, text := range strings.Split(strings.TrimSuffix(stderr, "\n"), "\n") {
		if text == "" {
			continue
		}
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Errorf("%s: the line is not JSON: %s", what, text)
			continue
		}
		name, _ := l["msg"].(string)
		word := logs.Find(name)
		if word == nil {
			t.Errorf("%s: the line is not in the vocabulary: %s", what, text)
			continue
		}
		for key := range l {
			if key != "time" && key != "level" && key != "msg" && !slices.Contains(word.Fields, key) {
				t.Errorf("%s: %s has the field %s, which the vocabulary lacks", what, name, key)
			}
		}
		all = append(all, l)
	}
	return all
}

// TestEveryLineIsJSON runs commands with --log-format json, in success and failure: each line on stderr is an object of
// the vocabulary. With --quiet only warnings and errors are left.
func TestEveryLineIsJSON(t *testing.T) {
	clock := sim.NewManualClock(time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC))
	server, err := serve.New(serve.Config{Source: sim.New(sim.Config{Seed: 1, Deals: 10, Clock: clock.Now})})
	if err != nil {
		t.Fatal(err)
	}
	address := httptest.NewServer(server.Handler())
	defer address.Close()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("secret", []byte("demo\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	environ := []string{
		"DEALFLOW_LOG_FORMAT=json", "DEALFLOW_API=" + address.URL, "DEALFLOW_CLOCK=server", "DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET_FILE=secret",
		"DEALFLOW_PORT=1", "DEALFLOW_FEEDS=bond/ig/priced",
	}
	seen := map[string]bool{}
	run := func(command string, more ...string) []line {
		t.Helper()
		var stdout, stderr bytes.Buffer
		Main(t.Context(), strings.Fields(command), environment{Environ: slices.Concat(asQuick(), more, environ), Now: time.Now, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr})
		all := linesOf(t, command, stderr.String())
		for _, l := range all {
			seen[l["msg"].(string)] = true
		}
		return all
	}
	run("status")
	run("run -v")
	run("sync")
	clock.Set(clock.Now().Add(24 * time.Hour))
	run("run")
	for _, command := range []string{
		"compact", "compact", "catalog", "expire", "expire --drop-day 2026-01-08 --apply", "replay", "report --out r.html", "init", "verify", "quarantine list", "quarantine retry",
		"upgrade --lake lake --to new", "run --bogus --log-format=json", "nonsense", "query SELEKT", "serve", "run --api http://127.0.0.1:1 --attempts 2", "config show", "run --quiet --verbose",
	} {
		run(command)
	}
	run("run", "DEALFLOW_CLIENT_SECRET=wrong")
	run("run", "DEALFLOW_ACCEPT_REMOVALS=1")
	for _, name := range []string{
		"command failed", "unknown variable", "secret file is open to others", "feed done", "commit", "nothing new", "page", "feed read", "nothing to merge", "catalog published",
		"garbage", "day taken back", "nothing was removed", "history is unchanged", "report written", "settings file written", "request failed",
	} {
		if !seen[name] {
			t.Errorf("no line has the name %q: the test tries too little", name)
		}
	}
	clock.Set(clock.Now().Add(48 * time.Hour))
	for _, l := range run("run --quiet") {
		if l["level"] != "WARN" {
			t.Errorf("--quiet prints %v", l)
		}
	}
	if failed := run("status --quiet --lake " + filepath.Join("no", "lake")); len(failed) != 2 || failed[1]["msg"] != "command failed" || failed[1]["exit_code"] != 10.0 {
		t.Errorf("--quiet hides an error: %v", failed)
	}
}

// TestHeartbeat gives a pull two heartbeats: each says of each feed that is being read how far it is, and how long it
// takes if the number of its deals is known.
func TestHeartbeat(t *testing.T) {
	began := time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC)
	said := make(chan string, 10)
	a := &app{environment: environment{Now: func() time.Time { return began }}, sink: logs.NewSink(sender(said), "dealflow")}
	a.sink.JSON = true
	feeds := api.Feeds()
	p := newProgress(a, feeds[:3])
	ticks := make(chan time.Time)
	asked := 0
	p.beat(t.Context(), ticks, func(context.Context) map[api.Feed]int64 {
		asked++
		return map[api.Feed]int64{feeds[0]: 5000}
	})
	expect := func(want string) {
		t.Helper()
		l := linesOf(t, "heartbeat", <-said)[0]
		if got := fmt.Sprintln(l["msg"], l["feed"], l["deals"], l["pages"], l["deals_per_second"], l["eta_seconds"]); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	p.page(extract.Progress{Feed: feeds[0], Phase: "walk", Round: 1, Pages: 3, Deals: 3000})
	p.page(extract.Progress{Feed: feeds[1], Phase: "walk", Round: 1, Pages: 1, Deals: 60})
	p.page(extract.Progress{Phase: "token"})
	ticks <- began.Add(30 * time.Second)
	expect(fmt.Sprintln("progress", feeds[0], 3000, 3, 100, 20)) // 2000 of 5000 are left, at 100 per second
	expect(fmt.Sprintln("progress", feeds[1], 60, 1, 2, nil))
	p.feedDone(lake.FeedRun{Feed: feeds[0]})
	<-said
	p.page(extract.Progress{Feed: feeds[1], Phase: "sweep", Round: 2, Pages: 4, Deals: 120})
	ticks <- began.Add(60 * time.Second)
	expect(fmt.Sprintln("progress", feeds[1], 120, 4, 2, nil))
	p.end()
	p.end()
	if asked != 1 || len(said) > 0 {
		t.Errorf("sizes were asked for %d times, want 1; %d more lines", asked, len(said))
	}
}

// sender sends each line.
type sender chan string

func (s sender) Write(line []byte) (int, error) {
	s <- string(line)
	return len(line), nil
}
