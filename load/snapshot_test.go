package load_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/testkit"
	"dealflow/load/loadtest"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestSnapshotOfADay lists the files of a feed's snapshot of a day, which a new one replaces: those of its own tables, market and day, and
// no other feed's.
func TestSnapshotOfADay(t *testing.T) {
	t.Parallel()
	s := memstore.Mem{}
	l := loadtest.Open(t, &s)
	mem := testkit.Allocator(t)
	run := loadtest.Begin(t, l, mem, loadtest.Start)
	defer loadtest.Close(t, run)
	days := []string{"2026-03-01", "2026-03-02"}
	for _, feed := range api.Feeds() {
		for _, table := range lake.FeedTables(feed) {
			rows := emptyRow(mem, table.SnapshotColumns())
			for _, day := range days {
				w, err := run.Snapshot(table.Name, feed.Market, day)
				if err == nil {
					err = errors.Join(w.Write(rows, 1, 1), w.Finish(t.Context()))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			rows.Release()
		}
	}
	if _, err := run.Commit(t.Context(), lake.Commit{Command: "run", KnownAt: lake.At(loadtest.Start)}); err != nil {
		t.Fatal(err)
	}
	for _, feed := range api.Feeds() {
		for _, day := range append(days, "2026-03-03") {
			var want []string
			for _, table := range lake.FeedTables(feed) {
				for _, file := range l.Log().AllFiles() {
					if strings.HasPrefix(file.Path, "snapshots/"+table.Name+"/mkt="+string(feed.Market)+"/day="+day+"/") {
						want = append(want, file.Path)
					}
				}
			}
			slices.Sort(want)
			if n := len(lake.FeedTables(feed)); day != "2026-03-03" && len(want) != n {
				t.Fatalf("%s has %d files on %s, want one for each of %d tables", feed, len(want), day, n)
			}
			var got []string
			for _, file := range l.Log().Snapshot(feed, day) {
				got = append(got, file.Path)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s on %s: got %q, want %q", feed, day, got, want)
			}
		}
	}
}

// emptyRow is a row of empty values. The caller releases it.
func emptyRow(mem memory.Allocator, columns []lake.Column) arrow.Record {
	builder := array.NewRecordBuilder(mem, lake.ArrowSchema(columns))
	defer builder.Release()
	for _, field := range builder.Fields() {
		field.AppendEmptyValue()
	}
	return builder.NewRecord()
}
