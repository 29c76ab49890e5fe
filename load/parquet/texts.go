package parquet

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// writeTexts writes a column that has its dictionary already: each text once, in the order in which they first come.
// The file is that of the plain texts, byte for byte, as long as the numbers fit into a page, which those of a row
// group do. The Parquet library has a way of its own for such an array; it takes the least text that is not empty for
// the least of all.
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
	stats := chunk.PageStatistics().(*metadata.ByteArrayStatistics)
	step := int(chunk.Properties().WriteBatchSize()) // behind which a page may end
	for from := 0; from < column.Len(); from += step {
		to := min(from+step, column.Len())
		stats.SetMinMax(least, greatest)
		if err := writeNumbers(chunk, stats, column.Indices(), levels, from, to); err != nil {
			return err
		}
	}
	return nil
}

// writeNumbers writes rows of such a column. Levels is nil where there are no NULLs.
func writeNumbers(chunk file.ColumnChunkWriter, stats *metadata.ByteArrayStatistics, numbers arrow.Array, levels []int16, from, to int) error {
	rows := array.NewSlice(numbers, int64(from), int64(to))
	defer rows.Release()
	stats.IncNulls(int64(rows.NullN()))
	stats.IncNumValues(int64(rows.Len() - rows.NullN()))
	if levels != nil {
		levels = levels[from:to]
	}
	return chunk.WriteDictIndices(rows, levels, nil)
}

// bounds gives the least and the greatest of texts: nil where there are none, or only empty ones, as the library
// has it for plain texts.
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
