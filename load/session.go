package load

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"dealflow/internal/process"
	"dealflow/load/begun"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// SessionConfig says which command works on a lake, and how. Fields without a default must be set.
type SessionConfig struct {
	RunID   string           // UUIDv7
	Command string           // run, sync, quarantine, compact, expire or replay
	Lease   Lease            // what the command does: owner, and API, feeds and day if it has them
	Started time.Time        // by the command's clock; its UTC year is that of the history files
	Clock   func() time.Time // the machine's
	WorkDir string           // local folder for unfinished files; default: the system's
	Memory  memory.Allocator
	Log     *slog.Logger

	OneByOne     bool                               // as in TransactionConfig; default: no
	Keep         func(file lake.File, local string) // as in TransactionConfig; default: none
	SingleWriter bool                               // default: no; work on a store that cannot create an object only once
	BesideOthers bool                               // default: no; work although another command holds the lease
}

// Session is a command at work on a lake: a lease, which it renews until DropLease, and a transaction. Close ends both.
// Concurrency is as for Transaction.
type Session struct {
	*Transaction
	lake  *Lake
	cfg   SessionConfig
	lease leaseKeeper
}

// Start begins a session. On a lake without a commit it first checks that the store keeps the promises that commits
// depend on, and refuses a lake that a copy or an upgrade has not finished. If another command holds the lease and cfg.BesideOthers is not set, it begins nothing and returns that
// lease as busy; then s is nil.
func (l *Lake) Start(ctx context.Context, cfg SessionConfig) (s *Session, busy *Lease, err error) {
	if err := l.CheckWritable(); err != nil {
		return nil, nil, err
	}
	s = &Session{lake: l, cfg: cfg}
	if l.log.Number == 0 {
		if err := s.probe(ctx); err != nil {
			return nil, nil, err
		}
	}
	other, err := l.leaseOfWhole(ctx, cfg.Clock())
	if err != nil {
		return nil, nil, err
	}
	if other != nil {
		if !cfg.BesideOthers {
			return nil, other, nil
		}
		cfg.Log.Warn("another run holds the lease; continuing at the same time", "owner", other.Owner, "run", other.RunID, "command", other.Command)
	}
	if err := s.writeLease(ctx); err != nil {
		return nil, nil, err // better now than after hours of work: the store cannot be written
	}
	s.lease.keep(ctx, s.renewLease)
	s.Transaction, err = l.Begin(TransactionConfig{
		ID: cfg.RunID, Command: cfg.Command, Started: cfg.Started, Clock: cfg.Clock, WorkDir: cfg.WorkDir, Memory: cfg.Memory,
		OneByOne: cfg.OneByOne, Keep: cfg.Keep, SingleWriter: cfg.SingleWriter,
	})
	if err != nil {
		return nil, nil, errors.Join(err, s.DropLease(ctx))
	}
	return s, nil, nil
}

// leaseOfWhole is Lease, and side by side with it the check that a lake with commits is not a half-made one.
func (l *Lake) leaseOfWhole(ctx context.Context, now time.Time) (lease *Lease, err error) {
	checking, bounded := errgroup.WithContext(ctx)
	if l.log.Number > 0 { // otherwise Open has checked it
		checking.Go(func() error { return begun.Check(bounded, l.store, l.log.Number) })
	}
	lease = l.Lease(ctx, now)
	if err := checking.Wait(); err != nil {
		return nil, fmt.Errorf("write to %s: %w", l.store.URL(), err)
	}
	return lease, nil
}

// probe returns an error for a store on which two first commits could both win. With SingleWriter it only warns.
func (s *Session) probe(ctx context.Context) error {
	err := store.Probe(ctx, s.lake.store)
	if errors.Is(err, store.ErrIgnoresReplaceIf) || errors.Is(err, store.ErrIgnoresCreateOnly) && s.cfg.SingleWriter {
		s.cfg.Log.Warn("the store does not support all operations of a lake", "error", err)
		return nil
	}
	return err
}

// Close is Transaction.Close, and drops the lease.
func (s *Session) Close(ctx context.Context) error {
	return errors.Join(s.Transaction.Close(ctx), s.DropLease(ctx))
}

// leaseKeeper runs the goroutine that renews a lease.
type leaseKeeper struct {
	stop    context.CancelFunc
	done    sync.WaitGroup
	dropped bool
}

func (k *leaseKeeper) keep(ctx context.Context, renew func(context.Context)) {
	ctx, k.stop = context.WithCancel(ctx)
	k.done.Go(func() { renew(ctx) })
}

func (s *Session) writeLease(ctx context.Context) error {
	lease := s.cfg.Lease
	lease.RunID, lease.Command, lease.ExpiresAt, lease.Process = s.cfg.RunID, s.cfg.Command, lake.At(s.cfg.Clock().Add(LeaseLife)), process.Current()
	return s.lake.TakeLease(ctx, lease)
}

func (s *Session) renewLease(ctx context.Context) {
	tick := time.NewTicker(LeaseLife / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.writeLease(ctx); err != nil && ctx.Err() == nil {
				s.cfg.Log.Warn("the lease was not renewed; the run continues", "error", err)
			}
		}
	}
}

// DropLease stops the renewal and removes the lease, even if ctx is cancelled. Calls after the first do nothing. If it
// fails, the lease expires by itself.
func (s *Session) DropLease(ctx context.Context) error {
	if s.lease.dropped {
		return nil
	}
	s.lease.dropped = true
	s.lease.stop()
	s.lease.done.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return s.lake.DropLease(ctx, s.cfg.RunID, s.cfg.Clock())
}
