package load

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/load/parquet"
	"dealflow/schemas/lake"
)

// Output is a file that is created with its first rows, so that no file is without rows. It ends in Finish or Abort;
// Abort after Finish does nothing. It is not safe for concurrent use.
type Output struct {
	Create func() (*parquet.Writer, error)

	writer *parquet.Writer // nil before the first rows, and after the end
}

// Write appends the rows of a batch as one row group. It does not keep or release them.
func (o *Output) Write(batch lake.Batch) (err error) {
	if batch.Record.NumRows() == 0 {
		return nil
	}
	if o.writer == nil {
		if o.writer, err = o.Create(); err != nil {
			return err
		}
	}
	return o.writer.Write(batch.Record, batch.MinDealID, batch.MaxDealID)
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

// Batches is the rows of a feed's tables that were collected and not yet taken. transform.Batches has it.
type Batches interface {
	// Tables is the number of tables; the other methods take an index less than it.
	Tables() int
	Table(table int) *lake.Table
	// Bytes is about what a table's rows hold in memory.
	Bytes(table int) int
	Rows(table int) int
	// Take returns a table's rows and starts again. The caller releases the record.
	Take(table int) lake.Batch
	Release()
}

// Tables writes the tables of one feed, a file for each. Release must be called at the end. It is not safe for
// concurrent use.
type Tables struct {
	// Seen is called with rows before they are written; nil: it is not.
	Seen func(table int, rows arrow.Record)
	// History takes the rows of a snapshot as history files have them; nil: it does not.
	History *Tables

	rows    Batches
	outputs []Output
}

// NewTables writes the rows of a collection into files that create opens.
func NewTables(rows Batches, create func(*lake.Table) (*parquet.Writer, error)) *Tables {
	t := &Tables{rows: rows}
	for i := range rows.Tables() {
		t.outputs = append(t.outputs, Output{Create: func() (*parquet.Writer, error) { return create(rows.Table(i)) }})
	}
	return t
}

// Drain writes those tables whose rows fill a row group.
func (t *Tables) Drain() error {
	for i := range t.outputs {
		if t.rows.Bytes(i) >= parquet.RowGroupBytes {
			if err := t.flush(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// Flush writes all rows that were collected.
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
	if t.History != nil {
		history := batch.History()
		defer history.Record.Release()
		if err := t.History.write(i, history); err != nil {
			return err
		}
	}
	return t.write(i, batch)
}

func (t *Tables) write(i int, batch lake.Batch) error {
	if t.Seen != nil {
		t.Seen(i, batch.Record)
	}
	return t.outputs[i].Write(batch)
}

// Finish writes what is left of each table and puts its file into the lake.
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

// FinishTable puts one table's file into the lake. Rows that were not flushed stay out of it.
func (t *Tables) FinishTable(ctx context.Context, i int) error { return t.outputs[i].Finish(ctx) }

// Release drops the files that were not finished, and frees the rows.
func (t *Tables) Release() error {
	var errs []error
	for i := range t.outputs {
		errs = append(errs, t.outputs[i].Abort())
	}
	t.rows.Release()
	return errors.Join(errs...)
}
