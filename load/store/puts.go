package store

import (
	"context"
	"errors"
	"io"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Puts is puts that are under way: a store far away takes as long for many of them as for one, and the writer of one object
// continues with the next. All methods are safe for concurrent use, except that Abandon is the last call.
type Puts struct {
	slots *semaphore.Weighted // nil: one by one
	all   sync.WaitGroup

	mu     sync.Mutex
	cancel []context.CancelFunc
	err    error // the first
}

// NewPuts returns puts of which at most limit are under way at once.
func NewPuts(limit int64) *Puts { return &Puts{slots: semaphore.NewWeighted(limit)} }

// OneByOne returns puts of which each ends before Begin returns.
func OneByOne() *Puts { return &Puts{} }

// Begin calls put on a goroutine of its own, and then closes the body. It waits while too many others are under way. The
// context of put ends with Abandon, not with ctx: that may belong to a part of the command that ends before.
func (p *Puts) Begin(ctx context.Context, body io.Closer, put func(context.Context) error) error {
	if p.slots == nil {
		return errors.Join(put(ctx), body.Close())
	}
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return errors.Join(err, body.Close())
	}
	p.mu.Lock()
	err := p.err
	putting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.cancel = append(p.cancel, cancel)
	p.mu.Unlock()
	if err != nil {
		p.slots.Release(1)
		return errors.Join(err, body.Close())
	}
	p.all.Go(func() {
		defer p.slots.Release(1)
		defer cancel()
		err := errors.Join(put(putting), body.Close())
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.err == nil {
			p.err = err
		}
	})
	return nil
}

// Settle waits until no put is under way, and returns the first error. If ctx ends, so do the puts.
func (p *Puts) Settle(ctx context.Context) error {
	stop := context.AfterFunc(ctx, p.stop)
	defer stop()
	p.all.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return p.err
}

// Abandon ends the puts that are under way, and waits until they have ended.
func (p *Puts) Abandon() {
	p.stop()
	p.all.Wait()
}

func (p *Puts) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, cancel := range p.cancel {
		cancel()
	}
	p.cancel = nil
}
