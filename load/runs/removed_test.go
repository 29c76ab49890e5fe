package runs_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/load/runs"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
)

// counted counts what is asked of a store.
type counted struct {
	memstore.Mem
	lists, gets atomic.Int64
}

func (c *counted) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	c.lists.Add(1)
	return c.Mem.List(ctx, prefix)
}

func (c *counted) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	c.gets.Add(1)
	return c.Mem.Get(ctx, key)
}

// TestRemovedSince checks that the files that young commits removed are found, at the cost of the young commits alone,
// however long the log is.
func TestRemovedSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const commits, young = 5200, 1200
		s := new(counted)
		for n := int64(1); n <= commits; n++ {
			if n == commits-young+1 {
				time.Sleep(30 * 24 * time.Hour)
			}
			c := lake.Commit{FormatVersion: lake.FormatVersion, Number: n, RunID: "run", KnownAt: lake.At(time.Now()), Remove: []string{fmt.Sprint("file ", n)}}
			data, err := c.Encode()
			if err != nil {
				t.Fatal(err)
			}
			storetest.Overwrite(t, s, lake.CommitKey(n), data)
		}
		for _, n := range []int64{commits, commits - 1000, commits + 1, 1} { // what people leave there is no commit
			storetest.Overwrite(t, s, strings.Replace(lake.CommitKey(n), ".json", ".bak", 1), []byte("a copy"))
		}
		for _, test := range []struct {
			since              time.Time
			want, first, lists int64
		}{
			{time.Now().Add(-7 * 24 * time.Hour), young, commits - young + 1, 3}, // the third list has none
			{time.Now().Add(time.Second), 0, 0, 1},
			{time.Now().AddDate(-1, 0, 0), commits, 1, 6},
		} {
			s.lists.Store(0)
			s.gets.Store(0)
			removed, err := runs.RemovedSince(t.Context(), s, commits, test.since)
			if err != nil {
				t.Fatal(err)
			}
			if int64(len(removed)) != test.want || s.gets.Load() != test.want || s.lists.Load() != test.lists {
				t.Errorf("since %s: got %d files by %d lists and %d reads, want %d by %d and %d", test.since, len(removed), s.lists.Load(), s.gets.Load(), test.want, test.lists, test.want)
			}
			for n := test.first; n <= commits && n > 0; n++ {
				if !removed[fmt.Sprint("file ", n)] {
					t.Fatalf("since %s: the file that commit %d removed is absent", test.since, n)
				}
			}
		}
	})
}
