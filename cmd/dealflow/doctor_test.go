package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"dealflow/load/store"
	"dealflow/load/store/memstore"
)

// looseStore is a store that replaces an object whatever its tag.
type looseStore struct{ memstore.Mem }

func (s *looseStore) ReplaceIf(ctx context.Context, key string, body io.ReadSeeker, _ string) error {
	return s.Put(ctx, key, body, store.Replace)
}

// TestDoctorOnAStoreWithoutIfMatch has no problem: commits are safe there, and a script that asks doctor first would never run.
func TestDoctorOnAStoreWithoutIfMatch(t *testing.T) {
	got := diagnoseWrites(t.Context(), new(looseStore))
	if got.Verdict != verdictOK || !strings.Contains(got.Found, "the store ignores If-Match") {
		t.Errorf("got %+v, want a warning", got)
	}
}
