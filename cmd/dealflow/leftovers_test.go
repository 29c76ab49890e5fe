package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dealflow/serve"
	"dealflow/serve/sim"
)

// stalling is a market over HTTP that can stop answering lists, so that a test can look at a program, or kill it, in
// the middle of its work.
type stalling struct {
	api     http.Handler
	url     string
	clock   *sim.ManualClock
	stalled atomic.Bool
	undated atomic.Bool   // answers have no Date
	reached chan struct{} // has an entry for each list that was asked for and is not answered
}

func newStalling(t *testing.T) *stalling {
	t.Helper()
	m := &stalling{clock: sim.NewManualClock(time.Date(2026, 1, 7, 22, 0, 0, 0, time.UTC)), reached: make(chan struct{}, 1000)}
	server, err := serve.New(serve.Config{Source: sim.New(sim.Config{Seed: 5, Deals: 20, Clock: m.clock.Now})})
	if err != nil {
		t.Fatal(err)
	}
	m.api = server.Handler()
	front := httptest.NewServer(m)
	t.Cleanup(front.Close)
	m.url = front.URL
	return m
}

func (m *stalling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if m.stalled.Load() && strings.HasPrefix(r.URL.Path, "/v3/") {
		m.reached <- struct{}{}
		<-r.Context().Done()
		return
	}
	if m.undated.Load() {
		w = undatedWriter{w}
	}
	m.api.ServeHTTP(w, r)
}

// undatedWriter answers without a Date.
type undatedWriter struct{ http.ResponseWriter }

func (w undatedWriter) WriteHeader(code int) {
	w.Header()["Date"] = nil
	w.ResponseWriter.WriteHeader(code)
}

func (w undatedWriter) Write(p []byte) (int, error) {
	w.Header()["Date"] = nil
	return w.ResponseWriter.Write(p)
}

// command returns dealflow as a command of another process, which works in a folder of its own.
func (m *stalling) command(t *testing.T, settings []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Dir = t.TempDir()
	cmd.Env = slices.Concat(asQuick(), []string{
		asProgram + "=1", "HOME=" + cmd.Dir, "TMPDIR=" + cmd.Dir, "DEALFLOW_API=" + m.url, "DEALFLOW_CLOCK=server",
		"DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo",
	}, settings)
	return cmd
}

// running is a command of another process in the middle of its work.
type running struct {
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended
	output bytes.Buffer  // complete when it has ended
}

// kill ends the process with signal 9.
func (r *running) kill() {
	_ = r.cmd.Process.Kill() // fails if it has ended
	<-r.ended
}

// stall starts a command that pulls, and returns when it waits for a list. It is killed when the test ends.
func (m *stalling) stall(t *testing.T, settings []string, args ...string) *running {
	t.Helper()
	for len(m.reached) > 0 { // of commands before
		<-m.reached
	}
	m.stalled.Store(true)
	defer m.stalled.Store(false)
	r := &running{cmd: m.command(t, settings, args...), ended: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = &r.output, &r.output
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait() // it is killed
		close(r.ended)
	}()
	t.Cleanup(r.kill)
	select {
	case <-m.reached:
	case <-r.ended:
		t.Fatalf("%v ended before it asked for a list:\n%s", args, r.output.String())
	}
	return r
}

// TestKilledWorkFolder checks that the work folder of a running command is left alone, and that the next command
// removes that of a killed one.
func TestKilledWorkFolder(t *testing.T) {
	m := newStalling(t)
	work := t.TempDir()
	settings := []string{"DEALFLOW_LAKE=" + filepath.Join(t.TempDir(), "lake"), "DEALFLOW_WORK_DIR=" + work}
	first := m.stall(t, settings, "run", "--feeds", "bond/ig/priced")
	folders := workFolders(t, work)
	if len(folders) != 1 {
		t.Fatalf("during a run: %q, want one folder", folders)
	}
	if out, err := m.command(t, settings, "run", "--feeds", "loan/ll/priced").CombinedOutput(); err != nil {
		t.Fatalf("a second run: %v\n%s", err, out)
	}
	if got := workFolders(t, work); len(got) != 1 || got[0] != folders[0] {
		t.Errorf("during a run, after another one: %q, want %q", got, folders)
	}
	first.kill()
	if got := workFolders(t, work); len(got) != 1 {
		t.Errorf("after a kill: %q, want its folder", got)
	}
	if out, err := m.command(t, settings, "run").CombinedOutput(); err != nil {
		t.Fatalf("the run after the kill: %v\n%s", err, out)
	}
	if got := workFolders(t, work); len(got) != 0 {
		t.Errorf("after the next run: %q, want none", got)
	}
}

// workFolders returns what is in a work folder, and checks that no other user may read it.
func workFolders(t *testing.T, work string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(work, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range found {
		err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // a running program has just removed it
			}
			if info, err := e.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has permissions %s, want none for others", path, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// TestAPIWithoutDate checks that an API whose answers have no Date is used with the machine's clock, with a warning, and
// refused with the server's clock.
func TestAPIWithoutDate(t *testing.T) {
	m := newStalling(t)
	m.undated.Store(true)
	settings := []string{"DEALFLOW_LAKE=" + filepath.Join(t.TempDir(), "lake"), "DEALFLOW_CLOCK=machine"}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"run", "--clock", "server"}, 1, "--clock=machine"},
		{[]string{"run"}, 0, "warning: the API's answers have no readable Date"},
		{[]string{"sync"}, 0, "warning: the API's answers have no readable Date"},
		{[]string{"doctor"}, 0, "no readable Date"},
		{[]string{"doctor", "--clock", "server"}, 1, "no valid Date"},
	} {
		if code, out := m.exitOf(t, settings, c.args...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%v ends with %d, want %d and %q:\n%s", c.args, code, c.code, c.want, out)
		}
	}
}

// TestHangup closes the terminal of a command: it cleans up and ends as after other signals.
func TestHangup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("SIGHUP is ignored, as under nohup")
	}
	m := newStalling(t)
	work := t.TempDir()
	r := m.stall(t, []string{"DEALFLOW_LAKE=" + filepath.Join(t.TempDir(), "lake"), "DEALFLOW_WORK_DIR=" + work}, "run", "--feeds", "bond/ig/priced")
	if err := r.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	<-r.ended
	if code := r.cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(r.output.String(), "ended by a signal (hangup") {
		t.Errorf("exit code %d, want 130:\n%s", code, r.output.String())
	}
	for _, left := range workFolders(t, work) {
		if strings.Contains(left, "dealflow-work-") {
			t.Errorf("left %s", left)
		}
	}
}
