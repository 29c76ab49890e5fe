package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"dealflow/internal/pull"
	"dealflow/load"
)

// exitOf runs a command to its end and returns its exit code and what it printed.
func (m *stalling) exitOf(t *testing.T, settings []string, args ...string) (int, string) {
	t.Helper()
	cmd := m.command(t, settings, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%v: %v", args, err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestCommandsBesideARun checks who gives way to a run of some feeds, and with which exit code: other feeds are pulled
// at the same time; the same feeds and maintenance are skipped (13); a sync is skipped (0). Nothing gives way once the run was
// killed.
func TestCommandsBesideARun(t *testing.T) {
	m := newStalling(t)
	settings := []string{"DEALFLOW_LAKE=" + filepath.Join(t.TempDir(), "lake")}
	const bonds = "bond/ig/priced,bond/ig/expected"
	if code, out := m.exitOf(t, settings, "run"); code != 0 {
		t.Fatalf("the first night ends with %d:\n%s", code, out)
	}
	m.clock.Set(m.clock.Now().AddDate(0, 0, 1))
	first := m.stall(t, settings, "run", "--feeds", bonds)
	beside := func(when string, wants map[string]int) {
		t.Helper()
		for line, want := range wants {
			code, out := m.exitOf(t, settings, strings.Fields(line)...)
			if code != want || want == 13 && !strings.Contains(out, "another command is at work") {
				t.Errorf("%s: %s ends with %d, want %d:\n%s", when, line, code, want, out)
			}
		}
	}
	lease := m.lease(t, settings)
	if lease.State != load.LeaseHeld || lease.Lease.Command != "run" || len(lease.Lease.Feeds) != 2 || lease.Lease.SnapshotDate != "2026-01-08" || lease.Lease.API != m.url {
		t.Errorf("during the run: %+v, want its lease", lease)
	}
	beside("during a run", map[string]int{"run --feeds " + bonds: 13, "run --feeds bond/ig/priced": 13, "compact": 13, "expire --apply": 13, "replay": 13, "quarantine retry": 13, "sync": 0})
	beside("during a run", map[string]int{"run --feeds loan/ll/priced": 0}) // it takes the lease, and drops it
	first.kill()

	second := m.stall(t, settings, "run", "--feeds", bonds)
	second.kill()
	if lease := m.lease(t, settings); lease.State != load.LeaseDead {
		t.Errorf("after a kill: %+v, want the lease of a dead process", lease)
	}
	beside("after a kill", map[string]int{"compact": 0, "expire --apply": 0, "sync": 0, "run --feeds " + bonds + " --wait-for-lease 0s": 0})
	third := m.stall(t, settings, "run", "--feeds", bonds)
	third.kill()
	if code, out := m.exitOf(t, settings, "lease", "break"); code != 0 || !strings.Contains(out, "removed") {
		t.Errorf("lease break ends with %d: %s", code, out)
	}
	if lease := m.lease(t, settings); lease.State != load.LeaseAbsent {
		t.Errorf("after lease break: %+v, want none", lease)
	}
}

// lease returns what `lease show --json` prints.
func (m *stalling) lease(t *testing.T, settings []string) (r leaseResult) {
	t.Helper()
	code, out := m.exitOf(t, settings, "lease", "show", "--json")
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("lease show ends with %d, %v: %s", code, err, out)
	}
	return r
}

// TestRunWaitsForSync starts a run while a sync is at work. The run says that it waits, and works once the sync is gone.
func TestRunWaitsForSync(t *testing.T) {
	m := newStalling(t)
	settings := []string{"DEALFLOW_LAKE=" + filepath.Join(t.TempDir(), "lake")}
	if code, out := m.exitOf(t, settings, "run"); code != 0 {
		t.Fatalf("the first night ends with %d:\n%s", code, out)
	}
	m.clock.Set(m.clock.Now().AddDate(0, 0, 1))
	sync := m.stall(t, settings, "sync")
	run := m.command(t, settings, "run")
	stderr, err := run.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	if err != nil || !strings.Contains(line, "waiting for its lease") || !strings.Contains(line, "command=sync ") {
		t.Errorf("the run says %q, %v; want that it waits for the sync", line, err)
	}
	sync.kill()
	rest, err := io.ReadAll(lines)
	if err := errors.Join(err, run.Wait()); err != nil || !strings.Contains(string(rest), "commit 2 of") {
		t.Errorf("the run: %v\n%s", err, rest)
	}
}

// TestExitCodeRank checks which exit code is used if several apply, and that a command whose commit is made never says
// that it was lost or skipped.
func TestExitCodeRank(t *testing.T) {
	ranked := []struct {
		code int
		err  error
	}{{2, usagef("a flag")}, {5, pull.ErrQuality}, {11, load.ErrConflict}, {13, errSkipped}, {6, pull.ErrFeedsHeld}, {12, pull.ErrDeadline}, {3, pull.ErrFeedsFailed}, {9, errWarnings}}
	for i, high := range ranked {
		for _, low := range ranked[i:] {
			for _, err := range []error{errors.Join(high.err, low.err), errors.Join(low.err, high.err)} {
				if got := exitCode(t.Context(), err); got != high.code {
					t.Errorf("%v: %d, want %d", err, got, high.code)
				}
				want := high.code
				if want == 11 || want == 13 {
					want = low.code
				}
				if want == 11 || want == 13 {
					want = 1
				}
				if got := exitCode(t.Context(), afterCommit(7, err)); got != want {
					t.Errorf("after its commit, %v: %d, want %d", err, got, want)
				}
				if got := exitCode(t.Context(), afterCommit(0, err)); got != high.code {
					t.Errorf("without a commit, %v: %d, want %d", err, got, high.code)
				}
			}
		}
	}
	if afterCommit(7, nil) != nil || skippedError("done") != nil {
		t.Error("an error is made of nothing")
	}
}
