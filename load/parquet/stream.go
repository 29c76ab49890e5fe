package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// Stream writes all columns and rows of a local Parquet file as an Arrow IPC stream. The file may be of another program.
func Stream(ctx context.Context, path string, mem memory.Allocator, out io.Writer) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("stream %s: %w", path, err)
		}
	}()
	pf, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer pf.Close() // read-only: a failing close loses nothing
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: max(1, min(pf.NumRows(), ScanRows))}, mem)
	if err != nil {
		return err
	}
	schema, err := fr.Schema()
	if err != nil {
		return err
	}
	w := ipc.NewWriter(out, ipc.WithSchema(schema), ipc.WithAllocator(mem))
	defer func() { err = errors.Join(err, w.Close()) }()
	if pf.NumRows() == 0 {
		return nil
	}
	records, err := fr.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return err
	}
	defer records.Release()
	for records.Next() {
		if err := errors.Join(ctx.Err(), w.Write(records.Record())); err != nil {
			return err
		}
	}
	if err := records.Err(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
