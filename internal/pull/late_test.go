package pull_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// slow is a store that takes a while to report that the file of bank aliases is absent.
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

// TestTooOldAfterChecks checks that a run does not commit if it became too old while its catalog was built and checked.
func TestTooOldAfterChecks(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	w.Evening(0)
	w.Store = &slow{w.Store, func() { w.Later(load.Grace/2 + time.Minute) }}
	result, err := w.Run(t, world.Feeds(world.Priced))
	if err == nil || !strings.Contains(err.Error(), "run it again") || result.Commit != 0 || w.Log(t).Number != 0 {
		t.Errorf("got %v, commit %d; want it refused", err, result.Commit)
	}
}
