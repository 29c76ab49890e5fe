package world

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
)

// rows edits the rows of a file, and makes its commit agree: only the rows show the damage. Rows are numbered
// from 1. Edits: drop N, repeat N, swap N M, set N COLUMN VALUE (null for NULL), like N FILE M COLUMN (the value
// of row M of another file), column NAME (is dropped), meta KEY VALUE.
func (d *Damager) rows(key string, edit []string) {
	d.Helper()
	fields, columns, meta := d.ReadFile(key)
	order := make([]int, columns[0].Len())
	for i := range order {
		order[i] = i
	}
	number := func(word string) int {
		n, err := strconv.Atoi(word)
		d.Check(err)
		return n - 1
	}
	column := func(name string) int {
		return slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == name })
	}
	switch edit[0] {
	case "drop":
		order = slices.Delete(order, number(edit[1]), number(edit[1])+1)
	case "repeat":
		order = slices.Insert(order, number(edit[1]), number(edit[1]))
	case "swap":
		order[number(edit[1])], order[number(edit[2])] = order[number(edit[2])], order[number(edit[1])]
	case "set":
		c := column(edit[2])
		columns[c] = d.set(columns[c], number(edit[1]), d.value(columns[c].DataType(), edit[3]))
	case "like":
		_, others, _ := d.ReadFile(d.key(edit[2]))
		c := column(edit[4])
		columns[c] = d.set(columns[c], number(edit[1]), array.NewSlice(others[c], int64(number(edit[3])), int64(number(edit[3]))+1))
	case "column":
		c := column(edit[1])
		columns, fields = slices.Delete(columns, c, c+1), slices.Delete(fields, c, c+1)
	case "meta":
		meta[edit[1]] = edit[2]
	default:
		d.Fatalf("unknown edit %q", edit)
	}
	for i := range columns {
		columns[i] = Pick(d.TB, columns[i], order)
	}
	d.Put(key, parquetOf(d.TB, arrow.NewSchema(fields, nil), columns, meta))
	ids := columns[column("deal_id")].(*array.Int64).Int64Values()
	d.recommit(key, func(f *lake.File) {
		f.Rows, f.MinDealID, f.MaxDealID = int64(len(ids)), slices.Min(ids), slices.Max(ids)
	})
}

// ReadFile reads a complete Parquet file: its fields, its columns, one array each, and its metadata.
func (d *Damager) ReadFile(key string) (fields []arrow.Field, columns []arrow.Array, meta map[string]string) {
	d.Helper()
	pf, err := file.NewParquetReader(bytes.NewReader(storetest.Bytes(d.TB, d.Store, key)))
	d.Check(err)
	defer pf.Close()
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	d.Check(err)
	table, err := fr.ReadTable(d.Context())
	d.Check(err)
	defer table.Release()
	columns = make([]arrow.Array, table.NumCols())
	for i := range columns {
		columns[i], err = array.Concatenate(table.Column(i).Data().Chunks(), memory.DefaultAllocator)
		d.Check(err)
	}
	meta = map[string]string{}
	for _, pair := range pf.MetaData().KeyValueMetadata() {
		meta[pair.Key] = pair.GetValue()
	}
	return table.Schema().Fields(), columns, meta
}

// value returns an array of one value.
func (d *Damager) value(typ arrow.DataType, text string) arrow.Array {
	d.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	defer b.Release()
	if text == "null" {
		b.AppendNull()
	} else {
		d.Check(b.AppendValueFromString(text))
	}
	return b.NewArray()
}

// set returns a column with one value changed.
func (d *Damager) set(column arrow.Array, row int, value arrow.Array) arrow.Array {
	d.Helper()
	got, err := array.Concatenate([]arrow.Array{
		array.NewSlice(column, 0, int64(row)), value, array.NewSlice(column, int64(row)+1, int64(column.Len())),
	}, memory.DefaultAllocator)
	d.Check(err)
	return got
}

// Pick returns the rows of a column, numbered from 0, in another order.
func Pick(t testing.TB, column arrow.Array, order []int) arrow.Array {
	t.Helper()
	var parts []arrow.Array
	for _, i := range order {
		parts = append(parts, array.NewSlice(column, int64(i), int64(i)+1))
	}
	got, err := array.Concatenate(parts, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// parquetOf writes columns as a Parquet file with metadata.
func parquetOf(t testing.TB, schema *arrow.Schema, columns []arrow.Array, meta map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(parquet.WithStoreDecimalAsInteger(true)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		err = errors.Join(err, w.AppendKeyValueMetadata(key, meta[key]))
	}
	record := array.NewRecord(schema, columns, int64(columns[0].Len()))
	if err := errors.Join(err, w.Write(record), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
