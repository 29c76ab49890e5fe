package parquet_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	apache "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"dealflow/internal/testkit"
	"dealflow/load/parquet"
)

// TestStream writes files of another writer, one without rows and one with several row groups, and reads the Arrow stream
// that Stream makes of each.
func TestStream(t *testing.T) {
	t.Parallel()
	mem := testkit.Allocator(t)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	for _, rows := range []int{0, 20_000} {
		b := array.NewRecordBuilder(mem, schema)
		for i := range rows {
			b.Field(0).(*array.Int64Builder).Append(int64(i))
			if i%3 == 0 {
				b.Field(1).AppendNull()
			} else {
				b.Field(1).(*array.StringBuilder).Append("text")
			}
		}
		record := b.NewRecord()
		path := filepath.Join(t.TempDir(), "of-another.parquet")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		table := array.NewTableFromRecords(schema, []arrow.Record{record})
		if err := pqarrow.WriteTable(table, file, 7000, apache.NewWriterProperties(apache.WithAllocator(mem)), pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(mem))); err != nil {
			t.Fatal(err)
		}
		table.Release()

		var out bytes.Buffer
		if err := parquet.Stream(t.Context(), path, mem, &out); err != nil {
			t.Fatal(err)
		}
		r, err := ipc.NewReader(&out, ipc.WithAllocator(mem))
		if err != nil {
			t.Fatal(err)
		}
		got, ids, nulls := 0, int64(0), 0
		for r.Next() {
			ids += sum(r.Record().Column(0).(*array.Int64))
			nulls += r.Record().Column(1).NullN()
			got += int(r.Record().NumRows())
		}
		if n := int64(rows); got != rows || ids != n*(n-1)/2 || nulls != (rows+2)/3 || r.Err() != nil || r.Schema().NumFields() != 2 {
			t.Errorf("%d rows: read %d rows, ids sum to %d, %d NULLs, %d columns, %v", rows, got, ids, nulls, r.Schema().NumFields(), r.Err())
		}
		r.Release()
		record.Release()
		b.Release()
	}
}

func sum(values *array.Int64) (total int64) {
	for _, v := range values.Int64Values() {
		total += v
	}
	return total
}
