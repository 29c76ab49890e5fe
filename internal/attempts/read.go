package attempts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Entry is an attempt as a listing shows it, before its object is read.
type Entry struct {
	RunID   string
	Command string
	State   State     // of the object that is believed
	Put     time.Time // when that object was put, by the store's clock
	key     string
}

// List returns the entries of all attempts, those put last first. It reads no object.
func List(ctx context.Context, s store.Store) ([]Entry, error) {
	return list(ctx, s, lake.AttemptsPrefix)
}

// ListDay is List for the attempts that began on a day, YYYY-MM-DD, in UTC by the clock of their machine.
func ListDay(ctx context.Context, s store.Store, day string) ([]Entry, error) {
	return list(ctx, s, lake.AttemptsPrefix+day+"/")
}

func list(ctx context.Context, s store.Store, prefix string) ([]Entry, error) {
	var all []Entry
	index := map[string]int{} // in all, by run id
	for object, err := range s.List(ctx, prefix) {
		if err != nil {
			return nil, fmt.Errorf("list the attempts: %w", err)
		}
		n, ok := parseName(object.Key)
		if !ok {
			continue
		}
		e := Entry{n.runID, n.command, n.state, object.Modified, object.Key}
		i, found := index[n.runID]
		switch {
		case !found:
			index[n.runID] = len(all)
			all = append(all, e)
		case n.state.rank() < all[i].State.rank():
			all[i] = e
		}
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Or(b.Put.Compare(a.Put), cmp.Compare(b.key, a.key)) })
	return all, nil
}

// readers is the number of objects that are read at once.
const readers = 8

// Read returns the attempts of entries, in their order. It leaves out objects that have been removed since the listing,
// and those that this program cannot read.
func Read(ctx context.Context, s store.Store, entries []Entry) ([]Attempt, error) {
	found := make([]*Attempt, len(entries))
	group, bounded := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, e := range entries {
		group.Go(func() error {
			data, err := store.Read(bounded, s, e.key)
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("read the attempts: %w", err)
			}
			if a, err := decode(data); err == nil && a.RunID == e.RunID {
				found[i] = a
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var all []Attempt
	for _, a := range found {
		if a != nil {
			all = append(all, *a)
		}
	}
	return all, nil
}

// OpenDamage returns what is not over after the newest verify that has ended, as Attempt.OpenDamage.
func OpenDamage(ctx context.Context, s store.Store) ([]Damage, error) {
	entries, err := List(ctx, s)
	if err != nil {
		return nil, err
	}
	for i, e := range entries {
		if e.Command != Verify || e.State != Ended {
			continue
		}
		found, err := Read(ctx, s, entries[i:i+1])
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return found[0].OpenDamage(), nil
		}
	}
	return nil, nil
}

// lost is the age from which an attempt without an end counts as killed, if no command holds the lease.
const lost = load.LeaseLife + 10*time.Minute

// Judge tells of attempts that began and have no end whether they are at work or were killed. It reads the lease at most
// once. It is safe for use by one goroutine.
type Judge struct {
	Store store.Store
	Now   time.Time // by the machine's clock

	once  sync.Once
	lease *load.Lease // that is held; nil for none
	err   error
}

// Resolve sets the outcome of an attempt that began and has no end: killed or running. It leaves others as they are.
//
// It was killed if its process is seen to have ended, or if it began long ago and no command holds the lease. If it does
// work on, it puts its end, which is believed first.
func (j *Judge) Resolve(ctx context.Context, a *Attempt) error {
	if a.State != Started {
		return nil
	}
	a.Outcome = OutcomeRunning
	if a.Process.HasEnded() {
		a.Outcome = OutcomeKilled
		return nil
	}
	if j.Now.Sub(a.StartedAt.Time) < lost {
		return nil
	}
	j.once.Do(func() {
		var state load.LeaseState
		if j.lease, state, j.err = load.ReadLease(ctx, j.Store, j.Now); state != load.LeaseHeld {
			j.lease = nil
		}
	})
	if j.err == nil && j.lease == nil && !a.Process.Lives() {
		a.Outcome = OutcomeKilled
	}
	return j.err
}
