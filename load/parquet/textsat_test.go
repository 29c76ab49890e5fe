package parquet_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	apache "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"dealflow/internal/testkit"
	"dealflow/load/parquet"
	"dealflow/load/store/dirstore"
)

// TestTextsAt asks for some rows, all, and none of a file with several row groups, each with several pages. One column has a dictionary,
// one has none and is NULL or empty in some rows.
func TestTextsAt(t *testing.T) {
	t.Parallel()
	const rows = 5000
	mem := testkit.Allocator(t)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "number", Type: arrow.PrimitiveTypes.Int64},
		{Name: "few", Type: arrow.BinaryTypes.String},
		{Name: "many", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	few := func(row int) string { return fmt.Sprint("run ", row/700) }
	many := func(row int) string { return strings.Repeat(fmt.Sprint(row, " "), row%40) } // of each 40th row it is empty
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	for row := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(row))
		b.Field(1).(*array.StringBuilder).Append(few(row))
		if row%7 == 0 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.StringBuilder).Append(many(row))
		}
	}
	record := b.NewRecord()
	defer record.Release()
	table := array.NewTableFromRecords(schema, []arrow.Record{record})
	defer table.Release()
	for _, version := range []apache.DataPageVersion{apache.DataPageV1, apache.DataPageV2} {
		dir := t.TempDir()
		out, err := os.Create(filepath.Join(dir, "texts.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		properties := apache.NewWriterProperties(apache.WithAllocator(mem), apache.WithDataPageSize(4000), apache.WithBatchSize(64), apache.WithDataPageVersion(version),
			apache.WithDictionaryDefault(false), apache.WithDictionaryFor("few", true), apache.WithCompression(compress.Codecs.Zstd))
		if err := pqarrow.WriteTable(table, out, 1700, properties, pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(mem))); err != nil {
			t.Fatal(err)
		}
		s, err := dirstore.New(dir)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parquet.Open(t.Context(), s, "texts.parquet")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		random := rand.New(rand.NewPCG(1, 2))
		for _, part := range []float64{0, 0.001, 0.02, 0.5, 1} {
			var asked []int64
			for row := range rows {
				if random.Float64() < part {
					asked = append(asked, int64(row))
				}
			}
			next := 0
			err := file.TextsAt(t.Context(), []string{"many", "few"}, asked, func(i int, texts [][]byte) error {
				row := int(asked[i])
				isNull := row%7 == 0
				if i != next || string(texts[1]) != few(row) || (texts[0] == nil) != isNull || !isNull && string(texts[0]) != many(row) {
					return fmt.Errorf("row %d, the %dth: %q", row, i, texts)
				}
				next++
				return nil
			})
			if err != nil || next != len(asked) {
				t.Errorf("version %v: %d of %d rows, %v", version, next, len(asked), err)
			}
		}
		yield := func(int, [][]byte) error { return nil }
		damaged, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		copy(damaged[len(damaged)/8:len(damaged)/4], bytes.Repeat([]byte{0xff}, len(damaged)))
		if err := os.WriteFile(filepath.Join(dir, "damaged.parquet"), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		other, err := parquet.Open(t.Context(), s, "damaged.parquet")
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if err := other.TextsAt(t.Context(), []string{"many"}, []int64{rows - 1}, yield); err != nil {
			t.Errorf("the last row is not damaged: %v", err)
		}
		if err := other.TextsAt(t.Context(), []string{"many"}, []int64{1600}, yield); err == nil || !strings.Contains(err.Error(), "read damaged.parquet: row group 0, column many, row 1600: ") || strings.Contains(err.Error(), "ends") {
			t.Errorf("a page is damaged: %v", err)
		}
		for want, err := range map[string]error{
			"texts.parquet: no row 5000: the file has 5000": file.TextsAt(t.Context(), []string{"few"}, []int64{1, rows}, yield),
			"no column none":                         file.TextsAt(t.Context(), []string{"none"}, []int64{1}, yield),
			"column number has INT64, want texts":    file.TextsAt(t.Context(), []string{"number"}, []int64{1}, yield),
			"asked after row 2: rows are not sorted": file.TextsAt(t.Context(), []string{"few"}, slices.Repeat([]int64{2}, 2), yield),
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}
