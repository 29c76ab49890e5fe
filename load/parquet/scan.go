package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"dealflow/load/store"
)

// Groups chooses row groups of a file: it calls read with the number of each, in order. A nil Groups means all.
type Groups func(meta *metadata.FileMetaData, read func(group int) error) error

// AllGroups chooses all row groups. It sets current to the number of the group that is being read.
func AllGroups(current *int) Groups {
	return func(meta *metadata.FileMetaData, read func(int) error) error {
		for g := range meta.RowGroups {
			*current = g
			if err := read(g); err != nil {
				return err
			}
		}
		return nil
	}
}

// GroupsWith chooses the row groups that may contain one of the deals, by the statistics of deal_id. dealIDs are
// sorted. It sets current to the number of the group that is being read.
func GroupsWith(dealIDs []int64, current *int) Groups {
	return func(meta *metadata.FileMetaData, read func(int) error) error {
		column := meta.Schema.ColumnIndexByName("deal_id")
		return AllGroups(current)(meta, func(g int) error {
			least, greatest, known, err := bounds64(meta.RowGroup(g), column)
			if err != nil {
				return err
			}
			if i, _ := slices.BinarySearch(dealIDs, least); known && (i == len(dealIDs) || dealIDs[i] > greatest) {
				return nil
			}
			return read(g)
		})
	}
}

// bounds64 returns the least and the greatest value of an int64 column in a row group; known is false without
// statistics.
func bounds64(group *metadata.RowGroupMetaData, column int) (least, greatest int64, known bool, err error) {
	chunk, err := group.ColumnChunk(column)
	if err != nil {
		return 0, 0, false, err
	}
	statistics, err := chunk.Statistics()
	if err != nil {
		return 0, 0, false, err
	}
	if s, ok := statistics.(*metadata.Int64Statistics); ok && s.HasMinMax() {
		return s.Min(), s.Max(), true, nil
	}
	return 0, 0, false, nil
}

// OnlyGroups chooses the row groups with the given numbers.
func OnlyGroups(numbers []int) Groups {
	return func(_ *metadata.FileMetaData, read func(int) error) error {
		for _, g := range numbers {
			if err := read(g); err != nil {
				return err
			}
		}
		return nil
	}
}

// ScanRows is the greatest number of rows in a record that Scan yields.
const ScanRows = 8192

// Scan reads columns of a file, in the order given, row group by row group. The record that yield receives is valid
// during the call only. An error of yield ends the scan.
func Scan(ctx context.Context, s store.Store, mem memory.Allocator, key string, columns []string, groups Groups, yield func(arrow.Record) error) error {
	return ScanLimited(ctx, s, mem, key, columns, ScanRows, groups, yield)
}

// ScanLimited is Scan with a limit on the rows per record.
func ScanLimited(ctx context.Context, s store.Store, mem memory.Allocator, key string, columns []string, rows int64, groups Groups, yield func(arrow.Record) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read %s: %w", key, err)
		}
	}()
	r, err := store.OpenAt(ctx, s, key)
	if err != nil {
		return err
	}
	defer r.Close() // read-only: a failing close loses nothing
	pf, err := file.NewParquetReader(r)
	if err != nil {
		return err
	}
	defer pf.Close()
	// The reader allocates memory for a complete batch at once, even if there are fewer rows.
	batch := max(1, min(pf.NumRows(), rows))
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: batch}, mem)
	if err != nil {
		return err
	}
	indices := make([]int, len(columns))
	for i, name := range columns {
		if indices[i] = pf.MetaData().Schema.ColumnIndexByName(name); indices[i] < 0 {
			return fmt.Errorf("no column %s", name)
		}
	}
	if groups == nil {
		groups = AllGroups(new(int))
	}
	return groups(pf.MetaData(), func(group int) error {
		return scanGroup(ctx, fr, indices, group, yield)
	})
}

func scanGroup(ctx context.Context, fr *pqarrow.FileReader, columns []int, group int, yield func(arrow.Record) error) error {
	records, err := fr.GetRecordReader(ctx, columns, []int{group})
	if err != nil {
		return err
	}
	defer records.Release()
	for records.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := yield(records.Record()); err != nil {
			return err
		}
	}
	if err := records.Err(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
