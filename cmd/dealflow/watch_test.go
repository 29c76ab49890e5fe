package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dealflow/internal/runlist"
	"dealflow/internal/status"
	"dealflow/internal/testkit"
	"dealflow/internal/words"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// machine is a machine whose clock the test moves, with a market and a lake. Commands run in this process, or in another
// one whose clock begins at the machine's time.
type machine struct {
	t      *testing.T
	clock  *sim.ManualClock // of the machine
	market *sim.ManualClock // of the market; moves with the machine's, except where the test says otherwise
	url    string
	root   string // folder of the lake
	work   string
	api    http.Handler
	feeds  string   // variable that names the feeds
	extra  []string // more variables

	mu      sync.Mutex
	meddle  func(http.ResponseWriter, *http.Request) bool // answers a request in place of the market, or returns false
	stops   context.CancelFunc                            // of the watch
	events  []event                                       // in order
	watches int                                           // number of commands watch
	stdout  bytes.Buffer
	stderr  bytes.Buffer
}

// event is what happens to a machine at an instant, by the market's clock.
type event struct {
	at time.Time
	do func()
}

func newMachine(t *testing.T, start time.Time, folder string) *machine {
	t.Helper()
	m := &machine{t: t, clock: sim.NewManualClock(start), market: sim.NewManualClock(start), root: filepath.Join(folder, "lake"), work: filepath.Join(folder, "work"), feeds: "DEALFLOW_FEEDS=bond/ig/priced,loan/ll/expected"}
	quirks, err := sim.ParseQuirks("none")
	if err != nil {
		t.Fatal(err)
	}
	server, err := serve.New(serve.Config{Source: sim.New(sim.Config{Seed: 5, Deals: 12, Epoch: start.Truncate(24 * time.Hour), Clock: m.market.Now, Quirks: &quirks})})
	if err != nil {
		t.Fatal(err)
	}
	m.api = server.Handler()
	front := httptest.NewServer(m)
	t.Cleanup(front.Close)
	m.url = front.URL
	if err := os.MkdirAll(m.work, 0o700); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *machine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	meddle := m.meddle
	m.mu.Unlock()
	if meddle == nil || !meddle(w, r) {
		m.api.ServeHTTP(w, r)
	}
}

// interfere has each later request shown to a function first; nil ends that.
func (m *machine) interfere(meddle func(http.ResponseWriter, *http.Request) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.meddle = meddle
}

// at adds an event.
func (m *machine) at(when time.Time, do func()) {
	m.events = append(m.events, event{when, do})
	slices.SortStableFunc(m.events, func(a, b event) int { return a.at.Compare(b.at) })
}

// wait moves the clocks, and lets the next event happen if it is in that time.
func (m *machine) wait(ctx context.Context, d time.Duration) {
	if ctx.Err() != nil {
		return
	}
	to := m.market.Now().Add(d)
	if len(m.events) > 0 && !m.events[0].at.After(to) {
		next := m.events[0]
		m.events = m.events[1:]
		m.pass(next.at.Sub(m.market.Now()))
		next.do()
		return
	}
	m.pass(d)
}

// pass lets time pass.
func (m *machine) pass(d time.Duration) {
	if d > 0 {
		m.clock.Advance(d)
		m.market.Advance(d)
	}
}

func (m *machine) environ() []string {
	return slices.Concat(asQuick(), []string{
		"DEALFLOW_API=" + m.url, "DEALFLOW_LAKE=" + m.root, "DEALFLOW_WORK_DIR=" + m.work, "DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo",
		m.feeds, "DEALFLOW_ATTEMPTS=1",
	}, m.extra)
}

// main carries out a command line in this process.
func (m *machine) main(ctx context.Context, line ...string) (code int, stdout string) {
	m.stdout.Reset()
	code = Main(ctx, line, environment{Environ: m.environ(), Now: m.clock.Now, Wait: m.wait, Stdout: &m.stdout, Stderr: &m.stderr})
	return code, m.stdout.String()
}

// watch carries out the command watch until stop is called, and returns its exit code.
func (m *machine) watch(flags ...string) int {
	ctx, stop := context.WithCancel(m.t.Context())
	defer stop()
	m.watches++
	m.mu.Lock()
	m.stops = stop
	m.mu.Unlock()
	code, _ := m.main(ctx, append([]string{"watch", "--listen", "none"}, flags...)...)
	return code
}

// stop stops the watch.
func (m *machine) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stops()
}

// rows returns what `runs --json` lists, oldest first.
func (m *machine) rows() []runlist.Row {
	m.t.Helper()
	code, out := m.main(m.t.Context(), "runs", "--last", "0", "--json")
	var rows []runlist.Row
	if err := json.Unmarshal([]byte(out), &rows); err != nil || code != 0 {
		m.t.Fatalf("runs ends with %d, %v:\n%s", code, err, m.stderr.String())
	}
	slices.Reverse(rows)
	return rows
}

// age makes the files of the lake older, as the machine's clock is: they were put by the system's.
func (m *machine) age(d time.Duration) {
	err := filepath.WalkDir(m.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.Chtimes(path, time.Time{}, info.ModTime().Add(-d))
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// usage is what a process uses.
type usage struct {
	memory     int64 // resident, bytes
	goroutines int
	handles    int // of open files
}

func usageNow(t *testing.T) usage {
	t.Helper()
	debug.FreeOSMemory()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no /proc here")
	}
	pages, err := strconv.ParseInt(strings.Fields(string(data))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	handles, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return usage{pages * int64(os.Getpagesize()), runtime.NumGoroutine(), len(handles)}
}

// TestWatchYear lets a watch work on a lake for days with a sleep, outages of the server, restarts, and clocks that are
// corrected. TEST_WATCH_DAYS is the number of days; default 3, one of them with the change to summer time. Each night has one run and one snapshot,
// of its day, except those before the last of several that the machine slept through. Memory, open files and the number of
// files stay flat.
func TestWatchYear(t *testing.T) {
	days, err := strconv.Atoi(cmp.Or(os.Getenv("TEST_WATCH_DAYS"), "3"))
	if err != nil {
		t.Fatalf("TEST_WATCH_DAYS: %v", err)
	}
	year := days > 100
	if !year {
		t.Parallel() // what the process uses is looked at in a year alone
	}
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	noon := func(day int) time.Time { return time.Date(2026, 3, 6+day, 12, 0, 0, 0, zone) } // summer time begins on day 2, a Sunday
	m := newMachine(t, noon(0), t.TempDir())
	m.feeds = "DEALFLOW_WATCH_FEEDS=bond/ig/priced,loan/ll/expected" // the watch passes them on
	m.extra = []string{"DEALFLOW_EXPIRE_KEEP_DAYS=14", "DEALFLOW_EXPIRE_KEEP_MONTH_ENDS=false"}
	every := "12h"
	if year {
		every = "24h"
	}
	down := func(w http.ResponseWriter, r *http.Request) bool {
		http.Error(w, `{"errorId":"e1","message":"down"}`, http.StatusBadGateway)
		return true
	}
	missed := map[string]bool{}
	for day := 1; day < days; day++ {
		switch day % 30 {
		case 2: // asleep over the night
			m.at(noon(day).Add(8*time.Hour), func() { m.pass(13 * time.Hour) })
		case 4: // the server is down
			m.at(noon(day).Add(9*time.Hour), func() { m.interfere(down) })
			m.at(noon(day).Add(13*time.Hour), func() { m.interfere(nil) })
		case 6: // the clock is set back by five minutes, right after the run
			m.at(noon(day).Add(10*time.Hour+3*time.Minute), func() { m.clock.Advance(-5 * time.Minute) })
			m.at(noon(day).Add(11*time.Hour), func() { m.clock.Set(m.market.Now()) })
		case 7: // the watch is stopped in the middle of its run
			m.at(noon(day).Add(9*time.Hour), func() {
				m.interfere(func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path != "/v3/loan/ll/expected-deal" {
						return false
					}
					m.interfere(nil)
					m.stop()
					<-r.Context().Done()
					return true
				})
			})
		case 12: // asleep for four nights: the last one is made up for
			if days-day > 6 {
				m.at(noon(day), func() { m.pass(4*24*time.Hour - time.Hour) })
				for n := range 3 {
					missed[noon(day+n).Format(time.DateOnly)] = true
				}
			}
		case 1, 20: // restarted by day
			m.at(noon(day).Add(time.Hour), func() { m.stop() })
		}
	}
	var before usage
	for quarter := 1; quarter < 4; quarter++ {
		m.at(noon(days*quarter/4).Add(time.Hour), func() {
			now := usageNow(t)
			t.Logf("%s: %+v", m.market.Now().Format(time.DateOnly), now)
			if before.memory == 0 {
				before = now
			}
		})
	}
	for day := 7; day < days; day += 7 {
		m.at(noon(day).Add(7*time.Minute), func() { m.age(8 * 24 * time.Hour) })
	}
	end := noon(days)
	m.at(end, func() { m.stop() })
	for m.clock.Now().Before(end) {
		if code := m.watch("--day-zone", "America/New_York", "--run-at", "22:00", "--sync-every", every, "--jitter", "2m", "--maintain-at", "Sun 06:00", "--maintenance", "verify,compact,expire"); code != 0 {
			t.Fatalf("watch ends with exit code %d:\n%s", code, m.stderr.String())
		}
	}
	after := usageNow(t)

	commits, runs := map[string]int{}, 0
	for _, r := range m.rows() {
		if r.Command == "run" && r.Number > 0 {
			commits[r.SnapshotDate]++
			runs++
			if r.Outcome != "done" || len(r.Feeds) != 2 {
				t.Errorf("the run of %s is %s, of %d feeds; want two, which are a setting of the watch", r.SnapshotDate, r.Outcome, len(r.Feeds))
			}
		}
	}
	for day := range days {
		date, want := noon(day).Format(time.DateOnly), 1
		if day == 0 {
			want = 2 // the lake began at noon
		}
		if missed[date] {
			want = 0
		}
		if commits[date] != want {
			t.Errorf("the night of %s has %d runs, want %d", date, commits[date], want)
		}
	}
	if len(commits) != days-len(missed) {
		t.Errorf("runs of %d days, want %d", len(commits), days-len(missed))
	}
	code, out := m.main(t.Context(), "status", "--json")
	var s status.Result
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != 0 || s.Watch == nil || s.Watch.State != "stopped" {
		t.Errorf("status ends with %d, %v, and %+v; want 0 and a watch that was stopped:\n%s", code, err, s.Watch, out)
	}
	t.Logf("%d days: %d runs of %d watches, %d files, %d bytes; before %+v, after %+v", days, runs, m.watches, s.Files, s.Bytes, before, after)
	if year {
		if after.memory > before.memory*3/2+64<<20 {
			t.Errorf("the process grew from %d to %d bytes", before.memory, after.memory)
		}
		if s.Files > 600 {
			t.Errorf("the lake has %d live files, want no more than those of 14 days and of history", s.Files)
		}
		if after.goroutines > before.goroutines+5 || after.handles > before.handles+5 {
			t.Errorf("before %+v, after %+v: goroutines or open files are left", before, after)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(m.work, "*")); len(left) > 0 {
		t.Errorf("the work folder has %q, want nothing", left)
	}
}

// asProgramAt is the environment variable that makes the test's binary run as dealflow with a clock that shows its value,
// an instant, at the start.
const asProgramAt = "TEST_AS_PROGRAM_AT"

func mainAt(at string) int {
	start, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		panic(err)
	}
	began := time.Now()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Main(ctx, os.Args[1:], environment{
		Environ: os.Environ(), Now: func() time.Time { return start.Add(time.Since(began)) }, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	})
}

// process returns dealflow as a command of another process, whose clock begins at the machine's time.
func (m *machine) process(line ...string) *exec.Cmd {
	cmd := exec.CommandContext(m.t.Context(), os.Args[0], line...)
	cmd.Dir = m.t.TempDir()
	cmd.Env = append(m.environ(), asProgramAt+"="+m.clock.Now().Format(time.RFC3339Nano), "HOME="+cmd.Dir)
	return cmd
}

// killWatch starts a watch in another process, and kills it in the middle of what it does first.
func (m *machine) killWatch(flags ...string) {
	m.t.Helper()
	reached := make(chan struct{}, 100)
	m.interfere(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/v3/") {
			reached <- struct{}{}
			<-r.Context().Done()
		}
		return strings.HasPrefix(r.URL.Path, "/v3/")
	})
	defer m.interfere(nil)
	cmd := m.process(append([]string{"watch", "--listen", "none"}, flags...)...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed
		close(ended)
	}()
	select {
	case <-reached:
	case <-ended:
		m.t.Fatalf("watch ended before it asked for a list:\n%s", output.String())
	}
	_ = cmd.Process.Kill()
	<-ended
}

// TestYearCompressed lets everything that a year has happen to a watch, one night after the other: the server is down, the
// token is refused, the disk is full, the store is down, the process is killed, the machine sleeps, its clock jumps. In the
// end `runs` has what happened each night in order, with its reason, and `status` says that all is well.
func TestYearCompressed(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	noon := func(day int) time.Time { return time.Date(2026, 3, day, 12, 0, 0, 0, zone) }
	folder := t.TempDir()
	small := smallDisk(t, folder)
	m := newMachine(t, noon(2), folder)
	m.work = t.TempDir() // on another disk than the lake

	refuse := func(path string, status int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasPrefix(r.URL.Path, path) {
				return false
			}
			http.Error(w, `{"errorId":"e1","message":"refused by the test"}`, status)
			return true
		}
	}
	between := func(day int, from, to time.Duration, begin, end func()) {
		m.at(noon(day).Add(from), begin)
		m.at(noon(day).Add(to), end)
	}
	ends := func() { m.interfere(nil) }
	between(3, 9*time.Hour, 11*time.Hour+30*time.Minute, func() { m.interfere(refuse("/", http.StatusBadGateway)) }, ends)
	between(4, 9*time.Hour, 11*time.Hour+30*time.Minute, func() { m.interfere(refuse("/oauth/token", http.StatusUnauthorized)) }, ends)
	if small {
		filler := filepath.Join(folder, "others")
		between(5, 9*time.Hour, 11*time.Hour, func() { fill(t, filler) }, func() {
			if err := os.Remove(filler); err != nil {
				t.Error(err)
			}
		})
	}
	between(6, 6*time.Hour, 20*time.Hour, func() { // the file system of the lake is not there
		if err := errors.Join(os.Rename(m.root, m.root+".away"), os.WriteFile(m.root, nil, 0o600)); err != nil {
			t.Error(err)
		}
	}, func() {
		if err := errors.Join(os.Remove(m.root), os.Rename(m.root+".away", m.root)); err != nil {
			t.Error(err)
		}
	})
	m.at(noon(7).Add(time.Hour), m.stop)
	m.at(noon(9).Add(8*time.Hour), func() { m.pass(13 * time.Hour) })
	m.at(noon(10).Add(time.Hour), func() { m.clock.Advance(3 * 24 * time.Hour) })
	m.at(noon(10).Add(time.Hour+40*time.Minute), func() { m.clock.Set(m.market.Now()) })
	flags := []string{"--day-zone", "America/New_York", "--jitter", "0", "--sync-every", "12h", "--maintain-at", "Sun 15:00", "--maintenance", "verify,compact"}
	if code := m.watch(flags...); code != 0 {
		t.Fatalf("watch ends with exit code %d:\n%s", code, m.stderr.String())
	}
	m.pass(noon(7).Add(10 * time.Hour).Sub(m.clock.Now()))
	m.killWatch(flags...)
	if _, out := m.main(t.Context(), "status"); !strings.Contains(out, "watch     dead: ") || !strings.Contains(out, "warning: watch: the watch of ") {
		t.Errorf("status does not say that the watch was killed:\n%s", out)
	}
	m.pass(8 * time.Hour)
	m.at(noon(12), m.stop)
	if code := m.watch(flags...); code != 0 {
		t.Fatalf("watch ends with exit code %d:\n%s", code, m.stderr.String())
	}

	want := []string{
		"run done 2026-03-02",
		"run failed 1: 502", "run done 2026-03-03",
		"run failed 4: 401", "run done 2026-03-04",
		"run failed 1: no space left on device", "run done 2026-03-05",
		"sync failed 1: not a directory", "run failed 1: not a directory", "sync failed 1: not a directory", "run done 2026-03-06",
		"run killed: the process ended without a word", "run done 2026-03-07",
		"verify done", "compact done", "run done 2026-03-08",
		"run done 2026-03-09",
		"run failed 1: the clock seems wrong", "sync failed 1: the clock seems wrong", "run failed 1: the clock seems wrong", "run done 2026-03-10",
		"run done 2026-03-11",
	}
	if !small {
		want = slices.DeleteFunc(want, func(line string) bool { return strings.HasSuffix(line, "no space left on device") })
	}
	var got []string
	before := ""
	for _, r := range m.rows() {
		line := storyOf(&r)
		kind, _, _ := strings.Cut(line, ": ")
		if line != "" && kind != before { // a failure that repeats is one line of the story
			got, before = append(got, line), kind
		}
	}
	for i := range max(len(got), len(want)) {
		have, wanted := "nothing", "nothing"
		if i < len(got) {
			have = got[i]
		}
		if i < len(want) {
			wanted = want[i]
		}
		line, reason, _ := strings.Cut(wanted, ": ")
		if found, why, _ := strings.Cut(have, ": "); found != line || !strings.Contains(why, reason) {
			t.Errorf("line %d: got %q, want %q", i, have, wanted)
		}
	}
	code, out := m.main(t.Context(), "status")
	if code != 0 || strings.Contains(out, "problem:") || !strings.Contains(out, "watch     stopped at ") || !strings.Contains(out, "snapshot  2026-03-11") {
		t.Errorf("status ends with %d:\n%s", code, out)
	}
	if t.Failed() {
		t.Logf("the story:\n%s\nstderr:\n%s", strings.Join(got, "\n"), m.stderr.String())
	}
}

// storyOf returns a row of runs as a line of the story: what became of it, and the day or the reason; "" for a sync that did
// not fail.
func storyOf(r *runlist.Row) string {
	switch {
	case r.Number > 0 && r.Command == "sync":
		return ""
	case r.Number > 0 && r.SnapshotDate != "":
		return fmt.Sprintf("%s %s %s", r.Command, r.Outcome, r.SnapshotDate)
	case r.Attempt == nil || r.Attempt.ExitCode == nil:
		return fmt.Sprintf("%s %s: %s", r.Command, r.Outcome, words.Reason(r.Attempt.Error, r.Attempt.RunID))
	case *r.Attempt.ExitCode != 0:
		return fmt.Sprintf("%s %s %d: %s", r.Command, r.Outcome, *r.Attempt.ExitCode, words.Reason(r.Attempt.Error, r.Attempt.RunID))
	case r.Command == "sync":
		return ""
	}
	return r.Command + " " + r.Outcome
}

// TestWatchProcess lets a watch work as a service manager would: it says when it is ready, feeds the watchdog, answers over
// HTTP, keeps a second one away, and ends well when it is asked to, also in the middle of a run.
func TestWatchProcess(t *testing.T) {
	t.Parallel()
	m := newMachine(t, time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), t.TempDir())
	socket := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Skipf("no sockets here: %v", err)
	}
	defer manager.Close()
	m.extra = []string{"NOTIFY_SOCKET=" + socket}
	told := make(chan string, 1000)
	go func() {
		for message := make([]byte, 4096); ; {
			n, err := manager.Read(message)
			if err != nil {
				close(told)
				return
			}
			told <- string(message[:n])
		}
	}()
	awaits := func(want string, ended <-chan struct{}, output *bytes.Buffer) {
		t.Helper()
		for {
			select {
			case message := <-told:
				if strings.HasPrefix(message, want) {
					return
				}
			case <-ended:
				t.Fatalf("watch ended before it told %q:\n%s", want, output.String())
			}
		}
	}
	start := func() (*exec.Cmd, <-chan struct{}, *bytes.Buffer) {
		cmd, output, ended := m.process("watch", "--listen", "127.0.0.1:0", "--sync-every", "0", "--maintain-at", "none", "--jitter", "0", "--run-at", "22:00"), new(bytes.Buffer), make(chan struct{})
		stderr, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = writer
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = writer.Close()
		lines := make(chan string, 1)
		go func() {
			for scanner := bufio.NewScanner(stderr); scanner.Scan(); {
				if _, address, ok := strings.Cut(scanner.Text(), "health: "); ok {
					lines <- address
				}
				fmt.Fprintln(output, scanner.Text())
			}
			_ = cmd.Wait() // its exit code is in ProcessState
			close(ended)
		}()
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			<-ended
		})
		select {
		case address := <-lines:
			m.extra = append(m.extra[:1:1], "HEALTH="+address)
		case <-ended:
			t.Fatalf("watch ended at its start:\n%s", output.String())
		}
		return cmd, ended, output
	}
	ask := func(path string) (int, string) {
		t.Helper()
		answer, err := http.Get("http://" + strings.TrimPrefix(m.extra[1], "HEALTH=") + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	ends := func(cmd *exec.Cmd, ended <-chan struct{}, output *bytes.Buffer) {
		t.Helper()
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-ended
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("after SIGTERM watch ends with %d, want 0:\n%s", code, output.String())
		}
		if left, _ := filepath.Glob(filepath.Join(m.work, "*")); len(left) > 0 {
			t.Errorf("the work folder has %q, want nothing", left)
		}
	}

	cmd, ended, output := start()
	awaits("READY=1", ended, output)
	awaits("WATCHDOG=1", ended, output)
	awaits("STATUS=waiting; the next run is of 2026-03-02 22:00 UTC", ended, output) // the first run is done
	if code, body := ask("/healthz"); code != http.StatusOK || !strings.Contains(body, `"alive": true`) || !strings.Contains(body, `"run_at": "22:00"`) {
		t.Errorf("/healthz answers %d:\n%s", code, body)
	}
	if code, body := ask("/status"); code != http.StatusOK || !strings.Contains(body, `"state": "ok"`) || !strings.Contains(body, `"state": "alive"`) {
		t.Errorf("/status answers %d:\n%s", code, body)
	}
	if code, body := ask("/metrics"); code != http.StatusOK || !strings.Contains(body, "dealflow_build_info{") || !strings.Contains(body, `lake="`+m.root+`"`) {
		t.Errorf("/metrics answers %d:\n%s", code, body)
	}
	if code, _ := m.main(t.Context(), "watch", "--listen", "none"); code != 13 || !strings.Contains(m.stderr.String(), "another watch is at work on this lake: that of ") {
		t.Errorf("a second watch ends with %d, want 13, and says who is at work:\n%s", code, m.stderr.String())
	}
	if code, _ := m.main(t.Context(), "watch", "--listen", "none", "--day-zone", "Europe/Berlin"); code != 2 || !strings.Contains(m.stderr.String(), "the lake counts days in UTC") {
		t.Errorf("a watch with another zone ends with %d, want 2:\n%s", code, m.stderr.String())
	}
	if code, out := m.main(t.Context(), "status"); code != 0 || !strings.Contains(out, "watch     alive: ") || !strings.Contains(out, "; run at 2026-03-02T22:00:00") {
		t.Errorf("status ends with %d, and does not show the watch:\n%s", code, out)
	}
	ends(cmd, ended, output)
	awaits("STOPPING=1", nil, output)

	// In the middle of a run.
	m.pass(10 * time.Hour)
	reached := make(chan struct{}, 100)
	m.interfere(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/v3/") {
			reached <- struct{}{}
			<-r.Context().Done()
		}
		return strings.HasPrefix(r.URL.Path, "/v3/")
	})
	cmd, ended, output = start()
	<-reached
	if code, body := ask("/healthz"); code != http.StatusOK || !strings.Contains(body, `"at_work": "run"`) {
		t.Errorf("during a run /healthz answers %d:\n%s", code, body)
	}
	ends(cmd, ended, output)
	rows := m.rows()
	if last := &rows[len(rows)-1]; last.Command != "run" || last.Outcome != "cancelled" || last.Attempt == nil {
		t.Errorf("the last row of runs is %s, %s; want a run that was cancelled", last.Command, last.Outcome)
	}
	if _, out := m.main(t.Context(), "status"); !strings.Contains(out, "watch     stopped at ") {
		t.Errorf("status does not say that the watch was stopped:\n%s", out)
	}
}
