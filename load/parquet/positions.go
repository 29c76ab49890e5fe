package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// ScanAt is Scan of the rows of one market, for a caller that needs the number of each row in the file. entry is what the
// commit says of the file. yield gets the number of the record's first row, from 0. dealIDs are sorted; the scan leaves out
// row groups that cannot contain one of them. nil means all rows.
func (f *File) ScanAt(ctx context.Context, mem memory.Allocator, entry *lake.File, market api.Market, columns []string, dealIDs []int64, yield func(record arrow.Record, first int64) error) error {
	var group int
	groups := AllGroups(&group)
	if dealIDs != nil {
		groups = GroupsWith(dealIDs, &group)
	}
	var next int64 // number of the first row of the next record
	groups = GroupsOf(entry, market, groups)
	atGroup := func(meta *metadata.FileMetaData, read func(int) error) error {
		return groups(meta, func(g int) error {
			next = 0
			for earlier := range g {
				next += meta.RowGroup(earlier).NumRows()
			}
			return read(g)
		})
	}
	return f.Scan(ctx, mem, columns, atGroup, func(record arrow.Record) error {
		first := next
		next += record.NumRows()
		return yield(record, first)
	})
}

// The columns of a file of position deletes, by the Iceberg format: the path of a data file, and the number of a row in
// it, from 0. The numbers are field ids that the format reserves.
const (
	DeletePath          = "file_path"
	DeletePosition      = "pos"
	DeletePathField     = 2147483546
	DeletePositionField = 2147483545
)

// deleteColumns are these columns. The path of all rows is one text of a dictionary.
var deleteColumns = []lake.Column{
	{Number: DeletePathField, Name: DeletePath, Type: lake.Text, NotNull: true},
	{Number: DeletePositionField, Name: DeletePosition, Type: lake.Int64, NotNull: true, Distinct: true},
}

// deleteRows is the greatest number of rows in a row group of position deletes.
const deleteRows = 1 << 20

// PositionDeletes returns the bytes of a Parquet file of position deletes for one data file. target is the path of the
// data file, as manifests name it. positions are sorted, and there is at least one. The same input gives the same bytes.
func PositionDeletes(mem memory.Allocator, target string, positions []int64) (data []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write position deletes of %s: %w", target, err)
		}
	}()
	var out bytes.Buffer
	groups, err := newRowGroups(mem, &out, deleteColumns, parquet.WithStatsFor(DeletePath, false)) // its one value is in the manifest
	if err != nil {
		return nil, err
	}
	for len(positions) > 0 && err == nil {
		n := min(len(positions), deleteRows)
		err = writeDeletes(mem, groups, target, positions[:n])
		positions = positions[n:]
	}
	if err = errors.Join(err, groups.close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeDeletes(mem memory.Allocator, groups *rowGroups, target string, positions []int64) error {
	texts := array.NewStringBuilder(mem)
	defer texts.Release()
	texts.Append(target)
	dictionary := texts.NewArray()
	defer dictionary.Release()
	zeros := array.NewInt32Builder(mem)
	defer zeros.Release()
	zeros.AppendValues(make([]int32, len(positions)), nil)
	indices := zeros.NewArray()
	defer indices.Release()
	schema := lake.BatchSchema(deleteColumns)
	paths := array.NewDictionaryArray(schema.Field(0).Type, indices, dictionary)
	defer paths.Release()
	numbers := array.NewInt64Builder(mem)
	defer numbers.Release()
	numbers.AppendValues(positions, nil)
	rows := numbers.NewArray()
	defer rows.Release()
	record := array.NewRecord(schema, []arrow.Array{paths, rows}, int64(len(positions)))
	defer record.Release()
	return groups.write(record)
}
