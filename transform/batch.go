package transform

import (
	"fmt"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform/internal/columnar"
)

// Batches collects the rows of a feed's deals, table by table, until Take returns them as Arrow records. Append deals
// in the order that the files need. Batches is not safe for concurrent use. Release frees the rows that were not taken.
type Batches struct {
	feed   api.Feed
	tables []tableBatch
	keys   [5]cell // keys of the row being copied: market, deal, version, ordinals
	day    []cell  // date of the snapshot; empty for history
}

type tableBatch struct {
	table   *lake.Table
	depth   int // number of lists around a row: 0, 1 or 2
	schema  *arrow.Schema
	columns []columnar.Column
	room    int // rows reserved in columns
	rows    int
	taken   int // rows of the previous batch
	bytes   int
	fixed   int // bytes of a row without its texts
	minID   int64
	maxID   int64
}

// NewHistoryBatches returns an empty collection with the columns of history files.
func NewHistoryBatches(mem memory.Allocator, feed api.Feed) *Batches {
	return newBatches(mem, feed, (*lake.Table).HistoryColumns)
}

// NewSnapshotBatches returns an empty collection with the columns of snapshot files. date is YYYY-MM-DD; any other text
// is an error.
func NewSnapshotBatches(mem memory.Allocator, feed api.Feed, date string) (*Batches, error) {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return nil, fmt.Errorf("snapshot date: %w", err)
	}
	b := newBatches(mem, feed, (*lake.Table).SnapshotColumns)
	b.day = []cell{{Set: true, N: int64(arrow.Date32FromTime(day))}}
	return b, nil
}

func newBatches(mem memory.Allocator, feed api.Feed, columns func(*lake.Table) []lake.Column) *Batches {
	b := &Batches{feed: feed}
	for i := range b.keys {
		b.keys[i].Set = true
	}
	b.keys[0].Text = []byte(feed.Market)
	for _, table := range lake.FeedTables(feed) {
		b.tables = append(b.tables, newTableBatch(mem, table, columns(table)))
	}
	return b
}

func newTableBatch(mem memory.Allocator, table *lake.Table, columns []lake.Column) tableBatch {
	t := tableBatch{table: table, depth: table.Depth(), schema: lake.BatchSchema(columns), fixed: rowBytes(columns)}
	for _, field := range t.schema.Fields() {
		t.columns = append(t.columns, columnar.NewColumn(mem, field.Type))
	}
	return t
}

// rowBytes returns the size in bytes of a row's fixed part in Arrow: values, offsets, and one bit per column for NULL.
func rowBytes(columns []lake.Column) int {
	bits := 0
	for i := range columns {
		bits++
		if t, ok := columns[i].Type.Arrow().(arrow.FixedWidthDataType); ok {
			bits += t.BitWidth()
		} else {
			bits += 32
		}
	}
	return bits / 8
}

// Tables returns the number of the feed's tables. The methods below take a table's index: 0 to Tables()-1.
func (b *Batches) Tables() int { return len(b.tables) }

// Schema returns the Arrow schema of a table's rows.
func (b *Batches) Schema(table int) *arrow.Schema { return b.tables[table].schema }

// Table returns the declaration of a table.
func (b *Batches) Table(table int) *lake.Table { return b.tables[table].table }

// Bytes returns the approximate size of a table's collected rows in memory, in bytes, without dictionaries. The caller
// limits the size of a row group by it.
func (b *Batches) Bytes(table int) int { return b.tables[table].bytes }

// Rows returns the number of rows that are collected for a table and not yet taken.
func (b *Batches) Rows(table int) int { return b.tables[table].rows }

// Append copies the rows that f has staged, with the given deal id and version.
func (b *Batches) Append(f *Flattener, dealID int64, version int32) {
	for i := range b.tables {
		b.appendTable(&b.tables[i], &f.tables[i], dealID, version)
	}
}

func (b *Batches) appendTable(t *tableBatch, staged *rows, dealID int64, version int32) {
	n := len(staged.ordinals)
	if n == 0 {
		return
	}
	if t.rows == 0 {
		t.minID = dealID
	}
	t.maxID = dealID
	t.bytes += n*(t.fixed+len(b.feed.Market)) + staged.textSize
	t.reserve(t.rows + n)
	b.keys[1].N, b.keys[2].N = dealID, int64(version)
	for i, position := range staged.ordinals {
		next := t.put(0, b.keysAt(t.depth, position))
		next = t.put(next, staged.cells[i*staged.width:(i+1)*staged.width])
		t.put(next, b.day)
		t.rows++
	}
}

// keysAt returns the key cells of a row. They are valid until the next call.
func (b *Batches) keysAt(depth int, position ordinals) []cell {
	switch depth {
	case 1:
		b.keys[3].N = int64(position.inner)
	case 2:
		b.keys[3].N, b.keys[4].N = int64(position.outer), int64(position.inner)
	}
	return b.keys[:3+depth]
}

// reserve allocates columns for a total number of rows.
func (t *tableBatch) reserve(rows int) {
	if rows <= t.room {
		return
	}
	if t.room == 0 { // a new batch: expect about as many rows as in the previous one
		t.room = t.taken + t.taken/8
	}
	if t.room < rows {
		t.room = 2 * rows
	}
	for i := range t.columns {
		t.columns[i].Reserve(t.room)
	}
}

// put writes cells into the row after the last one, beginning with the column from. It returns the column after them.
func (t *tableBatch) put(from int, cells []cell) (next int) {
	next = from + len(cells)
	columns := t.columns[from:next]
	for i := range cells {
		if cells[i].Set {
			columns[i].Put(t.rows, &cells[i])
		}
	}
	return next
}

// Take returns a table's collected rows and resets the table. The caller releases the record.
func (b *Batches) Take(table int) lake.Batch {
	return b.tables[table].take()
}

func (t *tableBatch) take() lake.Batch {
	arrays := make([]arrow.Array, len(t.columns))
	for i := range t.columns {
		arrays[i] = t.columns[i].Take(t.rows)
		defer arrays[i].Release() // the record keeps its own reference
	}
	batch := lake.Batch{Table: t.table, Record: array.NewRecord(t.schema, arrays, int64(t.rows)), MinDealID: t.minID, MaxDealID: t.maxID}
	t.taken, t.room, t.rows, t.bytes, t.minID, t.maxID = t.rows, 0, 0, 0, 0, 0
	return batch
}

// Release frees the rows that were not taken.
func (b *Batches) Release() {
	for i := range b.tables {
		b.tables[i].release()
	}
}

func (t *tableBatch) release() {
	for c := range t.columns {
		t.columns[c].Release()
	}
}
