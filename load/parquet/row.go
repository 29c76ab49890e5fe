package parquet

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// RowKey is the key of a row within its table and market; rows of a file are sorted by it. An ordinal that the table
// does not have is 0.
type RowKey struct {
	DealID  int64
	Version int32
	Outer   int32 // ordinal of the list entry that the row's own list belongs to
	Ordinal int32 // of the row in its list
}

// Compare returns -1, 0 or 1, in the order of the rows of a file.
func (k RowKey) Compare(o RowKey) int {
	return cmp.Or(cmp.Compare(k.DealID, o.DealID), cmp.Compare(k.Version, o.Version), cmp.Compare(k.Outer, o.Outer), cmp.Compare(k.Ordinal, o.Ordinal))
}

// SameVersion says whether two rows are of one version of a deal.
func (k RowKey) SameVersion(o RowKey) bool { return k.DealID == o.DealID && k.Version == o.Version }

// SameList says whether two rows are of one list.
func (k RowKey) SameList(o RowKey) bool { return k.SameVersion(o) && k.Outer == o.Outer }

// AppendCell appends one value to buf in a form for comparing: two lists of values have equal bytes only if all values
// are equal. Each value is prefixed by whether it is NULL, each text by its length. A dictionary gives the same bytes
// as plain texts.
func AppendCell(buf []byte, column arrow.Array, row int) []byte {
	if column.IsNull(row) {
		return append(buf, 0)
	}
	if texts, ok := column.(*array.Dictionary); ok {
		return AppendCell(buf, texts.Dictionary(), texts.GetValueIndex(row))
	}
	buf = append(buf, 1)
	switch a := column.(type) {
	case *array.String:
		text := a.Value(row)
		return append(binary.AppendUvarint(buf, uint64(len(text))), text...)
	case *array.Boolean:
		if a.Value(row) {
			return append(buf, 1)
		}
		return append(buf, 0)
	case *array.Int32:
		return binary.LittleEndian.AppendUint32(buf, uint32(a.Value(row)))
	case *array.Int64:
		return binary.LittleEndian.AppendUint64(buf, uint64(a.Value(row)))
	case *array.Date32:
		return binary.LittleEndian.AppendUint32(buf, uint32(a.Value(row)))
	case *array.Timestamp:
		return binary.LittleEndian.AppendUint64(buf, uint64(a.Value(row)))
	case *array.Decimal128:
		n := a.Value(row)
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(buf, n.LowBits()), uint64(n.HighBits()))
	}
	panic(fmt.Sprintf("no flattened table has a column of type %s", column.DataType()))
}
