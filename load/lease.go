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

// Lease is the note by which a run tells others that it is at work. It is politeness: a sync that meets
// one ends at once, and whatever becomes of it, two commits never take the same number.
type Lease struct {
	Owner     string       `json:"owner"` // host and process, for people
	RunID     string       `json:"run_id"`
	Command   string       `json:"command"`
	ExpiresAt lake.Instant `json:"expires_at"` // by the owner's clock
}

// LeaseLife is how long a lease holds. Its owner renews it in time; after a crash it runs out.
const LeaseLife = 15 * time.Minute

// leaseSkew is how far the owner's clock may be ahead of ours. A lease that ends later than a life and
// that from now was written by a clock that was wrong, and might stand for years.
const leaseSkew = 10 * time.Minute

// Lease reads the lease that stands at now; nil where there is none, it has run out, or it cannot be
// read or believed.
func (l *Lake) Lease(ctx context.Context, now time.Time) *Lease {
	lease, err := l.readLease(ctx, now)
	if err != nil {
		return nil
	}
	return lease
}

// readLease is Lease; the error is the store's.
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

// TakeLease writes the run's lease, in place of whatever lease there is.
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

// DropLease removes the run's lease, and leaves another's.
func (l *Lake) DropLease(ctx context.Context, runID string, now time.Time) error {
	held, err := l.readLease(ctx, now)
	if err != nil || held == nil || held.RunID != runID {
		return err
	}
	if err := l.store.Delete(ctx, lake.LeaseKey); err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	return nil
}
