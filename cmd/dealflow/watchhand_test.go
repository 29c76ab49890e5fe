package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/status"
)

// nightOf returns an instant of March 2026, in UTC.
func nightOf(day, hour, minute int) time.Time {
	return time.Date(2026, 3, day, hour, minute, 0, 0, time.UTC)
}

// down answers each request with an error.
func down(w http.ResponseWriter, _ *http.Request) bool {
	http.Error(w, `{"errorId":"e1","message":"down"}`, http.StatusBadGateway)
	return true
}

// emptied answers as if one feed had lost its deals: the removal guard holds it.
func emptied(w http.ResponseWriter, r *http.Request) bool {
	const list = "/v3/bond/ig/priced-deal"
	switch {
	case r.URL.Path == list:
		w.Header().Set("Content-Type", "application/hal+json")
		_, _ = io.WriteString(w, `{"_links":{"first":{"href":"`+list+`"}}}`)
	case strings.HasPrefix(r.URL.Path, list+"/"):
		http.Error(w, `{"errorId":"e1","message":"no such deal"}`, http.StatusNotFound)
	default:
		return false
	}
	return true
}

// between has requests answered by a function for some time.
func (m *machine) between(from, to time.Time, meddle func(http.ResponseWriter, *http.Request) bool) {
	m.at(from, func() { m.interfere(meddle) })
	m.at(to, func() { m.interfere(nil) })
}

// hand carries out a command line by hand, and checks its exit code.
func (m *machine) hand(want int, line ...string) {
	m.t.Helper()
	if code, _ := m.main(m.t.Context(), line...); code != want {
		m.t.Errorf("by hand, %q ends with %d, want %d:\n%s", line, code, want, m.stderr.String())
	}
}

// untilStop lets a watch work from an instant to another. It is to end well.
func (m *machine) untilStop(from, to time.Time) {
	m.t.Helper()
	m.at(to, m.stop)
	m.pass(from.Sub(m.clock.Now()))
	if code := m.watch("--jitter", "0", "--sync-every", "0", "--maintain-at", "Sat 06:00"); code != 0 {
		m.t.Fatalf("watch ends with exit code %d:\n%s", code, m.stderr.String())
	}
}

// made returns the commands since an instant that ended well or were held: when they began, the day, and the feeds.
func (m *machine) made(since time.Time) (lines []string) {
	m.t.Helper()
	for _, r := range m.rows() {
		if r.Attempt == nil || r.Attempt.StartedAt.Before(since) || r.Attempt.ExitCode == nil {
			continue
		}
		if code := *r.Attempt.ExitCode; code == 0 || code == 6 {
			line := fmt.Sprintf("%s %s %s", r.Attempt.StartedAt.UTC().Format("02T15:04"), r.Command, r.SnapshotDate)
			for i := range r.Feeds {
				line += fmt.Sprintf(" %s=%s", r.Feeds[i].Feed, r.Feeds[i].Outcome)
			}
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// statusNow returns what status says.
func (m *machine) statusNow() (s status.Result) {
	m.t.Helper()
	_, out := m.main(m.t.Context(), "status", "--json")
	if err := json.Unmarshal([]byte(out), &s); err != nil || s.Watch == nil {
		m.t.Fatalf("%v; status says:\n%s", err, out)
	}
	return s
}

// TestWatchByHand lets a person run commands next to a watch. A night is done by hand only if each of its feeds was pulled or
// held since its time; what cannot be taken any more is named.
func TestWatchByHand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		script func(m *machine)
		since  time.Time
		want   []string // what was made since then
		missed string
		why    string // of the missed nights, in status
	}{
		{"one feed of two, held", func(m *machine) {
			m.between(nightOf(11, 21, 30), nightOf(12, 0, 10), down)
			m.between(nightOf(12, 0, 20), nightOf(12, 0, 40), emptied)
			m.at(nightOf(12, 0, 30), func() { m.hand(6, "run", "--feeds", "bond/ig/priced", "--snapshot-date", "2026-03-11") })
			m.untilStop(nightOf(10, 12, 0), nightOf(12, 12, 0))
		}, nightOf(11, 12, 0), []string{
			"12T00:30 run 2026-03-11 bond/ig/priced=held",
			"12T01:45 run 2026-03-11 bond/ig/priced=done loan/ll/expected=done",
		}, "", ""},
		{"one feed of two, on a day with a snapshot", func(m *machine) {
			m.between(nightOf(10, 21, 30), nightOf(10, 22, 18), down)
			m.at(nightOf(10, 22, 20), func() { m.hand(0, "run", "--feeds", "bond/ig/priced") })
			m.untilStop(nightOf(10, 12, 0), nightOf(11, 12, 0))
		}, nightOf(10, 13, 0), []string{
			"10T22:20 run 2026-03-10 bond/ig/priced=done",
			"10T22:45 run 2026-03-10 bond/ig/priced=done loan/ll/expected=done",
		}, "", ""},
		{"all feeds, one by one", func(m *machine) {
			m.between(nightOf(11, 21, 30), nightOf(12, 0, 10), down)
			m.at(nightOf(12, 0, 30), func() { m.hand(0, "run", "--feeds", "bond/ig/priced", "--snapshot-date", "2026-03-11") })
			m.at(nightOf(12, 0, 40), func() { m.hand(0, "run", "--feeds", "loan/ll/expected", "--snapshot-date", "2026-03-11") })
			m.untilStop(nightOf(10, 12, 0), nightOf(12, 12, 0))
		}, nightOf(11, 12, 0), []string{
			"12T00:30 run 2026-03-11 bond/ig/priced=done",
			"12T00:40 run 2026-03-11 loan/ll/expected=done",
		}, "", ""},
		{"after nights without a watch", func(m *machine) {
			m.untilStop(nightOf(10, 12, 0), nightOf(11, 12, 0))
			m.pass(nightOf(15, 8, 0).Sub(m.clock.Now()))
			m.hand(0, "verify")
			m.hand(0, "compact")
			m.hand(0, "run")
			m.untilStop(nightOf(15, 9, 0), nightOf(15, 12, 0))
		}, nightOf(15, 9, 0), nil, "2026-03-11 2026-03-12 2026-03-13 2026-03-14", "no watch was at work"},
		{"all feeds, of the next day", func(m *machine) {
			m.between(nightOf(11, 21, 30), nightOf(12, 0, 10), down)
			m.at(nightOf(12, 0, 30), func() { m.hand(0, "run") })
			m.untilStop(nightOf(10, 12, 0), nightOf(12, 12, 0))
		}, nightOf(11, 12, 0), []string{"12T00:30 run 2026-03-12 bond/ig/priced=done loan/ll/expected=done"}, "2026-03-11", "tries failed"},
		{"one feed of two, of the next day", func(m *machine) {
			m.between(nightOf(11, 21, 30), nightOf(12, 0, 10), down)
			m.at(nightOf(12, 0, 30), func() { m.hand(0, "run", "--feeds", "bond/ig/priced") })
			m.untilStop(nightOf(10, 12, 0), nightOf(12, 22, 30))
		}, nightOf(11, 12, 0), []string{
			"12T00:30 run 2026-03-12 bond/ig/priced=done",
			"12T22:00 run 2026-03-12 loan/ll/expected=done",
		}, "2026-03-11", "tries failed"},
		{"one feed of two, then no night", func(m *machine) { // the other feed lacks the day
			m.between(nightOf(11, 21, 30), nightOf(12, 0, 10), down)
			m.at(nightOf(12, 0, 30), func() { m.hand(0, "run", "--feeds", "bond/ig/priced", "--snapshot-date", "2026-03-11") })
			m.between(nightOf(12, 0, 40), nightOf(12, 21, 50), down)
			m.untilStop(nightOf(10, 12, 0), nightOf(12, 22, 30))
		}, nightOf(12, 12, 0), []string{"12T22:00 run 2026-03-12 bond/ig/priced=done loan/ll/expected=done"}, "2026-03-11", "tries failed"},
		{"a part of the maintenance", func(m *machine) {
			m.untilStop(nightOf(12, 12, 0), nightOf(14, 1, 0))
			m.pass(nightOf(14, 7, 0).Sub(m.clock.Now()))
			m.hand(0, "compact")
			m.untilStop(nightOf(14, 8, 0), nightOf(14, 12, 0))
		}, nightOf(14, 8, 0), []string{"14T08:00 verify", "14T08:00 compact"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, nightOf(10, 12, 0), t.TempDir())
			c.script(m)
			if got := m.made(c.since); !slices.Equal(got, c.want) {
				t.Errorf("made\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			failed := 0
			for _, r := range m.rows() {
				if r.Attempt != nil && strings.Contains(r.Attempt.Error, "older than the last one") {
					failed++
				}
			}
			if failed > 0 {
				t.Errorf("%d runs were of a day that cannot be taken any more", failed)
			}
			s := m.statusNow()
			if got := strings.Join(s.Watch.Watch.Missed, " "); got != c.missed {
				t.Errorf("missed %q, want %q", got, c.missed)
			}
			why := ""
			for _, f := range s.Findings {
				if f.Kind == "missed" {
					why += f.Reason
				}
			}
			if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
				t.Errorf("status says of missed nights: %q, want %q", why, c.why)
			}
			if t.Failed() {
				t.Logf("stderr:\n%s", m.stderr.String())
			}
		})
	}
}

// TestWatchAfterHold does what status says of a feed that a night held, the next morning. The next night pulls the feed.
func TestWatchAfterHold(t *testing.T) {
	t.Parallel()
	m := newMachine(t, nightOf(10, 12, 0), t.TempDir())
	m.between(nightOf(11, 21, 30), nightOf(12, 12, 0), emptied)
	m.at(nightOf(12, 9, 0), func() {
		for _, kind := range []string{"held", "failed"} {
			n := slices.IndexFunc(m.statusNow().Findings, func(f status.Finding) bool { return f.Kind == kind })
			if n < 0 {
				continue
			}
			todo := m.statusNow().Findings[n].Todo
			command := regexp.MustCompile("`dealflow (run --feeds bond/ig/priced .*)`").FindStringSubmatch(todo)
			if len(command) == 0 {
				t.Fatalf("status says of the hold: %s", todo)
			}
			m.hand(0, strings.Fields(command[1])...)
			return
		}
		t.Errorf("status does not say that a feed is held")
	})
	m.untilStop(nightOf(10, 12, 0), nightOf(12, 22, 30))
	want := []string{
		"11T22:00 run 2026-03-11 bond/ig/priced=held loan/ll/expected=done",
		"12T09:00 run 2026-03-11 bond/ig/priced=done",
		"12T22:00 run 2026-03-12 bond/ig/priced=done loan/ll/expected=done",
	}
	if got := m.made(nightOf(11, 12, 0)); !slices.Equal(got, want) {
		t.Errorf("made\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestWatchUnmounted takes away the file system of the lake: its folder is there, and empty. The watch writes nothing there.
func TestWatchUnmounted(t *testing.T) {
	t.Parallel()
	m := newMachine(t, nightOf(10, 12, 0), t.TempDir())
	m.at(nightOf(11, 12, 0), func() {
		if err := os.Rename(m.root, m.root+".away"); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(m.root, 0o700); err != nil {
			t.Fatal(err)
		}
	})
	m.at(nightOf(12, 12, 0), func() {
		_ = filepath.WalkDir(m.root, func(path string, entry fs.DirEntry, err error) error {
			if path != m.root {
				t.Errorf("%s is in the empty folder", path)
			}
			return err
		})
		if err := os.RemoveAll(m.root); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(m.root+".away", m.root); err != nil {
			t.Fatal(err)
		}
	})
	m.at(nightOf(12, 17, 0), m.stop)
	if code := m.watch("--jitter", "0", "--sync-every", "6h", "--maintain-at", "none"); code != 0 {
		t.Fatalf("watch ends with exit code %d:\n%s", code, m.stderr.String())
	}
	if s := m.statusNow(); s.SnapshotDate != "2026-03-11" || s.Watch.State != "stopped" {
		t.Errorf("status says %s of the watch, and that the newest snapshot is of %s; want stopped, and that of 2026-03-11", s.Watch.State, s.SnapshotDate)
	}
	if t.Failed() {
		t.Logf("stderr:\n%s", m.stderr.String())
	}
}

// TestWatchSettings names the settings file, and a profile of it, on the command line of watch alone. The commands that it starts read the same.
func TestWatchSettings(t *testing.T) {
	t.Parallel()
	m := newMachine(t, nightOf(10, 12, 0), t.TempDir())
	other := filepath.Join(filepath.Dir(m.root), "other")
	file := filepath.Join(m.work, "lakes.yaml")
	text := fmt.Sprintf("lake: %s\nclient_id: demo\nwork_dir: %s\nattempts: 1\nprofiles:\n  night:\n    lake: %s\n    api: %s\n    run: {feeds: [loan/ll/expected], day_zone: Asia/Tokyo}\n", other, m.work, m.root, m.url)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.at(nightOf(10, 21, 0), m.stop)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	m.stops = stop
	var stderr bytes.Buffer
	code := Main(ctx, []string{"watch", "--config", file, "--profile", "night", "--run-at", "03:00", "--jitter", "0", "--sync-every", "0", "--maintain-at", "none", "--listen", "none"}, environment{
		Environ: append(asQuick(), "DEALFLOW_CLIENT_SECRET=demo"), Now: m.clock.Now, Wait: m.wait, Stdout: &m.stdout, Stderr: &stderr,
	})
	if code != 0 || !strings.Contains(stderr.String(), "03:00 Asia/Tokyo") {
		t.Fatalf("watch ends with exit code %d:\n%s", code, stderr.String())
	}
	// A new lake begins with a run; the next one is at 18:00 UTC, which is 03:00 of the next day in Tokyo.
	want := []string{"10T12:00 run 2026-03-10 loan/ll/expected=done", "10T18:00 run 2026-03-11 loan/ll/expected=done"}
	if got := m.made(nightOf(10, 0, 0)); !slices.Equal(got, want) {
		t.Errorf("made\n%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), stderr.String())
	}
	if _, err := os.Stat(other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v, want no such folder", other, err)
	}
}
