package maintain_test

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
)

// TestManySyncs makes dozens of history files. When there are many, a sync merges them as a commit of its own, and no
// answer changes.
func TestManySyncs(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	w.Store = new(memstore.Mem)
	b.WriteAll(world.Priced, 1, 5, "")
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	merged, most := 0, 0
	for n := range 40 {
		w.Later(5 * time.Minute)
		b.Write(world.Priced, 1+int64(n%5), fmt.Sprintf(`"message":"%d"`, n))
		result := w.MustSync(t, world.Feeds(world.Priced), world.Quiet)
		if result.Compaction != nil {
			merged++
			if result.Compaction.Commit != result.Commit+1 || result.Compaction.RunID == result.RunID {
				t.Errorf("compaction %+v, want a commit of its own behind %d", result.Compaction, result.Commit)
			}
		}
		most = max(most, len(w.Log(t).Files("history.bond_priced_deals")))
	}
	if merged != 1 || most != 32 {
		t.Errorf("%d compactions, %d files at most; want 1, 32", merged, most)
	}
	w.Later(time.Hour)
	w.MustRun(t, world.Feeds(world.Priced))
	world.WantSound(t, w.Store)
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, "SELECT count(*), max(version) FROM history.bond_priced_deals", "45 9")
		world.WantLines(t, db, "SELECT deal_id, message FROM bond_priced_deals ORDER BY deal_id", "1 35", "2 36", "3 37", "4 38", "5 39")
		world.WantAgreement(t, db, world.Priced)
	})
}

// aging is a store from which it takes long to fetch a history file.
type aging struct {
	store.Store
	wait func()
}

func (s *aging) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if strings.HasPrefix(key, "history/") {
		s.wait()
	}
	return s.Store.Get(ctx, key)
}

// OpenAt implements store.RandomReader. Only merging reads complete files.
func (s *aging) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	return store.OpenAt(ctx, s.Store, key)
}

// TestTooOldAfterMerging has the compaction after a sync take so long that its files may be removed as garbage: it is not
// committed, which is a warning, and the files that it would have replaced stay.
func TestTooOldAfterMerging(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	w.Store = &aging{new(memstore.Mem), func() { w.Later(load.Grace/2 + time.Minute) }}
	b.WriteAll(world.Priced, 1, 5, "")
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	for n := range 32 {
		w.Later(5 * time.Minute)
		b.Write(world.Priced, 1, fmt.Sprintf(`"message":"%d"`, n))
		result := w.MustSync(t, world.Feeds(world.Priced), world.Quiet)
		if last := n == 31; result.Compaction != nil || last != (len(result.Warnings) > 0) || last && !strings.Contains(result.Warnings[0], "run it again") {
			t.Fatalf("sync %d: compaction %+v, warnings %q; want none, and a warning of the last sync alone", n, result.Compaction, result.Warnings)
		}
	}
	if files := len(w.Log(t).Files("history.bond_priced_deals")); files != 33 {
		t.Errorf("%d history files, want the 33 that were there", files)
	}
}

// TestManySyncsBesideDamage damages a file: it stays as it is, and what was merged of the others is reported as a commit, and followed by a hint.
func TestManySyncsBesideDamage(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	w.Store = new(memstore.Mem)
	b.WriteAll(world.Priced, 1, 5, "")
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	for n := range 40 {
		w.Later(5 * time.Minute)
		b.Write(world.Priced, 1+int64(n%5), fmt.Sprintf(`"message":"%d"`, n))
		if n == 20 {
			path := w.Log(t).Files("history.bond_priced_deals")[3].Path
			data := storetest.Bytes(t, w.Store, path)
			data[len(data)/3] ^= 1
			storetest.Overwrite(t, w.Store, path, data)
		}
		result := w.MustSync(t, world.Feeds(world.Priced), world.Quiet)
		last := w.Log(t).Newest().Number
		if last == result.Commit {
			continue
		}
		if result.Compaction == nil || result.Compaction.Commit != last || load.ReadHint(t.Context(), w.Store).Commit != last {
			t.Errorf("commit %d is a compaction: the result has %+v, and the hint names commit %d", last, result.Compaction, load.ReadHint(t.Context(), w.Store).Commit)
		}
		if !slices.ContainsFunc(result.Warnings, func(text string) bool {
			return strings.HasPrefix(text, "some files of history were not compacted, for they may be damaged; run `dealflow verify`: ")
		}) {
			t.Errorf("the warnings are %q, want one of the damaged file", result.Warnings)
		}
		return
	}
	t.Error("nothing was compacted")
}
