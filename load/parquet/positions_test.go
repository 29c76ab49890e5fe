package parquet_test

import (
	"bytes"
	"slices"
	"testing"

	pq "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"dealflow/internal/testkit"
	"dealflow/load/parquet"
)

// TestPositionDeletes checks what readers rely on in a file of position deletes: required columns with the field ids that
// the Iceberg format reserves, and true statistics of the positions. Some readers refuse a file whose count of NULLs is negative.
func TestPositionDeletes(t *testing.T) {
	t.Parallel()
	const target = "file:///lake/history/a.parquet"
	data, err := parquet.PositionDeletes(testkit.Allocator(t), target, []int64{3, 7, 900})
	if err != nil {
		t.Fatal(err)
	}
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i, field := range []int32{parquet.DeletePathField, parquet.DeletePositionField} {
		column := r.MetaData().Schema.Column(i)
		if node := column.SchemaNode(); node.FieldID() != field || column.MaxDefinitionLevel() != 0 {
			t.Errorf("column %s: field id %d, definition level %d; want %d and a required column", column.Name(), node.FieldID(), column.MaxDefinitionLevel(), field)
		}
		chunk, err := r.MetaData().RowGroup(0).ColumnChunk(i)
		if err != nil {
			t.Fatal(err)
		}
		stats, err := chunk.Statistics()
		if err != nil {
			t.Fatal(err)
		}
		if field == parquet.DeletePathField { // a path twice as often as the rows need: most files have few
			if stats != nil {
				t.Errorf("column %s has the statistics %v, want none", column.Name(), stats)
			}
			continue
		}
		if !stats.HasNullCount() || stats.NullCount() != 0 || stats.NumValues() != 3 {
			t.Errorf("column %s: %d NULLs and %d values, want 0 and 3", column.Name(), stats.NullCount(), stats.NumValues())
		}
		if s := stats.(*metadata.Int64Statistics); s.Min() != 3 || s.Max() != 900 {
			t.Errorf("positions from %d to %d, want 3 to 900", s.Min(), s.Max())
		}
	}
	if rows, err := chunkTexts(r); err != nil || !slices.Equal(rows, []string{target, target, target}) {
		t.Errorf("paths %q, %v; want %s for each row", rows, err, target)
	}
	if again, err := parquet.PositionDeletes(testkit.Allocator(t), target, []int64{3, 7, 900}); err != nil || !slices.Equal(data, again) {
		t.Errorf("the same rows gave other bytes, or %v", err)
	}
}

// chunkTexts reads the first column of a file's first row group.
func chunkTexts(r *file.Reader) ([]string, error) {
	column, err := r.RowGroup(0).Column(0)
	if err != nil {
		return nil, err
	}
	values := make([]pq.ByteArray, 10)
	n, _, err := column.(*file.ByteArrayColumnChunkReader).ReadBatch(10, values, nil, nil)
	texts := make([]string, n)
	for i := range texts {
		texts[i] = string(values[i])
	}
	return texts, err
}
