package pipeline_test

import (
	"crypto/sha256"
	stdsql "database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/pipeline"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/oracle"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// nights is a lake after its first night, and what its second one would make of it.
type nights struct {
	*world
	feeds    []api.Feed
	first    store.Store
	old, new state
	oldRows  map[string][]oracle.Row // what the market says, by table
	newRows  map[string][]oracle.Row
	truth    *truth
	catalog  bool // runs make one, and check it before they commit
}

// state is what a lake holds, but for the names of runs.
type state struct {
	commit int64
	files  []string // folder and SHA-256 of all files of the flattened tables
	heads  map[api.Feed]lake.Heads
}

// newNights runs the first night; the clock then stands in the second one.
func newNights(t *testing.T) *nights {
	t.Helper()
	n := &nights{world: newWorld(t, sim.Config{Seed: 5, Deals: 20}), feeds: []api.Feed{priced, expected, loanExpected}}
	n.truth = newTruth(t, n.feeds...)
	n.night(t, 0, feeds(n.feeds...))
	n.first = n.store
	n.old, n.oldRows = wholeState(t, n.first), n.truth.rows(t, n.world)

	n.evening(4)
	n.newRows = n.truth.rows(t, n.world)
	undisturbed := copyStore(t, n.first, new(memstore.Mem))
	result, err := n.runInto(t, undisturbed)
	if err != nil {
		t.Fatal(err)
	}
	n.new = wholeState(t, undisturbed)
	if result.Count(func(f *lake.FeedRun) int64 { return min(f.Added, 1) + min(f.Changed, 1) + min(f.Removed, 1) }) < 6 {
		t.Fatalf("the second night brings too little to be a test: %+v", result.Feeds)
	}
	return n
}

// runInto runs now, into a store.
func (n *nights) runInto(t *testing.T, s store.Store) (*pipeline.Result, error) {
	t.Helper()
	return n.run(t, feeds(n.feeds...), func(c *pipeline.Config) { c.Store, c.NoCatalog = s, !n.catalog })
}

// calls counts the store calls of an undisturbed second night.
func (n *nights) calls(t *testing.T, s store.Store) int64 {
	t.Helper()
	count := &faultstore.Store{Store: copyStore(t, n.first, s)}
	if _, err := n.runInto(t, count); err != nil {
		t.Fatal(err)
	}
	return count.Calls()
}

// TestKilledRun fails each store call of a second night in turn, and all calls after it, as if the
// process had died there: before the call was applied, or right after. The lake then shows the first
// night or the second, whole; and the next run makes of it what an undisturbed one would have made.
// This is held for the calls of a run without a catalog, before it is applied in a folder and after it in
// memory, and for some calls of one with a catalog through that.
func TestKilledRun(t *testing.T) {
	t.Parallel()
	n := newNights(t)
	calls := n.calls(t, folder(t, t.TempDir()))
	seen := map[int64]int{}
	for at := int64(0); at < calls; at += stride() {
		for _, applied := range []bool{false, true} {
			empty := store.Store(new(memstore.Mem))
			if !applied {
				empty = folder(t, t.TempDir())
			}
			s := copyStore(t, n.first, empty)
			seen[n.kill(t, s, at+1, applied).commit]++
			n.recover(t, s)
			if t.Failed() {
				t.Fatalf("call %d of %d failed, applied: %t", at+1, calls, applied)
			}
		}
	}
	if !testing.Short() && (seen[1] == 0 || seen[2] == 0) {
		t.Errorf("kills by the commit that they left behind: %v, want some of 1 and of 2", seen)
	}
	n.catalog = true
	calls = n.calls(t, folder(t, t.TempDir()))
	commit := calls - 3 // the hint, a look for a newer commit, and the catalog follow
	for _, c := range []struct {
		at      int64
		applied bool
	}{{calls / 2, false}, {commit, false}, {commit, true}, {commit + 2, false}, {calls, false}} {
		t.Run(fmt.Sprintf("folder, call %d, applied %t", c.at, c.applied), func(t *testing.T) {
			n.killAndLook(t, copyStore(t, n.first, folder(t, t.TempDir())), c.at, c.applied)
		})
	}
}

// stride is how far apart the calls are that are killed: every third, fewer in short runs (under the race
// detector), each of them with DEALFLOW_FULL=1.
func stride() int64 {
	switch {
	case testing.Short():
		return 7
	case os.Getenv("DEALFLOW_FULL") == "":
		return 3
	}
	return 1
}

// kill fails a call of a run into s, and all after it, and checks that the first night is left or the
// second.
func (n *nights) kill(t *testing.T, s store.Store, at int64, applied bool) (left state) {
	t.Helper()
	result, err := n.runInto(t, &faultstore.Store{Store: s, FailAt: at, Applied: applied})
	left = wholeState(t, s)
	switch {
	case err == nil && len(result.Warnings) == 0:
		t.Error("nobody was told")
	case err == nil && left.commit != 2:
		t.Errorf("the run says it is done, but the lake is at commit %d", left.commit)
	}
	if left.commit == 1 {
		wantState(t, "of the first night", left, n.old)
	} else {
		wantState(t, "of the second night", left, n.new)
	}
	return left
}

// recover runs again and checks that the second night is there.
func (n *nights) recover(t *testing.T, s store.Store) {
	t.Helper()
	if _, err := n.runInto(t, s); err != nil {
		t.Errorf("the run after it: %v", err)
	}
	wantState(t, "after the next run", wholeState(t, s), n.new)
}

// killAndLook is kill with a look through the catalog: at what is left, and at what the next run makes
// of it.
func (n *nights) killAndLook(t *testing.T, s store.Store, at int64, applied bool) {
	t.Helper()
	w := &world{clock: n.clock, market: n.market, url: n.url, pages: n.pages, attempts: n.attempts, store: s}
	look := func(what string, want map[string][]oracle.Row) {
		w.ask(t, func(db *stdsql.DB) {
			n.truth.compare(t, db, what, func(table string) string { return table }, want)
		})
	}
	if left := n.kill(t, s, at, applied); left.commit == 1 {
		look("first night", n.oldRows)
	} else {
		look("second night", n.newRows)
	}
	w.mustRun(t, feeds(n.feeds...))
	look("after the next run", n.newRows)
	w.ask(t, func(db *stdsql.DB) {
		wantAgreement(t, db, n.feeds...)
		wantInstants(t, db)
	})
}

// TestStoreStumbles fails each store call of a second night in turn, but none after it, every other
// one applied: the run says so, unless it has found a way round; what it commits is whole, and the next
// run completes it. Of a run with a catalog, which reads much more, some calls fail.
func TestStoreStumbles(t *testing.T) {
	t.Parallel()
	n := newNights(t)
	n.stumble(t, stride())
	n.catalog = true
	n.stumble(t, 23*stride())
}

// stumble fails calls, one in each run.
func (n *nights) stumble(t *testing.T, stride int64) {
	t.Helper()
	calls := n.calls(t, new(memstore.Mem))
	for at := int64(0); at < calls; at += stride {
		s := copyStore(t, n.first, new(memstore.Mem))
		_, err := n.runInto(t, &faultstore.Store{Store: s, FailAt: at + 1, Applied: at%2 == 0, Once: true})
		left := wholeState(t, s)
		switch {
		case err == nil:
			wantState(t, "of a run that says it is done", left, n.new)
		case left.commit == 1:
			wantState(t, "of the first night", left, n.old)
		case !errors.Is(err, pipeline.ErrFeedsFailed):
			t.Errorf("the run fails, yet it committed: %v", err)
		}
		n.recover(t, s)
		if t.Failed() {
			t.Fatalf("call %d failed", at+1)
		}
	}
}

// copyStore copies all objects and gives the copy.
func copyStore(t *testing.T, from, to store.Store) store.Store {
	t.Helper()
	storetest.Copy(t, from, to)
	return to
}

// wholeState reads what a lake holds and checks that every file that the log names is there, with the
// right size and bytes.
func wholeState(t *testing.T, s store.Store) state {
	t.Helper()
	l, err := load.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	heads, err := l.Heads(t.Context(), testkit.Allocator(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range l.Log().AllFiles() {
		data := storetest.Bytes(t, s, file.Path)
		sum := sha256.Sum256(data)
		if int64(len(data)) != file.Bytes || hex.EncodeToString(sum[:]) != file.SHA256 {
			t.Errorf("%s: got %d bytes, SHA-256 %x; the commit says %d, %s", file.Path, len(data), sum, file.Bytes, file.SHA256)
		}
	}
	return state{commit: l.Log().Number, files: sumsOf(l.Log()), heads: heads}
}

// sumsOf lists folder and SHA-256 of the live files of the flattened tables. That is what equal runs
// have in common: files are named after their run, and deal_versions and the quarantine name it too.
func sumsOf(log *load.Log) []string {
	var sums []string
	for _, file := range log.AllFiles() {
		if file.Table != lake.HistoryTable(lake.DealVersions) && file.Table != "quarantine" {
			sums = append(sums, path.Dir(file.Path)+" "+file.SHA256)
		}
	}
	slices.Sort(sums)
	return sums
}

// wantState compares all but the number of the commit.
func wantState(t *testing.T, what string, got, want state) {
	t.Helper()
	if !slices.Equal(got.files, want.files) {
		t.Errorf("files %s:\n got %s\nwant %s", what, strings.Join(got.files, "\n     "), strings.Join(want.files, "\n     "))
	}
	if !maps.EqualFunc(got.heads, want.heads, maps.Equal) {
		t.Errorf("heads %s differ: got %v, want %v", what, got.heads, want.heads)
	}
}
