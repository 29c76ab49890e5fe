package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// writeTexts writes a column that has its dictionary already: each text once, in order of first appearance. The file
// has the same bytes as with plain texts, as long as the indices fit into a page; those of a row group do. The Parquet
// library has its own way for such an array, but its statistics are wrong: it takes the least text that is not empty
// for the least text.
func writeTexts(chunk file.ColumnChunkWriter, column *array.Dictionary, levels []int16) error {
	texts := column.Dictionary().(*array.String)
	var least, greatest parquet.ByteArray
	if texts.Len() > 0 {
		least, greatest = bounds(texts)
		encoder, ok := chunk.CurrentEncoder().(interface{ PutDictionary(arrow.Array) error })
		if !ok {
			return fmt.Errorf("column %s has no dictionary in its file", chunk.Descr().Name())
		}
		if err := encoder.PutDictionary(texts); err != nil {
			return err
		}
	}
	stats, _ := chunk.PageStatistics().(*metadata.ByteArrayStatistics) // nil for a column without statistics
	step := int(chunk.Properties().WriteBatchSize())                   // rows after which a page may end
	for from := 0; from < column.Len(); from += step {
		to := min(from+step, column.Len())
		if stats != nil {
			stats.SetMinMax(least, greatest)
		}
		if err := writeIndices(chunk, stats, column.Indices(), levels, from, to); err != nil {
			return err
		}
	}
	return nil
}

// writeIndices writes rows from (inclusive) to (exclusive) of such a column. levels is nil for a column without NULLs, stats
// for one without statistics.
func writeIndices(chunk file.ColumnChunkWriter, stats *metadata.ByteArrayStatistics, indices arrow.Array, levels []int16, from, to int) error {
	rows := array.NewSlice(indices, int64(from), int64(to))
	defer rows.Release()
	if stats != nil {
		stats.IncNulls(int64(rows.NullN()))
		stats.IncNumValues(int64(rows.Len() - rows.NullN()))
	}
	if levels != nil {
		levels = levels[from:to]
	}
	return chunk.WriteDictIndices(rows, levels, nil)
}

// bounds returns the least and the greatest of texts. Like the library for plain texts, it returns nil if there are no
// texts, or only empty ones.
func bounds(texts *array.String) (least, greatest parquet.ByteArray) {
	if len(texts.ValueBytes()) == 0 {
		return nil, nil
	}
	first, last := texts.Value(0), ""
	for i := range texts.Len() {
		first, last = min(first, texts.Value(i)), max(last, texts.Value(i))
	}
	return parquet.ByteArray(first), parquet.ByteArray(last)
}
