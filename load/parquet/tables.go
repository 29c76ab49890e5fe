package parquet

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/schemas/lake"
)

// Output is a file that is created together with its first rows, so that no file is empty. It ends with Finish or
// Abort; Abort after Finish does nothing. It is not safe for concurrent use.
type Output struct {
	Create func() (*Writer, error)

	writer *Writer // nil before the first rows, and after the end
}

// Write appends the rows of a batch as one row group. The caller keeps the batch and releases it.
func (o *Output) Write(batch lake.Batch) error {
	if batch.Record.NumRows() == 0 {
		return nil
	}
	if err := o.open(); err != nil {
		return err
	}
	return o.writer.Write(batch.Record, batch.MinDealID, batch.MaxDealID)
}

// open creates the file, unless it is there.
func (o *Output) open() (err error) {
	if o.writer == nil {
		o.writer, err = o.Create()
	}
	return err
}

// writeBoth is Write of a snapshot's rows, and of the same rows into the file of history.
func (o *Output) writeBoth(batch lake.Batch, history *Output) error {
	if batch.Record.NumRows() == 0 {
		return nil
	}
	if err := errors.Join(o.open(), history.open()); err != nil {
		return err
	}
	same := batch.History()
	defer same.Record.Release()
	return o.writer.WriteBoth(batch.Record, history.writer, same.Record, batch.MinDealID, batch.MaxDealID)
}

// takeOver is Writer.TakeOver.
func (o *Output) takeOver(from *File, group int, deals GroupDeals, rest arrow.Record) error {
	if err := o.open(); err != nil {
		return err
	}
	return o.writer.TakeOver(from, group, deals, rest)
}

// Finish puts the file into the lake, if there is one.
func (o *Output) Finish(ctx context.Context) error {
	if o.writer == nil {
		return nil
	}
	writer := o.writer
	o.writer = nil
	return writer.Finish(ctx)
}

// Abort drops a file that was not finished.
func (o *Output) Abort() error {
	if o.writer == nil {
		return nil
	}
	writer := o.writer
	o.writer = nil
	return writer.Abort()
}

// Batches is the rows of a feed's tables that were collected and not yet taken. transform.Batches implements it.
type Batches interface {
	// Tables is the number of tables; the other methods take an index less than it.
	Tables() int
	Table(table int) *lake.Table
	// Bytes is the approximate size of a table's collected rows in memory.
	Bytes(table int) int
	Rows(table int) int
	// Take returns a table's collected rows and starts again without rows. The caller releases the record.
	Take(table int) lake.Batch
	Release()
}

// Tables writes the tables of one feed, one file per table. Release must be called at the end. It is not safe for
// concurrent use.
type Tables struct {
	// Seen is called with rows before they are written. It may be nil.
	Seen func(table int, rows arrow.Record)
	// History receives every row of a snapshot again, as history files have it. What both files have in common is encoded
	// once. It may be nil.
	History *Tables

	rows    Batches
	outputs []Output
	notes   StretchNotes // nil: none are made
}

// NewTables returns a writer of collected rows. create opens the file of a table when its first rows are written.
func NewTables(rows Batches, create func(*lake.Table) (*Writer, error)) *Tables {
	t := &Tables{rows: rows}
	for i := range rows.Tables() {
		t.outputs = append(t.outputs, Output{Create: func() (*Writer, error) { return create(rows.Table(i)) }})
	}
	return t
}

// Drain writes the tables whose collected rows fill a row group.
func (t *Tables) Drain() error {
	for i := range t.outputs {
		if t.rows.Bytes(i) >= RowGroupBytes {
			if err := t.flush(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// Flush writes all collected rows.
func (t *Tables) Flush() error {
	for i := range t.outputs {
		if err := t.flush(i); err != nil {
			return err
		}
	}
	return nil
}

// flush writes a table's collected rows as one row group.
func (t *Tables) flush(i int) error {
	if t.rows.Rows(i) == 0 {
		return nil
	}
	batch := t.rows.Take(i)
	defer batch.Record.Release()
	if t.Seen != nil {
		t.Seen(i, batch.Record)
	}
	if t.History != nil {
		return t.outputs[i].writeBoth(batch, &t.History.outputs[i])
	}
	return t.outputs[i].Write(batch)
}

// TakeOver is Writer.TakeOver for the file of a table. It does not write collected rows: call Flush first.
func (t *Tables) TakeOver(i int, from *File, group int, deals GroupDeals, rest arrow.Record) error {
	return t.outputs[i].takeOver(from, group, deals, rest)
}

// NoteStretch notes a stretch, by its first deal, in the file of the first table, that of the deals themselves.
func (t *Tables) NoteStretch(first int64, note StretchNote) {
	if t.notes == nil {
		t.notes = StretchNotes{}
	}
	t.notes.add(first, note)
}

// Finish writes the remaining rows of each table and puts its file into the lake.
func (t *Tables) Finish(ctx context.Context) error {
	for i := range t.outputs {
		if err := t.flush(i); err != nil {
			return err
		}
		if err := t.FinishTable(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// FinishTable puts one table's file into the lake. It does not write collected rows: call Flush first.
func (t *Tables) FinishTable(ctx context.Context, i int) error {
	if w := t.outputs[i].writer; i == 0 && w != nil && t.notes != nil {
		if err := w.noteStretches(t.notes); err != nil {
			return err
		}
	}
	return t.outputs[i].Finish(ctx)
}

// Release drops the files that were not finished, and frees the rows.
func (t *Tables) Release() error {
	var errs []error
	for i := range t.outputs {
		errs = append(errs, t.outputs[i].Abort())
	}
	t.rows.Release()
	return errors.Join(errs...)
}
