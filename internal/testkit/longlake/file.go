package longlake

import (
	"context"

	"dealflow/load/parquet"
	"dealflow/schemas/lake"
)

// file is a data file that is begun with its first rows, so that none is empty.
type file struct {
	open   func() (*parquet.Writer, error)
	writer *parquet.Writer // nil before the first rows, and after the end
}

// write appends rows as one row group, and releases them.
func (f *file) write(batch lake.Batch) (err error) {
	defer batch.Record.Release()
	if batch.Record.NumRows() == 0 {
		return nil
	}
	if f.writer == nil {
		if f.writer, err = f.open(); err != nil {
			return err
		}
	}
	return f.writer.Write(batch.Record, batch.MinDealID, batch.MaxDealID)
}

// finish puts the file into the lake.
func (f *file) finish(ctx context.Context) error {
	if f.writer == nil {
		return nil
	}
	writer := f.writer
	f.writer = nil
	return writer.Finish(ctx)
}

// abort drops a file that was not finished.
func (f *file) abort() error {
	if f.writer == nil {
		return nil
	}
	writer := f.writer
	f.writer = nil
	return writer.Abort()
}
