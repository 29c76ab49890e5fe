package iceberg

import (
	"cmp"
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load/iceberg/known"
	"dealflow/load/iceberg/spans"
	"dealflow/load/parquet"
	"dealflow/load/store"
)

// A snapshot of a table of Current names today's files, minus the rows that were no longer or not yet known. To share
// these between snapshots, there is a block for each span of commits (package spans). Snapshot N is made of the blocks that together
// are the commits 1 … N.

// The kinds of blocks.
const (
	dataFiles = "data"   // files whose first row became known in the span
	closed    = "closed" // rows that a version of the span has replaced or removed
	later     = "later"  // rows that became known in the span, later than the first row of their file
)

// block is what one manifest says: the files, or the deleted rows, of a span. A block without entries has no manifest.
type block struct {
	Kind string `json:"kind"`
	spans.Span
	Manifest object  `json:"manifest"`
	Entries  []entry `json:"entries"` // sorted by data file
}

// entry is one data file of a block, or one file of position deletes for a data file.
type entry struct {
	Data      string `json:"data"`             // key of the data file
	Deletes   object `json:"deletes,omitzero"` // the file of position deletes; zero for a block of data files
	Rows      int64  `json:"rows"`
	Bytes     int64  `json:"bytes,omitempty"`      // of the data file; 0 in a block of deletes
	Market    string `json:"market,omitempty"`     // the least
	MaxMarket string `json:"max_market,omitempty"` // the greatest; "": the same
	MinDealID int64  `json:"min_deal_id,omitempty"`
	MaxDealID int64  `json:"max_deal_id,omitempty"`

	positions []int64 // of the deleted rows; only in a publication that puts nothing
}

// object is an object that a publication puts.
type object struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
}

func (b *block) rows() (n int64) {
	for i := range b.Entries {
		n += b.Entries[i].Rows
	}
	return n
}

// rowsIn returns the sorted rows of the events in a span. The events are sorted.
func rowsIn(events []known.Event, s spans.Span) []int64 {
	at := func(commit int64) int {
		i, _ := slices.BinarySearchFunc(events, commit, func(e known.Event, c int64) int { return cmp.Compare(int64(e.Commit), c) })
		return i
	}
	within := events[at(s.Lo):at(s.End())]
	rows := make([]int64, len(within))
	for i, e := range within {
		rows[i] = int64(e.Row)
	}
	slices.Sort(rows)
	return rows
}

// readDeletes reads the rows that a file of position deletes names.
func readDeletes(ctx context.Context, s store.Store, mem memory.Allocator, deletes object) (rows []int64, err error) {
	err = parquet.Scan(ctx, s, mem, deletes.Key, []string{parquet.DeletePosition}, nil, func(rec arrow.Record) error {
		rows = append(rows, rec.Column(0).(*array.Int64).Int64Values()...)
		return nil
	})
	return rows, err
}
