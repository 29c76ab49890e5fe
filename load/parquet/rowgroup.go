package parquet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
	pqschema "github.com/apache/arrow/go/v17/parquet/schema"

	"dealflow/schemas/lake"
)

// magic is at the beginning and at the end of a Parquet file.
const magic = "PAR1"

// rowGroups writes records into a Parquet file, each as one row group. After an error the file is useless. It is not
// safe for concurrent use.
//
// The library's own writer of files cannot take over pages that another file has already (writeBoth, takeOverGroup). So this puts a file
// together from the library's parts: its column writers encode pages, its builders describe them.
type rowGroups struct {
	out        *output
	properties *parquet.WriterProperties
	schema     *pqschema.Schema
	footer     *metadata.FileMetaDataBuilder
	groups     int16            // row groups so far
	schemas    [2]*arrow.Schema // the two that a record may have: plain texts, or dictionaries
	context    context.Context  // contains pqarrow's settings and buffer
	pages      file.PageWriter  // of the column being written; nil before the first
	levels     []int16          // one per row of that column: 1 for a value, 0 for NULL
}

// output is where the bytes of a file go.
type output struct {
	w    io.Writer
	n    int64         // bytes so far
	also *bytes.Buffer // gets them, too; nil for none
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	o.n += int64(n)
	if o.also != nil {
		o.also.Write(p[:n])
	}
	return n, err
}

// Tell returns the number of bytes so far: the place of the next one.
func (o *output) Tell() int64 { return o.n }

// newRowGroups starts a file. more are added to its properties.
func newRowGroups(mem memory.Allocator, out io.Writer, columns []lake.Column, more ...parquet.WriterProperty) (*rowGroups, error) {
	properties, settings := writerProperties(mem, columns, more...), pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(mem))
	plain := lake.ArrowSchema(columns)
	schema, err := pqarrow.ToParquet(plain, properties, settings)
	if err != nil {
		return nil, err
	}
	schema = pqschema.NewSchema(schema.Root())
	g := &rowGroups{
		out:        &output{w: out},
		properties: properties,
		schema:     schema,
		footer:     metadata.NewFileMetadataBuilder(schema, properties, nil),
		schemas:    [2]*arrow.Schema{plain, lake.BatchSchema(columns)},
		context:    pqarrow.NewArrowWriteContext(context.Background(), &settings),
	}
	_, err = io.WriteString(g.out, magic)
	return g, err
}

// write writes a record.
func (g *rowGroups) write(record arrow.Record) error {
	if err := g.check(record.Schema()); err != nil {
		return err
	}
	group := g.begin()
	for _, column := range record.Columns() {
		if _, err := group.encode(column); err != nil {
			return err
		}
	}
	return group.end(record.NumRows())
}

// writeBoth writes a record, and its first columns into another file, which has just these. Their pages are encoded once.
// Both files have the same bytes as with write.
func (g *rowGroups) writeBoth(record arrow.Record, other *rowGroups, first arrow.Record) error {
	if err := cmp.Or(g.check(record.Schema()), other.check(first.Schema())); err != nil {
		return err
	}
	if record.NumRows() != first.NumRows() {
		return fmt.Errorf("the columns of a record have %d rows, its first columns %d", record.NumRows(), first.NumRows())
	}
	var encoded bytes.Buffer
	defer func() { g.out.also = nil }()
	group, otherGroup := g.begin(), other.begin()
	common := int(first.NumCols())
	for i, column := range record.Columns() {
		g.out.also = nil
		if i < common {
			encoded.Reset()
			g.out.also = &encoded
		}
		chunk, err := group.encode(column)
		if err == nil && i < common {
			err = otherGroup.takeOver(chunk, encoded.Bytes())
		}
		if err != nil {
			return err
		}
	}
	return cmp.Or(group.end(record.NumRows()), otherGroup.end(first.NumRows()))
}

// close ends the file.
func (g *rowGroups) close() error {
	footer, err := g.footer.Finish()
	if err != nil {
		return err
	}
	size, err := footer.WriteTo(g.out, nil)
	if err != nil {
		return err
	}
	end := binary.LittleEndian.AppendUint32(nil, uint32(size))
	_, err = g.out.Write(append(end, magic...))
	return err
}

// check compares the columns of a record with those of the file: the library itself writes any record.
func (g *rowGroups) check(schema *arrow.Schema) error {
	if !slices.ContainsFunc(g.schemas[:], schema.Equal) {
		return fmt.Errorf("a record does not have its file's columns: got %s, want %s", schema, g.schemas[0])
	}
	return nil
}

// rowGroup is the row group that is being written.
type rowGroup struct {
	*rowGroups
	columns *metadata.RowGroupMetaDataBuilder
	number  int16 // in the file
	size    int64 // bytes of its pages
}

// chunk is a column of a row group that has been written.
type chunk struct {
	described *metadata.ColumnChunkMetaDataBuilder
	begin     int64 // its place in the file
	size      int64 // bytes of its pages
}

func (g *rowGroups) begin() *rowGroup {
	number := g.groups
	g.groups++
	return &rowGroup{rowGroups: g, columns: g.footer.AppendRowGroup(), number: number}
}

// encode writes the next column.
func (g *rowGroup) encode(column arrow.Array) (c chunk, err error) {
	c.described, c.begin = g.columns.NextColumnChunk(), g.out.Tell()
	number, codec, level := int16(g.columns.CurrentColumn()), g.properties.CompressionFor(""), g.properties.CompressionLevelFor("")
	if g.pages == nil {
		g.pages, err = file.NewPageWriter(g.out, codec, level, c.described, g.number, number, g.properties.Allocator(), false, nil, nil)
	} else {
		err = g.pages.Reset(g.out, codec, level, c.described, g.number, number, nil, nil)
	}
	if err != nil {
		return c, err
	}
	writer := file.NewColumnChunkWriter(c.described, g.pages, g.properties)
	if err := errors.Join(g.writeColumn(writer, column), writer.Close()); err != nil { // closing also frees memory
		return c, err
	}
	if said := c.described.Contents().MetaData.NumValues; said != int64(column.Len()) {
		return c, fmt.Errorf("column %s: %d rows were written, want %d", c.described.Descr().Name(), said, column.Len())
	}
	c.size = writer.TotalBytesWritten()
	g.size += c.size
	return c, nil
}

// takeOver writes the next column as another file has it: its pages, and what that file says of them, with their places in
// this file. encoded are the bytes of the column in that file.
func (g *rowGroup) takeOver(c chunk, encoded []byte) error {
	described := g.columns.NextColumnChunk()
	moved := g.out.Tell() - c.begin
	*described.Contents() = *c.described.Contents()
	said := *c.described.Contents().MetaData
	if int64(len(encoded)) < said.TotalCompressedSize {
		return fmt.Errorf("column %s: its pages have %d bytes, %d were written", described.Descr().Name(), said.TotalCompressedSize, len(encoded))
	}
	said.DataPageOffset += moved
	if said.DictionaryPageOffset != nil {
		place := *said.DictionaryPageOffset + moved
		said.DictionaryPageOffset = &place
	}
	described.Contents().MetaData = &said
	described.Contents().FileOffset += moved
	if _, err := g.out.Write(encoded[:said.TotalCompressedSize]); err != nil {
		return err
	}
	g.size += c.size
	_, err := described.WriteTo(g.out)
	return err
}

func (g *rowGroup) end(rows int64) error {
	g.columns.SetNumRows(int(rows))
	return g.columns.Finish(g.size, g.number)
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
