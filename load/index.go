package load

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"dealflow/load/parquet"
	"dealflow/schemas/lake"
)

// indexColumns are the columns of deal_versions that a catalog keeps itself.
var indexColumns = []string{"service", "market", "kind", "deal_id", "version", "change", "reason", "known_at", "run_id"}

// WriteIndex writes what a catalog needs to know of every version of every deal into a new local Parquet
// file: the columns of deal_versions that say what a version is and when it became known. Of the lake's
// files only these columns are read, not the payloads. files are those of deal_versions.
func (l *Lake) WriteIndex(ctx context.Context, mem memory.Allocator, files []lake.File, path string) (err error) {
	var columns []lake.Column
	for _, name := range indexColumns {
		for _, c := range lake.DealVersionColumns() {
			if c.Name == name {
				columns = append(columns, c)
			}
		}
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("version index: %w", err)
	}
	schema := lake.ArrowSchema(columns)
	w, err := pqarrow.NewFileWriter(schema, file, nil, pqarrow.DefaultWriterProps())
	if err != nil {
		return errors.Join(fmt.Errorf("version index: %w", err), file.Close())
	}
	defer func() { err = errors.Join(err, w.Close()) }() // closes the file, too
	for _, f := range files {
		err := parquet.Scan(ctx, l.store, mem, f.Path, indexColumns, nil, func(rec arrow.Record) error {
			row := array.NewRecord(schema, rec.Columns(), rec.NumRows())
			defer row.Release()
			return w.WriteBuffered(row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
