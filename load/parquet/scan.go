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

// File is an open file of which several scans are made: opening it again would be a request to its store. It is not safe
// for concurrent use.
type File struct {
	key     string
	content store.ReaderAtCloser
	footer  *file.Reader
}

// Open opens a file.
func Open(ctx context.Context, s store.Store, key string) (*File, error) {
	content, err := store.OpenAt(ctx, s, key)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	footer, err := file.NewParquetReader(content)
	if err != nil {
		content.Close() // read-only: a failing close loses nothing
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return &File{key, content, footer}, nil
}

// Close closes the file.
func (f *File) Close() {
	f.footer.Close() // read-only: a failing close loses nothing
	f.content.Close()
}

// Once is a file that is opened at the first Get. Most of a short scan is reading what the file says of its columns.
type Once struct{ file *File }

// Get returns the file, which Close closes.
func (o *Once) Get(ctx context.Context, s store.Store, key string) (_ *File, err error) {
	if o.file == nil {
		o.file, err = Open(ctx, s, key)
	}
	return o.file, err
}

// Close closes the file if it is open.
func (o *Once) Close() {
	if o.file != nil {
		o.file.Close()
	}
}

// Scan reads columns of the file, in the order given, row group by row group. The record that yield receives is valid
// during the call only. An error of yield ends the scan.
func (f *File) Scan(ctx context.Context, mem memory.Allocator, columns []string, groups Groups, yield func(arrow.Record) error) error {
	return f.scan(ctx, mem, columns, ScanRows, groups, yield)
}

func (f *File) scan(ctx context.Context, mem memory.Allocator, columns []string, rows int64, groups Groups, yield func(arrow.Record) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read %s: %w", f.key, err)
		}
	}()
	// The reader allocates memory for a complete batch at once, even if there are fewer rows.
	batch := max(1, min(f.footer.NumRows(), rows))
	fr, err := pqarrow.NewFileReader(f.footer, pqarrow.ArrowReadProperties{BatchSize: batch}, mem)
	if err != nil {
		return err
	}
	indices, err := f.indices(columns)
	if err != nil {
		return err
	}
	if groups == nil {
		groups = AllGroups(new(int))
	}
	return groups(f.footer.MetaData(), func(group int) error {
		return scanGroup(ctx, fr, indices, group, yield)
	})
}

// indices returns the numbers of columns in the file.
func (f *File) indices(columns []string) ([]int, error) {
	indices := make([]int, len(columns))
	for i, name := range columns {
		if indices[i] = f.footer.MetaData().Schema.ColumnIndexByName(name); indices[i] < 0 {
			return nil, fmt.Errorf("no column %s", name)
		}
	}
	return indices, nil
}

// Scan is Open, File.Scan and Close.
func Scan(ctx context.Context, s store.Store, mem memory.Allocator, key string, columns []string, groups Groups, yield func(arrow.Record) error) error {
	return ScanLimited(ctx, s, mem, key, columns, ScanRows, groups, yield)
}

// ScanLimited is Scan with a limit on the rows per record.
func ScanLimited(ctx context.Context, s store.Store, mem memory.Allocator, key string, columns []string, rows int64, groups Groups, yield func(arrow.Record) error) error {
	f, err := Open(ctx, s, key)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.scan(ctx, mem, columns, rows, groups, yield)
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
