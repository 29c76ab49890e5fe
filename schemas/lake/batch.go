package lake

import (
	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Batch is rows of one table to be written to a file, with the least and greatest deal_id among them (0 if there are no
// rows). The receiver releases the record.
type Batch struct {
	Table     *Table
	Record    arrow.Record
	MinDealID int64
	MaxDealID int64
}

// History returns the rows of a snapshot's batch in the form of a history file: without snapshot_date, which is the
// last column. The two records share their memory; the caller releases each.
func (b Batch) History() Batch {
	columns := b.Record.Columns()
	schema := BatchSchema(b.Table.HistoryColumns())
	b.Record = array.NewRecord(schema, columns[:len(columns)-1], b.Record.NumRows())
	return b
}
