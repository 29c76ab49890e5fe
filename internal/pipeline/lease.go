package pipeline

import (
	"context"
	"sync"
	"time"

	"dealflow/load"
	"dealflow/schemas/lake"
)

// leaseKeeper holds the run's lease and renews it until drop.
type leaseKeeper struct {
	run     *run
	stop    context.CancelFunc
	done    sync.WaitGroup
	dropped bool
}

// takeLease tells others that the run is at work. A complete run goes on beside another's lease, which
// may be that of a crashed one; any other gives way before it: busy.
func (r *run) takeLease(ctx context.Context) (keeper *leaseKeeper, busy *load.Lease, err error) {
	if held := r.lake.Lease(ctx, r.Clock()); held != nil {
		if !r.complete {
			return nil, held, nil
		}
		r.Log.Warn("another run holds the lease; going on beside it", "owner", held.Owner, "run", held.RunID, "command", held.Command)
	}
	if err := r.writeLease(ctx); err != nil {
		return nil, nil, err // a store that cannot be written is better found now than after hours
	}
	renewing, stop := context.WithCancel(ctx)
	keeper = &leaseKeeper{run: r, stop: stop}
	keeper.done.Go(func() { r.renewLease(renewing) })
	return keeper, nil, nil
}

func (r *run) writeLease(ctx context.Context) error {
	return r.lake.TakeLease(ctx, load.Lease{
		Owner: r.Owner, RunID: r.RunID, Command: r.command, ExpiresAt: lake.At(r.Clock().Add(load.LeaseLife)),
	})
}

func (r *run) renewLease(ctx context.Context) {
	tick := time.NewTicker(load.LeaseLife / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := r.writeLease(ctx); err != nil && ctx.Err() == nil {
				r.Log.Warn("the lease was not renewed; the run goes on", "err", err)
			}
		}
	}
}

// drop gives the lease back, also for a run that was cancelled; once. Where it fails, the lease runs out
// by itself.
func (k *leaseKeeper) drop(ctx context.Context) error {
	if k == nil || k.dropped {
		return nil
	}
	k.dropped = true
	k.stop()
	k.done.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return k.run.lake.DropLease(ctx, k.run.RunID, k.run.Clock())
}
