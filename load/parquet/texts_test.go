package parquet_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/testkit"
	"dealflow/schemas/lake"
)

// TestDictionariesChangeNoByte writes each table's rows with plain texts and with dictionaries: the files are the same.
func TestDictionariesChangeNoByte(t *testing.T) {
	mem := testkit.Allocator(t)
	out := &output{dir: t.TempDir(), mem: mem}
	random := rand.New(rand.NewPCG(1, 2))
	for _, table := range lake.Tables() {
		for _, rows := range []int{1, 7, 1024, 3000} {
			plain, batch := sameTexts(t, mem, random, table.SnapshotColumns(), rows)
			writeOne(t, out, table, plain)
			writeOne(t, out, table, batch)
			plain.Release()
			batch.Release()
		}
	}
	for i := 0; i < len(out.files); i += 2 {
		if plain, batch := out.files[i], out.files[i+1]; plain.SHA256 != batch.SHA256 {
			t.Errorf("%s, %d rows: %d bytes without dictionaries and others, %d, with them", plain.Table, plain.Rows, plain.Bytes, batch.Bytes)
		}
	}
}

// sameTexts returns two records of the same rows, the second with dictionaries. Columns are full, half full or empty.
// The caller releases the records.
func sameTexts(t *testing.T, mem memory.Allocator, random *rand.Rand, columns []lake.Column, rows int) (plain, batch arrow.Record) {
	t.Helper()
	plains := array.NewRecordBuilder(mem, lake.ArrowSchema(columns))
	defer plains.Release()
	batches := array.NewRecordBuilder(mem, lake.BatchSchema(columns))
	defer batches.Release()
	for i := range columns {
		distinct := []int64{1, 2, 300, 1 << 40}[random.IntN(4)] // the first is the empty text
		nulls := random.IntN(3)
		for range rows {
			if !columns[i].NotNull && random.IntN(2) < nulls {
				plains.Field(i).AppendNull()
				batches.Field(i).AppendNull()
				continue
			}
			n := random.Int64N(distinct)
			appendText(t, plains.Field(i), n)
			appendText(t, batches.Field(i), n)
		}
	}
	return plains.NewRecord(), batches.NewRecord()
}

func appendText(t *testing.T, b array.Builder, n int64) {
	t.Helper()
	text := ""
	if n > 0 {
		text = fmt.Sprint(n)
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(text)
	case *array.BinaryDictionaryBuilder:
		if err := b.AppendString(text); err != nil {
			t.Fatal(err)
		}
	default:
		appendValue(b, n, 0)
	}
}

func writeOne(t *testing.T, out *output, table *lake.Table, record arrow.Record) {
	t.Helper()
	w := out.create(t, table.Name, table.SnapshotColumns())
	if err := w.Write(record, 1, 1); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
}
