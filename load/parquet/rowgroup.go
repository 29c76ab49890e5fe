package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"dealflow/schemas/lake"
)

// rowGroups writes records into a Parquet file, each as one row group. After an error the file is useless. It is not
// safe for concurrent use.
type rowGroups struct {
	file    *file.Writer
	schemas [2]*arrow.Schema // the two that a record may have: plain texts, or dictionaries
	context context.Context  // contains pqarrow's settings and buffer
	levels  []int16          // one per row of the column being written: 1 for a value, 0 for NULL
}

// newRowGroups starts a file. more are added to its properties.
func newRowGroups(mem memory.Allocator, out io.Writer, columns []lake.Column, more ...parquet.WriterProperty) (*rowGroups, error) {
	properties, settings := writerProperties(mem, columns, more...), pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(mem))
	plain := lake.ArrowSchema(columns)
	schema, err := pqarrow.ToParquet(plain, properties, settings)
	if err != nil {
		return nil, err
	}
	return &rowGroups{
		file:    file.NewParquetWriter(out, schema.Root(), file.WithWriterProps(properties)),
		schemas: [2]*arrow.Schema{plain, lake.BatchSchema(columns)},
		context: pqarrow.NewArrowWriteContext(context.Background(), &settings),
	}, nil
}

func (g *rowGroups) write(record arrow.Record) error {
	if err := g.check(record.Schema()); err != nil {
		return err
	}
	group := g.file.AppendRowGroup()
	for _, column := range record.Columns() {
		chunk, err := group.NextColumn()
		if err == nil {
			err = g.writeColumn(chunk, column)
		}
		if err != nil {
			return err
		}
	}
	return group.Close()
}

// close ends the file. It writes the footer by a call of its own, because Close does not return that call's error.
func (g *rowGroups) close() error { return errors.Join(g.file.FlushWithFooter(), g.file.Close()) }

// check compares the columns of a record with those of the file: the library itself writes any record.
func (g *rowGroups) check(schema *arrow.Schema) error {
	if !slices.ContainsFunc(g.schemas[:], schema.Equal) {
		return fmt.Errorf("a record does not have its file's columns: got %s, want %s", schema, g.schemas[0])
	}
	return nil
}

func (g *rowGroups) writeColumn(chunk file.ColumnChunkWriter, column arrow.Array) error {
	var levels []int16
	nullable := chunk.Descr().MaxDefinitionLevel() > 0
	if nullable {
		g.levels = appendLevels(g.levels[:0], column)
		levels = g.levels
	}
	if texts, ok := column.(*array.Dictionary); ok {
		return writeTexts(chunk, texts, levels)
	}
	return pqarrow.WriteArrowToColumn(g.context, chunk, column, levels, nil, nullable)
}

// appendLevels appends one level per row: 1 for a value, 0 for NULL.
func appendLevels(levels []int16, column arrow.Array) []int16 {
	if column.NullN() == 0 {
		return append(levels, slices.Repeat([]int16{1}, column.Len())...)
	}
	bits, from := column.NullBitmapBytes(), column.Data().Offset()
	for i := from; i < from+column.Len(); i++ {
		levels = append(levels, int16(bits[i/8]>>(i%8)&1))
	}
	return levels
}
