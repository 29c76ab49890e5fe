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

// comparison compares the rows that were rebuilt for a partition of a flattened table with those of its previous files.
// It compares multisets, because files may be in any order. It keeps a hash of each unmatched row (about 30 bytes per
// row). It is not safe for concurrent use.
type comparison struct {
	table   *lake.Table
	columns map[string]bool // the columns in which rows must agree
	helpers map[string]int  // the other helper columns: index in sums
	sums    []uint64        // sum of the hashes of each helper's values, now minus before: 0 if they are equal
	seed    maphash.Seed
	counts  map[uint64]int32 // by hash of a row: number of such rows now, minus before
	buf     []byte

	before  int64 // rows that were read
	now     int64 // rows that were written
	damaged int   // previous files that are absent, or differ from what was committed: they were not read
}

// newComparison begins a comparison with the previous files of a partition.
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

// improved names the helper columns whose values differ from before: a newer parser read them. Call it after all rows
// were added.
func (c *comparison) improved() []string {
	var improved []string
	for i, name := range lake.ColumnNames(c.table.Helpers) {
		if c.sums[i] != 0 {
			improved = append(improved, name)
		}
	}
	return improved
}

// addWritten adds rows that were rebuilt.
func (c *comparison) addWritten(record arrow.Record) {
	c.now += record.NumRows()
	c.add(record, 1)
}

// addBefore reads the previous files and adds their rows.
func (c *comparison) addBefore(ctx context.Context, l *load.Lake, tx *load.Transaction, files []lake.File) error {
	for _, f := range files {
		if err := c.addFileBefore(ctx, l, tx, f, lake.ColumnNames(lake.ColumnsAt(c.table.HistoryColumns(), f.SchemaVersion))); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) addFileBefore(ctx context.Context, l *load.Lake, tx *load.Transaction, f lake.File, columns []string) (err error) {
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
		if helper, ok := c.helpers[field.Name]; ok {
			c.sums[helper] += uint64(int64(n)) * c.sum(record, record.Column(i))
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

// sum adds up hashes of a column's values, each with its row's key. A NULL adds nothing, so that a column that files
// lack equals one without values.
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

// different returns the greater of two numbers: rows that exist now and did not before, and rows that existed before
// and do not now.
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
