package maintain

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/schemas/lake"
)

// rowBuffer collects rows of several files for one row group. It is not safe for concurrent use.
type rowBuffer struct {
	builder *array.RecordBuilder
	version int32 // schema version that rows of deal_versions name
	schema  int   // index of the column schema_version, or -1
	fixed   int   // bytes of a row without its texts
	bytes   int   // approximate size of the rows in memory
	rows    int
	min     int64 // least deal_id
	max     int64 // greatest deal_id
	taken   bool  // take has returned these rows: the next append starts again
}

func newRowBuffer(mem memory.Allocator, columns []lake.Column, version int) *rowBuffer {
	b := &rowBuffer{version: int32(version), builder: array.NewRecordBuilder(mem, lake.ArrowSchema(columns)), schema: -1}
	bits := 0
	for i := range columns {
		bits++ // for NULL
		if t, ok := columns[i].Type.Arrow().(arrow.FixedWidthDataType); ok {
			bits += t.BitWidth()
		} else {
			bits += 32
		}
		if columns[i].Name == "schema_version" {
			b.schema = i
		}
	}
	b.fixed = bits / 8
	return b
}

// append copies a row. Columns that its file lacks are NULL.
func (b *rowBuffer) append(r mergedRow) {
	if b.taken {
		b.rows, b.bytes, b.taken = 0, 0, false
	}
	if b.rows == 0 {
		b.min, b.max = r.key.DealID, r.key.DealID
	}
	b.min, b.max = min(b.min, r.key.DealID), max(b.max, r.key.DealID)
	b.rows++
	b.bytes += b.fixed
	for i, from := range r.from {
		field := b.builder.Field(i)
		switch {
		case i == b.schema:
			field.(*array.Int32Builder).Append(b.version)
		case from < 0:
			field.AppendNull()
		default:
			b.bytes += copyCell(field, r.record.Column(from), r.row)
		}
	}
}

// take returns the rows; the next append starts again. min and max still describe the returned rows. The caller
// releases the record.
func (b *rowBuffer) take() arrow.Record {
	b.taken = true
	return b.builder.NewRecord()
}

// isEmpty says whether there are no rows to take.
func (b *rowBuffer) isEmpty() bool { return b.taken || b.rows == 0 }

func (b *rowBuffer) release() { b.builder.Release() }

// copyCell appends a value, and returns the size of its text in bytes.
func copyCell(to array.Builder, column arrow.Array, row int) (text int) {
	if column.IsNull(row) {
		to.AppendNull()
		return 0
	}
	switch a := column.(type) {
	case *array.String:
		value := a.Value(row)
		to.(*array.StringBuilder).Append(value)
		return len(value)
	case *array.Boolean:
		to.(*array.BooleanBuilder).Append(a.Value(row))
	case *array.Int32:
		to.(*array.Int32Builder).Append(a.Value(row))
	case *array.Int64:
		to.(*array.Int64Builder).Append(a.Value(row))
	case *array.Date32:
		to.(*array.Date32Builder).Append(a.Value(row))
	case *array.Timestamp:
		to.(*array.TimestampBuilder).Append(a.Value(row))
	case *array.Decimal128:
		to.(*array.Decimal128Builder).Append(a.Value(row))
	case *array.FixedSizeBinary:
		to.(*array.FixedSizeBinaryBuilder).Append(a.Value(row))
	default:
		panic(fmt.Sprintf("no table has a column of type %s", column.DataType()))
	}
	return 0
}
