package maintain

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// comparison holds the rows that were written anew for a partition of a flattened table against those of
// its files of before: as multisets, because files may lie in any order. It keeps a hash of each row,
// some 30 bytes, until that has met its like. It is not safe for concurrent use.
type comparison struct {
	table   *lake.Table
	columns map[string]bool // in which rows must agree
	helpers map[string]int  // the other helper columns, by their place in sums
	sums    []uint64        // of each helper's values: 0 where they are now as they were before
	seed    maphash.Seed
	counts  map[uint64]int32 // of a row, by hash: how many more there are now than before
	buf     []byte

	before  int64 // rows that were read
	now     int64 // rows that were written
	damaged int   // files of before that are gone, or are not what was committed: they were not read
}

// newComparison begins a comparison with the files of a partition.
func newComparison(table *lake.Table, before []lake.File) *comparison {
	c := &comparison{table: table, columns: map[string]bool{}, helpers: map[string]int{}, seed: maphash.MakeSeed(), counts: map[uint64]int32{}}
	now := lake.File{SchemaVersion: lake.SchemaVersion}
	for _, name := range lake.ColumnNames(table.ComparableColumns(append(slices.Clone(before), now))) {
		c.columns[name] = true
	}
	for i, name := range lake.ColumnNames(table.Helpers) {
		if !c.columns[name] {
			c.helpers[name] = i
		}
	}
	c.sums = make([]uint64, len(table.Helpers))
	return c
}

// improved names the helper columns whose values are others than before: a newer parser read them. It is
// good after all rows of before and now were given.
func (c *comparison) improved() []string {
	var improved []string
	for i, name := range lake.ColumnNames(c.table.Helpers) {
		if c.sums[i] != 0 {
			improved = append(improved, name)
		}
	}
	return improved
}

// wrote takes rows that were written anew.
func (c *comparison) wrote(record arrow.Record) {
	c.now += record.NumRows()
	c.add(record, 1)
}

// had reads files of before.
func (c *comparison) had(ctx context.Context, l *load.Lake, tx *load.Transaction, files []lake.File) error {
	for _, f := range files {
		if err := c.hadFile(ctx, l, tx, f, lake.ColumnNames(lake.ColumnsAt(c.table.HistoryColumns(), f.SchemaVersion))); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) hadFile(ctx context.Context, l *load.Lake, tx *load.Transaction, f lake.File, columns []string) (err error) {
	copied, err := copyFiles(ctx, l, tx, []lake.File{f})
	if errors.Is(err, mirror.ErrNotCommitted) || errors.Is(err, store.ErrNotFound) {
		c.damaged++
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.close()) }()
	return parquet.Scan(ctx, copied.store, copied.mem, f.Path, columns, nil, func(record arrow.Record) error {
		c.before += record.NumRows()
		c.add(record, -1)
		return nil
	})
}

func (c *comparison) add(record arrow.Record, n int32) {
	var columns []arrow.Array
	for i, field := range record.Schema().Fields() {
		if c.columns[field.Name] {
			columns = append(columns, record.Column(i))
		}
		if at, ok := c.helpers[field.Name]; ok {
			c.sums[at] += uint64(int64(n)) * c.sum(record, record.Column(i))
		}
	}
	for row := range int(record.NumRows()) {
		c.buf = c.buf[:0]
		for _, column := range columns {
			c.buf = parquet.AppendCell(c.buf, column, row)
		}
		hash := maphash.Bytes(c.seed, c.buf)
		if c.counts[hash] += n; c.counts[hash] == 0 {
			delete(c.counts, hash)
		}
	}
}

// sum adds up hashes of a column's values, each with its row's key; a NULL counts nothing, so that a
// column that files lack is one without values.
func (c *comparison) sum(record arrow.Record, column arrow.Array) (sum uint64) {
	keys := len(c.table.KeyColumns())
	for row := range column.Len() {
		if column.IsNull(row) {
			continue
		}
		c.buf = c.buf[:0]
		for key := range keys {
			c.buf = parquet.AppendCell(c.buf, record.Column(key), row)
		}
		sum += maphash.Bytes(c.seed, parquet.AppendCell(c.buf, column, row))
	}
	return sum
}

// different is the number of rows that are now as they were not before, or were before as they are not
// now, whichever is more.
func (c *comparison) different() int64 {
	var now, before int64
	for _, n := range c.counts {
		if n > 0 {
			now += int64(n)
		} else {
			before -= int64(n)
		}
	}
	return max(now, before)
}
