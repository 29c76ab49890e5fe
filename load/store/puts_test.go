package store_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"dealflow/load/store"
)

// closing counts how often bodies were closed.
type closing struct{ closed *atomic.Int64 }

func (c closing) Close() error {
	c.closed.Add(1)
	return nil
}

var _ io.Closer = closing{}

// TestPuts begins puts of which one fails: Settle waits for all and returns that error, no later put begins, and each body is
// closed once.
func TestPuts(t *testing.T) {
	t.Parallel()
	var closed, done atomic.Int64
	broken := errors.New("the store is broken")
	p := store.NewPuts(2)
	for i := range 5 {
		err := p.Begin(t.Context(), closing{&closed}, func(context.Context) error {
			done.Add(1)
			if i == 4 {
				return broken
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Settle(t.Context()); !errors.Is(err, broken) || done.Load() != 5 {
		t.Errorf("got %v after %d of 5 puts, want the error of the last", err, done.Load())
	}
	if err := p.Begin(t.Context(), closing{&closed}, func(context.Context) error { return errors.New("put after an error") }); !errors.Is(err, broken) {
		t.Errorf("a put after an error: got %v, want that error", err)
	}
	if n := closed.Load(); n != 6 {
		t.Errorf("%d of 6 bodies were closed", n)
	}
	p.Abandon()
}

// TestPutsEnd ends puts that hang: with the context of Settle, and with Abandon. The end of the context with which a put was
// begun does not end it.
func TestPutsEnd(t *testing.T) {
	t.Parallel()
	var closed atomic.Int64
	hang := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	part, endPart := context.WithCancel(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	p := store.NewPuts(1)
	if err := p.Begin(part, closing{&closed}, hang); err != nil {
		t.Fatal(err)
	}
	endPart()
	if err := p.Begin(part, closing{&closed}, hang); !errors.Is(err, context.Canceled) { // the first one holds the slot
		t.Errorf("without a free slot: got %v, want context.Canceled", err)
	}
	cancel()
	if err := p.Settle(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("settled with %v, want context.Canceled", err)
	}
	p = store.NewPuts(1)
	if err := p.Begin(t.Context(), closing{&closed}, hang); err != nil {
		t.Fatal(err)
	}
	p.Abandon()
	if n := closed.Load(); n != 3 {
		t.Errorf("%d of 3 bodies were closed", n)
	}
}
