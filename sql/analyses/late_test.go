package pipeline_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// slow is a store where it takes a while to find out that there are no aliases of banks.
type slow struct {
	store.Store
	wait func()
}

func (s *slow) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if key == lake.BankAliasesKey {
		s.wait()
	}
	return s.Store.Get(ctx, key)
}

// TestTooOldAfterChecks refuses to commit where the run has become too old while its catalog was built and checked.
func TestTooOldAfterChecks(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	b.writeAll(priced, 1, 3, "")
	w.evening(0)
	w.store = &slow{w.store, func() { w.later(load.Grace/2 + time.Minute) }}
	result, err := w.run(t, feeds(priced))
	if err == nil || !strings.Contains(err.Error(), "run it again") || result.Commit != 0 || w.log(t).Number != 0 {
		t.Errorf("got %v, commit %d; want it refused", err, result.Commit)
	}
}
