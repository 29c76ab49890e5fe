package load_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/internal/process"
	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

var (
	bonds = []api.Feed{{Service: api.Bond, Market: api.IG, Kind: api.Priced}, {Service: api.Bond, Market: api.IG, Kind: api.Expected}}
	loans = []api.Feed{{Service: api.Loan, Market: api.LL, Kind: api.Priced}}
)

// TestLeaseOfDeadProcess checks that the lease of a process of this machine is free once the process has ended, and that
// of a process that this one cannot see is not.
func TestLeaseOfDeadProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says enough about a process")
	}
	l := loadtest.Open(t, new(memstore.Mem))
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*process.Identity)
		state  load.LeaseState
	}{
		"of this process":                      {func(*process.Identity) {}, load.LeaseHeld},
		"of a process that has ended":          {func(p *process.Identity) { p.PID = child.Process.Pid }, load.LeaseDead},
		"of an earlier one with this number":   {func(p *process.Identity) { p.Started = "1" }, load.LeaseDead},
		"of another machine":                   {func(p *process.Identity) { p.BootID, p.PID = "other", child.Process.Pid }, load.LeaseHeld},
		"of another container":                 {func(p *process.Identity) { p.PIDNamespace, p.PID = "pid:[1]", child.Process.Pid }, load.LeaseHeld},
		"of a process without a usable number": {func(p *process.Identity) { p.PID = -1 }, load.LeaseHeld},
	} {
		process := process.Current()
		if process == nil {
			t.Fatal("this process cannot be identified")
		}
		test.change(process)
		lease := load.Lease{RunID: "x", Command: "run", ExpiresAt: lake.At(time.Now().Add(time.Minute)), Process: process}
		if err := l.TakeLease(t.Context(), lease); err != nil {
			t.Fatal(err)
		}
		_, state, err := l.StoredLease(t.Context(), time.Now())
		if err != nil || state != test.state {
			t.Errorf("%s: %s, %v; want %s", name, state, err, test.state)
		}
		if valid := l.Lease(t.Context(), time.Now()) != nil; valid != (test.state == load.LeaseHeld) {
			t.Errorf("%s: valid %t, want %t", name, valid, !valid)
		}
	}
}

// TestOldLease reads a lease as the version before wrote it.
func TestOldLease(t *testing.T) {
	s := new(memstore.Mem)
	const old = `{"owner":"host, process 7","run_id":"r","command":"compact","expires_at":"2026-03-02T22:10:00.000000Z"}` + "\n"
	if err := s.Put(t.Context(), lake.LeaseKey, strings.NewReader(old), store.Replace); err != nil {
		t.Fatal(err)
	}
	lease := loadtest.Open(t, s).Lease(t.Context(), loadtest.Start)
	if lease == nil || lease.Owner != "host, process 7" || lease.RunID != "r" || lease.Command != "compact" || lease.Process != nil || lease.Feeds != nil {
		t.Errorf("got %+v", lease)
	}
}

// TestAwaitLease lets a run of the bonds of a day meet the lease of another command, in virtual time.
func TestAwaitLease(t *testing.T) {
	t.Parallel()
	const day, base = "2026-03-02", "https://api.example.com"
	mine := load.Lease{API: base, Feeds: bonds, SnapshotDate: day}
	run := func(feeds []api.Feed) load.Lease {
		return load.Lease{RunID: "theirs", Command: "run", API: base, Feeds: feeds, SnapshotDate: day}
	}
	maintenance := load.Lease{RunID: "theirs", Command: "compact"}
	here := run(bonds)
	here.Process = process.Current()
	anotherDay, anotherAPI := run(bonds), run(bonds)
	anotherDay.SnapshotDate, anotherAPI.API = "2026-03-01", "https://other.example.com"
	const never = 100 * time.Hour
	const verdictBeside, verdictCovered, verdictEnded = "beside", "covered", "ended"
	for name, test := range map[string]struct {
		lease   load.Lease
		renewed time.Duration // how long the owner renews it
		dropped time.Duration // when the owner drops it
		wait    time.Duration
		want    string
		least   time.Duration // that it waits
		most    time.Duration
	}{
		"a sync that ends":                  {load.Lease{RunID: "theirs", Command: "sync", API: base, Feeds: bonds}, never, 70 * time.Second, 30 * time.Minute, verdictBeside, 70 * time.Second, 72 * time.Second},
		"maintenance that takes long":       {maintenance, never, never, 30 * time.Minute, verdictBeside, 30 * time.Minute, 30 * time.Minute},
		"maintenance that crashed":          {maintenance, 0, never, 30 * time.Minute, verdictBeside, load.LeaseLife, load.LeaseLife + 2*time.Second},
		"maintenance, and no wait":          {maintenance, never, never, 0, verdictBeside, 0, 0},
		"a run of other feeds":              {run(loans), never, never, 30 * time.Minute, verdictBeside, 0, 0},
		"a run of some of the feeds":        {run(bonds[:1]), never, never, 30 * time.Minute, verdictBeside, 0, 0},
		"a run of another day":              {anotherDay, never, never, 30 * time.Minute, verdictBeside, 0, 0},
		"a run of another API":              {anotherAPI, never, never, 30 * time.Minute, verdictBeside, 0, 0},
		"a run of an earlier version":       {load.Lease{RunID: "theirs", Command: "run"}, never, never, 30 * time.Minute, verdictBeside, 0, 0},
		"the same run":                      {run(bonds), never, never, 30 * time.Minute, verdictCovered, time.Second, load.LeaseLife/3 + 2*time.Second},
		"a run of more feeds":               {run(append(loans, bonds...)), never, never, 30 * time.Minute, verdictCovered, time.Second, load.LeaseLife/3 + 2*time.Second},
		"the same run on this machine":      {here, never, never, 30 * time.Minute, verdictCovered, 0, 0},
		"the same run, and no wait":         {run(bonds), never, never, 0, verdictCovered, 0, 0},
		"the same run that crashed":         {run(bonds), 0, never, 30 * time.Minute, verdictEnded, load.LeaseLife, load.LeaseLife + 2*time.Second},
		"the same run, and it ends at once": {run(bonds), never, 3 * time.Second, 30 * time.Minute, verdictEnded, 3 * time.Second, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if test.lease.Process == nil && test.want == verdictCovered && test.least == 0 && test.wait > 0 {
					t.Skip("only Linux says enough about a process")
				}
				l := loadtest.Open(t, new(memstore.Mem))
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				take := func() {
					lease := test.lease
					lease.ExpiresAt = lake.At(time.Now().Add(load.LeaseLife))
					if err := l.TakeLease(t.Context(), lease); err != nil {
						t.Error(err)
					}
				}
				take()
				began := time.Now()
				go func() { // the owner
					defer close(done)
					for ctx.Err() == nil {
						select {
						case <-ctx.Done():
						case <-time.After(time.Second):
						}
						at := time.Since(began)
						if at >= test.dropped {
							if err := l.DropLease(t.Context(), test.lease.RunID, time.Now()); err != nil {
								t.Error(err)
							}
							return
						}
						if at%(load.LeaseLife/3) == 0 && at <= test.renewed && ctx.Err() == nil {
							take()
						}
					}
				}()
				got, err := l.AwaitLease(t.Context(), load.LeaseWait{Mine: mine, Wait: test.wait, Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
				took := time.Since(began)
				cancel()
				<-done
				if err != nil {
					t.Fatal(err)
				}
				verdict := verdictBeside
				switch {
				case got.Covering != nil:
					verdict = verdictCovered
				case got.Ended != nil:
					verdict = verdictEnded
				}
				if verdict != test.want || took < test.least || took > test.most || got.Waited != (took > 0) {
					t.Errorf("%s after %s, waited %t; want %s after %s to %s", verdict, took, got.Waited, test.want, test.least, test.most)
				}
			})
		})
	}
}

// TestAwaitLeaseEnds ends the wait for a lease by the context.
func TestAwaitLeaseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := loadtest.Open(t, new(memstore.Mem))
		if err := l.TakeLease(t.Context(), load.Lease{RunID: "theirs", Command: "sync", ExpiresAt: lake.At(time.Now().Add(load.LeaseLife))}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := l.AwaitLease(ctx, load.LeaseWait{Wait: time.Hour, Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want that the deadline has passed", err)
		}
	})
}
