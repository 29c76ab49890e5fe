package transform

import (
	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/schemas/lake"
)

// HistoryOf gives the rows of a snapshot's batch as a history file has them: the same columns but for the
// day, which comes last. Nothing is copied; the holder releases the record.
func HistoryOf(snapshot Batch) Batch {
	history := snapshot
	columns := snapshot.Record.Columns()
	schema := lake.BatchSchema(snapshot.Table.HistoryColumns())
	history.Record = array.NewRecord(schema, columns[:len(columns)-1], snapshot.Record.NumRows())
	return history
}
