package columnar

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// CellAt returns a row of an Arrow column. The cell's text is valid as long as the column.
func CellAt(column arrow.Array, row int) Cell {
	if column.IsNull(row) {
		return Cell{}
	}
	c := Cell{Set: true}
	switch a := column.(type) {
	case *array.String:
		c.Text = []byte(a.Value(row))
	case *array.Boolean:
		if a.Value(row) {
			c.N = 1
		}
	case *array.Int32:
		c.N = int64(a.Value(row))
	case *array.Int64:
		c.N = a.Value(row)
	case *array.Date32:
		c.N = int64(a.Value(row))
	case *array.Timestamp:
		c.N = int64(a.Value(row))
	case *array.Decimal128:
		c.Num = a.Value(row)
	default:
		panic("no flattened table has a column of type " + column.DataType().String())
	}
	return c
}
