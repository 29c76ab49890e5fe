package transform

import (
	"fmt"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Batches collects the rows of a feed's deals, table by table, until they are taken as Arrow records.
// Deals must be appended in the order that the files shall have. It is not safe for concurrent use;
// Release frees what was not taken.
type Batches struct {
	feed     api.Feed
	tables   []tableBatch
	snapshot bool
	date     arrow.Date32
}

type tableBatch struct {
	table   *lake.Table
	values  []lake.Column // the table's columns that are no key
	schema  *arrow.Schema
	builder *array.RecordBuilder
	rows    int
	taken   int // rows of the batch taken last
	bytes   int
	fixed   int // bytes of a row apart from its texts
	minID   int64
	maxID   int64
}

// Batch is the rows of one table, and the least and greatest deal_id in them (0 where there are none).
// The holder releases the record.
type Batch struct {
	Table     *lake.Table
	Record    arrow.Record
	MinDealID int64
	MaxDealID int64
}

// NewHistoryBatches collects rows with the columns of history files.
func NewHistoryBatches(mem memory.Allocator, feed api.Feed) *Batches {
	return newBatches(mem, feed, (*lake.Table).HistoryColumns)
}

// NewSnapshotBatches collects rows with the columns of snapshot files; date is YYYY-MM-DD.
func NewSnapshotBatches(mem memory.Allocator, feed api.Feed, date string) (*Batches, error) {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return nil, fmt.Errorf("snapshot date: %w", err)
	}
	b := newBatches(mem, feed, (*lake.Table).SnapshotColumns)
	b.snapshot, b.date = true, arrow.Date32FromTime(day)
	return b, nil
}

func newBatches(mem memory.Allocator, feed api.Feed, columns func(*lake.Table) []lake.Column) *Batches {
	b := &Batches{feed: feed}
	for _, table := range lake.FeedTables(feed) {
		schema := lake.ArrowSchema(columns(table))
		b.tables = append(b.tables, tableBatch{
			table: table, values: table.ValueColumns(), schema: schema, builder: array.NewRecordBuilder(mem, schema),
			fixed: rowBytes(columns(table)),
		})
	}
	return b
}

// rowBytes is the size of a row's fixed part in Arrow: values, offsets and a bit for NULL each.
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

// Tables is the number of the feed's tables; the methods below take an index less than it.
func (b *Batches) Tables() int { return len(b.tables) }

// Schema is the Arrow schema of a table's rows.
func (b *Batches) Schema(table int) *arrow.Schema { return b.tables[table].schema }

// Table is the declaration of a table.
func (b *Batches) Table(table int) *lake.Table { return b.tables[table].table }

// Bytes is about what a table's collected rows hold in memory.
func (b *Batches) Bytes(table int) int { return b.tables[table].bytes }

// Rows is the number of rows collected for a table and not yet taken.
func (b *Batches) Rows(table int) int { return b.tables[table].rows }

// Append copies the rows that the flattener has staged, under the given deal and version.
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
		t.builder.Reserve(t.taken) // the next batch will be about as large as the last
	}
	t.maxID = dealID
	t.rows += n
	market := string(b.feed.Market)
	t.bytes += n*(t.fixed+len(market)) + staged.textSize
	columns := b.appendKeys(t, staged, dealID, version, market)
	for c := range staged.width {
		appendColumn(t.builder.Field(columns+c), t.values[c].Type, staged, c)
	}
	if b.snapshot {
		date := t.builder.Field(columns + staged.width).(*array.Date32Builder)
		for range n {
			date.Append(b.date)
		}
	}
}

// appendKeys fills the key columns and returns their number.
func (b *Batches) appendKeys(t *tableBatch, staged *rows, dealID int64, version int32, market string) int {
	markets := t.builder.Field(0).(*array.StringBuilder)
	ids := t.builder.Field(1).(*array.Int64Builder)
	versions := t.builder.Field(2).(*array.Int32Builder)
	depth := t.table.Depth()
	for _, at := range staged.ordinals {
		markets.Append(market)
		ids.Append(dealID)
		versions.Append(version)
		if depth == 2 {
			t.builder.Field(3).(*array.Int32Builder).Append(at.outer)
		}
		if depth > 0 {
			t.builder.Field(2 + depth).(*array.Int32Builder).Append(at.inner)
		}
	}
	return 3 + depth
}

// appendColumn copies one staged column into its builder.
func appendColumn(builder array.Builder, typ lake.Type, staged *rows, column int) {
	for i := column; i < len(staged.cells); i += staged.width {
		c := &staged.cells[i]
		if !c.set {
			builder.AppendNull()
			continue
		}
		switch typ {
		case lake.Text:
			builder.(*array.StringBuilder).BinaryBuilder.Append(c.text)
		case lake.Bool:
			builder.(*array.BooleanBuilder).Append(c.n != 0)
		case lake.Int32:
			builder.(*array.Int32Builder).Append(int32(c.n))
		case lake.Int64:
			builder.(*array.Int64Builder).Append(c.n)
		case lake.Date:
			builder.(*array.Date32Builder).Append(arrow.Date32(c.n))
		case lake.Timestamp:
			builder.(*array.TimestampBuilder).Append(arrow.Timestamp(c.n))
		default:
			builder.(*array.Decimal128Builder).Append(c.num)
		}
	}
}

// Take gives a table's collected rows and starts afresh. The caller releases the record.
func (b *Batches) Take(table int) Batch {
	t := &b.tables[table]
	batch := Batch{Table: t.table, Record: t.builder.NewRecord(), MinDealID: t.minID, MaxDealID: t.maxID}
	t.taken, t.rows, t.bytes, t.minID, t.maxID = t.rows, 0, 0, 0, 0
	return batch
}

// Release frees the builders and the rows that were not taken.
func (b *Batches) Release() {
	for i := range b.tables {
		b.tables[i].builder.Release()
	}
}
