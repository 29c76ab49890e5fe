package iceberg

import (
	"cmp"
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load/iceberg/known"
	"dealflow/load/parquet"
	"dealflow/load/store"
)

// A snapshot of a table of Current names today's files, minus the rows that were no longer or not yet known. To share
// these between snapshots, commits are divided into blocks of 1, 8, 64 … commits, each of which begins after a multiple of
// its size. Snapshot N is made of the blocks that together are the commits 1 … N.

// fan is the number of blocks of a size in one of the next size.
const fan = 8

// span is the commits Lo … Lo+Size-1 of a block.
type span struct {
	Lo   int64 `json:"lo"`
	Size int64 `json:"size"` // a power of fan, or what merged makes
}

func (s span) end() int64 { return s.Lo + s.Size } // the first commit after the span

// contains says whether the span has all commits of other.
func (s span) contains(other span) bool { return s.Lo <= other.Lo && other.end() <= s.end() }

// cover returns the spans that together are the commits 1 … n, oldest first.
func cover(n int64) []span {
	size := int64(1)
	for size*fan <= n {
		size *= fan
	}
	var spans []span
	for lo := int64(1); lo <= n; {
		for lo+size-1 > n {
			size /= fan
		}
		spans = append(spans, span{lo, size})
		lo += size
	}
	return spans
}

// coverAfter returns spans that contain the commits n+1 … last, and may contain later ones.
func coverAfter(n, last int64) []span {
	var spans []span
	for lo := n + 1; lo <= last; {
		size := int64(1)
		for size < last && (lo-1)%(size*fan) == 0 {
			size *= fan
		}
		spans = append(spans, span{lo, size})
		lo += size
	}
	return spans
}

// A manifest repeats the schema of its table. So short spans that few kept commits share are one block.
const (
	long = fan * fan // the least size of a span that many kept commits share
	few  = 4         // the least number that are many
)

// parent returns the span of the next size that contains this one.
func (s span) parent() span {
	size := s.Size * fan
	return span{(s.Lo-1)/size*size + 1, size}
}

// merged returns consecutive spans, those as one that are short and of which share says that few kept commits have them.
func merged(spans []span, share func(span) int) (found []span) {
	alone := func(s span) bool { return s.Size < long && share(s) < few }
	for i, s := range spans {
		if i > 0 && alone(s) && alone(spans[i-1]) {
			found[len(found)-1].Size += s.Size
		} else {
			found = append(found, s)
		}
	}
	return found
}

// between returns how many of the sorted commits are lo … hi-1.
func between(commits []int64, lo, hi int64) int {
	from, _ := slices.BinarySearch(commits, lo)
	to, _ := slices.BinarySearch(commits, hi)
	return to - from
}

// The kinds of blocks.
const (
	dataFiles = "data"   // files whose first row became known in the span
	closed    = "closed" // rows that a version of the span has replaced or removed
	later     = "later"  // rows that became known in the span, later than the first row of their file
)

// block is what one manifest says: the files, or the deleted rows, of a span. A block without entries has no manifest.
type block struct {
	Kind string `json:"kind"`
	span
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
func rowsIn(events []known.Event, s span) []int64 {
	at := func(commit int64) int {
		i, _ := slices.BinarySearchFunc(events, commit, func(e known.Event, c int64) int { return cmp.Compare(int64(e.Commit), c) })
		return i
	}
	within := events[at(s.Lo):at(s.end())]
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
