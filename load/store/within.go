package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Within calls do with a context that ends after limit, with late as its cause. It returns then even if do does not, as it
// may on a network file system whose server is gone: do goes on until the process ends. The error of a do that ended too
// late wraps late.
func Within[T any](ctx context.Context, limit time.Duration, late error, do func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		value, err := do(ctx)
		done <- answer{value, err}
	}()
	select {
	case got := <-done:
		if got.err != nil && errors.Is(context.Cause(ctx), late) {
			got.err = fmt.Errorf("%w: %w", late, got.err)
		}
		return got.value, got.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
