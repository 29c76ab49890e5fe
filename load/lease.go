package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"dealflow/internal/process"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Lease shows other commands that a command is writing to the lake. It is an advisory lock and not needed for safety: a
// sync that finds the lease of another run does nothing, and without any lease two commits still never take the same
// number. Leases of earlier versions have the first four fields only.
type Lease struct {
	Owner        string            `json:"owner"` // host and process, for people
	RunID        string            `json:"run_id"`
	Command      string            `json:"command"`
	ExpiresAt    lake.Instant      `json:"expires_at"` // by the owner's clock
	Process      *process.Identity `json:"process,omitempty"`
	API          string            `json:"api,omitempty"`           // base URL; "" for a command that uses no API
	Feeds        []api.Feed        `json:"feeds,omitempty"`         // that the command pulls
	SnapshotDate string            `json:"snapshot_date,omitempty"` // YYYY-MM-DD; "" for a command that takes no snapshot
}

// covers says whether the lease is of a run that takes all snapshots that mine would take.
func (l *Lease) covers(mine *Lease) bool {
	if l.Command != lake.CommandRun || l.API != mine.API || l.SnapshotDate != mine.SnapshotDate {
		return false
	}
	return !slices.ContainsFunc(mine.Feeds, func(f api.Feed) bool { return !slices.Contains(l.Feeds, f) })
}

// LeaseLife is how long a lease is valid. Its owner renews it in time; after a crash it expires.
const LeaseLife = 15 * time.Minute

// leaseSkew is how far the owner's clock may be ahead of ours. A lease that ends later than LeaseLife plus leaseSkew
// from now was written by a wrong clock, and could block others for years: it is ignored.
const leaseSkew = 10 * time.Minute

// Lease returns the lease that is valid at now. It returns nil if there is none, it has expired, its process has ended,
// its end is too far ahead, or it cannot be read.
func (l *Lake) Lease(ctx context.Context, now time.Time) *Lease {
	lease, state, err := l.StoredLease(ctx, now)
	if err != nil || state != LeaseHeld {
		return nil
	}
	return lease
}

// LeaseState is what a stored lease means.
type LeaseState string

// The states of a lease.
const (
	LeaseHeld    LeaseState = "held"
	LeaseAbsent  LeaseState = "absent"
	LeaseExpired LeaseState = "expired" // or of a clock that is wrong
	LeaseDead    LeaseState = "dead"    // its process has ended
)

// StoredLease is ReadLease for the lake's store.
func (l *Lake) StoredLease(ctx context.Context, now time.Time) (*Lease, LeaseState, error) {
	return ReadLease(ctx, l.store, now)
}

// ReadLease returns the lease as it is stored, and its state at now. An object that is no lease is absent.
func ReadLease(ctx context.Context, s store.Store, now time.Time) (*Lease, LeaseState, error) {
	var lease Lease
	data, err := store.Read(ctx, s, lake.LeaseKey)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, LeaseAbsent, nil
	case err != nil:
		return nil, "", fmt.Errorf("lease: %w", err)
	case json.Unmarshal(data, &lease) != nil:
		return nil, LeaseAbsent, nil //nolint:nilerr // an advisory lock that cannot be read locks nothing
	case lease.Process.HasEnded():
		return &lease, LeaseDead, nil
	case !lease.ExpiresAt.After(now) || lease.ExpiresAt.After(now.Add(LeaseLife+leaseSkew)):
		return &lease, LeaseExpired, nil
	}
	return &lease, LeaseHeld, nil
}

// leasePoll is the time between two looks at a lease that a run waits for.
const leasePoll = time.Second

// LeaseWait says how a run waits for the lease of another command.
type LeaseWait struct {
	Mine  Lease            // what the run would do: API, feeds and day
	Wait  time.Duration    // at most
	Clock func() time.Time // the machine's
	Log   *slog.Logger
}

// Awaited is what became of another command's lease.
type Awaited struct {
	Covering *Lease // of a run at work that takes all the same snapshots; nil for none
	Waited   bool   // other commands may have committed since
	Ended    *Lease // of a run that took all the same snapshots, and ended or died while this one waited; nil for none
}

// AwaitLease waits until no other command is in the way of a run:
//   - The lease of a sync or of maintenance: until it is dropped or expires, but not longer than cfg.Wait.
//   - The lease of a run that takes all the same snapshots: until it is certain that the run is at work (Covering) or
//     that it is not. On this machine that is known at once. Elsewhere it is at work if it renews its lease, or after
//     cfg.Wait.
//   - The lease of any other run: not at all.
//
// The error is that of ctx.
func (l *Lake) AwaitLease(ctx context.Context, cfg LeaseWait) (a Awaited, err error) {
	timeout := time.NewTimer(cfg.Wait)
	defer timeout.Stop()
	poll := time.NewTicker(leasePoll)
	defer poll.Stop()
	var before *Lease // that this run has waited for
	for late := cfg.Wait <= 0; ; {
		lease := l.Lease(ctx, cfg.Clock())
		if ctx.Err() != nil { // then the lease may only seem to be absent
			return a, context.Cause(ctx)
		}
		if before != nil && (lease == nil || lease.RunID != before.RunID) && before.covers(&cfg.Mine) {
			a.Ended = before
		}
		switch {
		case lease == nil, lease.Command == lake.CommandRun && !lease.covers(&cfg.Mine):
			return a, nil
		case lease.covers(&cfg.Mine):
			renewed := before != nil && before.RunID == lease.RunID && !before.ExpiresAt.Equal(lease.ExpiresAt.Time)
			if lease.Process.IsHere() || renewed || late {
				a.Covering = lease
				return a, nil
			}
		case late:
			return a, nil
		}
		if before == nil || before.RunID != lease.RunID {
			before = lease
			cfg.Log.Warn("another command is at work; waiting for its lease", "command", lease.Command, "owner", lease.Owner, "run", lease.RunID, "at_most", cfg.Wait)
		}
		a.Waited = true
		select {
		case <-ctx.Done():
			return a, context.Cause(ctx)
		case <-timeout.C:
			late = true
		case <-poll.C:
		}
	}
}

// TakeLease writes the run's lease. It replaces any lease that exists.
func (l *Lake) TakeLease(ctx context.Context, lease Lease) error {
	data, err := json.Marshal(lease)
	if err == nil {
		err = l.store.Put(ctx, lake.LeaseKey, bytes.NewReader(append(data, '\n')), store.Replace)
	}
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	return nil
}

// DropLease removes the run's lease. It leaves the lease of another run.
func (l *Lake) DropLease(ctx context.Context, runID string, now time.Time) error {
	lease, _, err := l.StoredLease(ctx, now)
	if err != nil || lease == nil || lease.RunID != runID {
		return err
	}
	return l.BreakLease(ctx)
}

// BreakLease removes the lease of any command. A command at work writes its own again when it renews it.
func (l *Lake) BreakLease(ctx context.Context) error {
	if err := l.store.Delete(ctx, lake.LeaseKey); err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	return nil
}
