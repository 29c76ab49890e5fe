package budget_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"dealflow/extract/internal/budget"
)

const limit = 4 << 20

// TestNeverHangs claims random amounts from many goroutines, some of which end in the middle of a wait. All
// of them end, and no more than the limit is ever claimed.
func TestNeverHangs(t *testing.T) {
	seed := rand.Uint64()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	b := budget.New(limit)
	var work sync.WaitGroup
	for worker := range uint64(24) {
		dice := rand.New(rand.NewPCG(seed, worker))
		work.Go(func() {
			for range 200 {
				ctx, cancel := context.Background(), context.CancelFunc(func() {})
				if dice.IntN(4) == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(dice.IntN(200))*time.Microsecond)
				}
				size := int64(dice.IntN(limit + 1))
				for need := int64(budget.First); need > 0; {
					need = read(ctx, t, b, size, need)
				}
				cancel()
			}
		})
	}
	work.Wait()
	if used := b.Used(); used != 0 {
		t.Errorf("at the end %d bytes are claimed", used)
	}
}

// read claims memory up to size, as a reader does. It returns what to claim at the start of the next attempt; 0 for
// none.
func read(ctx context.Context, t *testing.T, b *budget.Budget, size, need int64) int64 {
	c, err := b.Start(ctx, need)
	defer c.Release()
	for err == nil && c.Held() < size {
		if used := b.Used(); used > limit {
			t.Errorf("%d bytes are claimed, of %d", used, limit)
		}
		err = c.Grow(ctx)
	}
	switch {
	case errors.Is(err, budget.ErrCrowded):
		return 2 * c.Held()
	case err != nil && ctx.Err() == nil:
		t.Errorf("size %d: %v", size, err)
	}
	return 0
}

// TestLimit claims all there is, and a byte more.
func TestLimit(t *testing.T) {
	b := budget.New(limit)
	c, err := b.Start(t.Context(), 2*limit)
	if err != nil || c.Held() != limit {
		t.Fatalf("got %d bytes, %v; want all %d", c.Held(), err, limit)
	}
	if err := c.Grow(t.Context()); !errors.Is(err, budget.ErrTooLarge) {
		t.Errorf("more than all: got %v, want ErrTooLarge", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if other, err := b.Start(ended, 1); !errors.Is(err, context.Canceled) || other.Held() != 0 {
		t.Errorf("an ended wait: got %d bytes, %v; want none and the context's error", other.Held(), err)
	}
	c.Release()
	c.Release()
	if used := b.Used(); used != 0 {
		t.Errorf("%d bytes are claimed at the end", used)
	}
}
