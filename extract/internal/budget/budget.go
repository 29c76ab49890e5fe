package budget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// First is what a reader claims at least at its start, in bytes. Most readers need no more.
const First = 256 << 10

var (
	// ErrCrowded means that a reader must give up its memory and begin again.
	ErrCrowded = errors.New("the memory for answers is full")
	// ErrTooLarge means that a reader needs more than the limit.
	ErrTooLarge = errors.New("larger than all memory for answers")
)

// Budget limits the bytes of all readers together. It is safe for concurrent use.
//
// The size of what is read is known only at its end, so a reader claims memory in steps. Two rules keep readers from
// waiting for each other for ever. Those that already hold memory come first. And if all memory is held by readers that
// wait for more, the last one to wait gives its memory up (ErrCrowded); it claims more at its start the next time. A
// reader that has read all must not wait for memory until it gives back what it holds.
type Budget struct {
	limit int64

	mu       sync.Mutex
	used     int64
	growing  []*waiter // of readers that hold memory, first come first
	starting []*waiter // of readers that hold none yet
}

// New returns a budget of a number of bytes.
func New(limit int64) *Budget { return &Budget{limit: limit} }

// waiter is a claim that waits.
type waiter struct {
	claim *Claim
	bytes int64
	done  chan error // takes one value without blocking
}

// Claim is the memory of one reader. It is used by one goroutine at a time.
type Claim struct {
	budget *Budget
	held   int64 // guarded by budget.mu while the claim waits
}

// Held returns the number of bytes that the claim has.
func (c *Claim) Held() int64 { return c.held }

// Start claims the first memory of a reader, First at least and the limit at most, or waits for it. The caller releases
// the claim, also after an error.
func (b *Budget) Start(ctx context.Context, bytes int64) (*Claim, error) {
	c := &Claim{budget: b}
	return c, b.wait(ctx, c, min(max(bytes, First), b.limit), &b.starting)
}

// Grow claims half as much again, or waits for it. After ErrCrowded the caller releases the claim and begins again with
// more at its start.
func (c *Claim) Grow(ctx context.Context) error {
	step := min(max(First, c.held/2), c.budget.limit-c.held)
	if step == 0 {
		return fmt.Errorf("%w, %d bytes", ErrTooLarge, c.budget.limit)
	}
	return c.budget.wait(ctx, c, step, &c.budget.growing)
}

// Release gives all memory back. A second call does nothing, nor does a call on nil.
func (c *Claim) Release() {
	if c == nil {
		return
	}
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	c.budget.used -= c.held
	c.held = 0
	c.budget.grant()
}

// Used returns the number of bytes that are claimed.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// wait puts a claim into a queue and waits until it has its memory.
func (b *Budget) wait(ctx context.Context, c *Claim, bytes int64, queue *[]*waiter) error {
	w := &waiter{claim: c, bytes: bytes, done: make(chan error, 1)}
	b.mu.Lock()
	*queue = append(*queue, w)
	b.grant()
	b.mu.Unlock()
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		b.mu.Lock()
		defer b.mu.Unlock()
		*queue = slices.DeleteFunc(*queue, func(other *waiter) bool { return other == w })
		b.grant()
		return ctx.Err()
	}
}

// grant serves the queues. The caller holds b.mu.
func (b *Budget) grant() {
	b.growing = slices.DeleteFunc(b.growing, b.serve)
	waiting := int64(0)
	for _, w := range b.growing {
		waiting += w.claim.held
	}
	if last := len(b.growing) - 1; last >= 0 && waiting == b.used {
		b.growing[last].done <- ErrCrowded // its owner releases it, which calls grant again
		b.growing = b.growing[:last]
		return
	}
	for len(b.growing) == 0 && len(b.starting) > 0 && b.serve(b.starting[0]) {
		b.starting = b.starting[1:]
	}
}

// serve gives a claim its memory, if there is enough.
func (b *Budget) serve(w *waiter) bool {
	if b.used+w.bytes > b.limit {
		return false
	}
	b.used += w.bytes
	w.claim.held += w.bytes
	w.done <- nil
	return true
}
