package catalog_test

import (
	stdsql "database/sql"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"dealflow/internal/catalog"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load/runs"
	"dealflow/schemas/lake"
	"dealflow/serve"
)

// TestLakeOfALongLog lets nights and syncs go on in a lake with a log of thousands of commits, most of them in segments. Its catalog is
// extended, and is the one that is built from scratch: with all runs, and with what changed between versions of which the
// first one is of a run in a segment, also from another address of the API. verify finds it sound.
func TestLakeOfALongLog(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 5, "")
	b.WriteAll(world.Expected, 1, 5, "")
	w.Night(t, 0)
	b.Write(world.Priced, 3, `"message":"second"`)
	w.Later(time.Minute)
	w.MustSync(t)
	w.Lengthen(t, 2*runs.Size)
	w.Night(t, 1)
	w.Lengthen(t, runs.Size)
	b.Write(world.Priced, 3, `"message":"third"`)
	w.Night(t, 2)
	if log := w.Log(t); log.Whole(1) || len(log.Commits) > 2*runs.Size {
		t.Fatalf("the log of %d commits holds %d of them", log.Number, len(log.Commits))
	}
	w.ServeAgain(t, serve.Config{Source: b})
	b.Write(world.Priced, 3, `"message":"fourth"`)
	b.Write(world.Priced, 4, `"message":"second"`)
	b.Strike(world.Priced, 5)
	w.Later(time.Minute)
	w.MustSync(t)
	w.Night(t, 3)
	world.WantSound(t, w.Store)

	last := w.Log(t).Number
	dump := func() map[string]string {
		found := map[string]string{}
		w.Published(t, func(db *stdsql.DB) {
			world.WantLines(t, db, "SELECT count(*), min(\"commit\"), max(\"commit\") FROM runs", fmt.Sprintf("%d 1 %d", last, last))
			for _, from := range []string{"runs", "feed_runs", "checks", "field_change()", "history.deal_versions"} {
				found[from] = fmt.Sprint(world.SortedRows(t, db, "SELECT * FROM "+from))
			}
			// The version before is of the first sync, whose commit the log no longer holds.
			world.WantLines(t, db, `SELECT version, coalesce(was, ''), "is" FROM field_change() WHERE kind = 'priced' AND deal_id = 3 AND field = 'message' ORDER BY ALL`,
				"2  second", "3 second third", "4 third fourth")
		})
		return found
	}
	extended := dump()
	if err := catalog.Publish(t.Context(), w.Lake(t), t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
	if scratch := dump(); !maps.Equal(scratch, extended) {
		for _, from := range slices.Sorted(maps.Keys(scratch)) {
			if scratch[from] != extended[from] {
				t.Errorf("%s: the extended catalog has\n%.1000s\nand the one from scratch\n%.1000s", from, extended[from], scratch[from])
			}
		}
	}
	named, ok, err := w.Lake(t).Named(t.Context(), 2)
	if err != nil || !ok || named.SHA256 == "" || named.KnownAt == (lake.Instant{}) {
		t.Errorf("the first sync is named %+v, %t, %v", named, ok, err)
	}
}
