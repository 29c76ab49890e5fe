package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Lease tells other commands that a run is at work on the lake. It is an advisory lock and not needed for safety: a
// sync that finds the lease of another run does nothing, and without any lease two commits still never take the same
// number.
type Lease struct {
	Owner     string       `json:"owner"` // host and process, for people
	RunID     string       `json:"run_id"`
	Command   string       `json:"command"`
	ExpiresAt lake.Instant `json:"expires_at"` // by the owner's clock
}

// LeaseLife is how long a lease is valid. Its owner renews it in time; after a crash it expires.
const LeaseLife = 15 * time.Minute

// leaseSkew is how far the owner's clock may be ahead of ours. A lease that ends later than LeaseLife plus leaseSkew
// from now was written by a wrong clock, and could block others for years: it is ignored.
const leaseSkew = 10 * time.Minute

// Lease returns the lease that is valid at now; nil if there is none, it has expired, its end is too far ahead, or it
// cannot be read.
func (l *Lake) Lease(ctx context.Context, now time.Time) *Lease {
	lease, err := l.readLease(ctx, now)
	if err != nil {
		return nil
	}
	return lease
}

// readLease is Lease, but returns the store's error.
func (l *Lake) readLease(ctx context.Context, now time.Time) (*Lease, error) {
	var lease Lease
	data, err := store.Read(ctx, l.store, lake.LeaseKey)
	if err == nil && json.Unmarshal(data, &lease) == nil && lease.ExpiresAt.After(now) && !lease.ExpiresAt.After(now.Add(LeaseLife+leaseSkew)) {
		return &lease, nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("lease: %w", err)
	}
	return nil, nil
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
	lease, err := l.readLease(ctx, now)
	if err != nil || lease == nil || lease.RunID != runID {
		return err
	}
	if err := l.store.Delete(ctx, lake.LeaseKey); err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	return nil
}
