package parquet

import (
	"context"
	"errors"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Project copies some columns of all rows of files into a local Parquet file, which it creates or replaces. All files
// are of one table. It reads only these columns from the store.
func Project(ctx context.Context, s store.Store, mem memory.Allocator, files []lake.File, columns []string, path string) (err error) {
	if len(files) == 0 {
		return errors.New("no files to project")
	}
	schema := lake.ArrowSchema(lake.PickColumns(lake.TableColumns(files[0].Table), columns...))
	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w, err := pqarrow.NewFileWriter(schema, out, nil, pqarrow.DefaultWriterProps())
	if err != nil {
		return errors.Join(err, out.Close())
	}
	defer func() { err = errors.Join(err, w.Close()) }() // closes out, too
	for _, f := range files {
		err := Scan(ctx, s, mem, f.Path, columns, nil, func(record arrow.Record) error {
			row := array.NewRecord(schema, record.Columns(), record.NumRows())
			defer row.Release()
			return w.WriteBuffered(row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// WriteEmpty writes a local Parquet file that has columns and no rows.
func WriteEmpty(path string, columns []lake.Column) error {
	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	groups, err := newRowGroups(memory.DefaultAllocator, out, columns)
	if err == nil {
		err = groups.close()
	}
	return errors.Join(err, out.Close())
}
