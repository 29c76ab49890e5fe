package main

import (
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
)

// TestQuarantineAfterRetry retries two records in quarantine, of which one can be read now. The list shows the other one as open,
// and this one as past.
func TestQuarantineAfterRetry(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	for _, id := range []int64{1, 2} {
		b.Write(world.Priced, id, `"message":"a","message":"b"`)
	}
	some := world.Feeds(world.Priced)
	w.Night(t, 0, some, world.Quiet)
	wantOpen := func(when string, want map[int64]bool) {
		t.Helper()
		records, err := quarantineOf(t.Context(), w.Lake(t), world.Priced)
		if err != nil || len(records) != len(want) {
			t.Fatalf("%s: %+v, %v; want %d records", when, records, err, len(want))
		}
		for i := range records {
			if r := &records[i]; r.DealID == nil || r.Open != want[*r.DealID] {
				t.Errorf("%s: %+v, want open: %v", when, r, want)
			}
		}
	}
	wantOpen("after the night", map[int64]bool{1: true, 2: true})
	b.Write(world.Priced, 1, `"message":"read at last"`)
	w.Later(time.Hour)
	if result, err := pull.RetryQuarantined(t.Context(), w.Config(t, some, world.Quiet)); err != nil || result.Commit != 2 {
		t.Fatalf("the retry: %+v, %v; want commit 2", result, err)
	}
	wantOpen("after the retry", map[int64]bool{1: false, 2: true})
}
