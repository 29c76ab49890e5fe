package pipeline_test

import (
	stdsql "database/sql"
	"fmt"
	"testing"
	"time"

	"dealflow/load/store/memstore"
)

// TestManySyncs makes history files by the dozen: a sync merges them by itself when there are many, as a
// commit of its own, and the answers stay.
func TestManySyncs(t *testing.T) {
	t.Parallel()
	w, b := newBook(t)
	w.store = new(memstore.Mem)
	b.writeAll(priced, 1, 5, "")
	w.night(t, 0, feeds(priced), quiet)
	merged, most := 0, 0
	for n := range 40 {
		w.later(5 * time.Minute)
		b.write(priced, 1+int64(n%5), fmt.Sprintf(`"message":"%d"`, n))
		result := w.mustSync(t, feeds(priced), quiet)
		if result.Compaction != nil {
			merged++
			if result.Compaction.Commit != result.Commit+1 || result.Compaction.RunID == result.RunID {
				t.Errorf("compaction %+v, want a commit of its own behind %d", result.Compaction, result.Commit)
			}
		}
		most = max(most, len(w.log(t).Files("history.bond_priced_deals")))
	}
	if merged != 1 || most != 32 {
		t.Errorf("%d compactions, %d files at most; want 1, 32", merged, most)
	}
	w.later(time.Hour)
	w.mustRun(t, feeds(priced))
	wantSound(t, w.store)
	w.ask(t, func(db *stdsql.DB) {
		wantLines(t, db, "SELECT count(*), max(version) FROM history.bond_priced_deals", "45 9")
		wantLines(t, db, "SELECT deal_id, message FROM bond_priced_deals ORDER BY deal_id", "1 35", "2 36", "3 37", "4 38", "5 39")
		wantAgreement(t, db, priced)
	})
}
