package maintain

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/load/mirror"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// comparison compares the rows that were rebuilt for a partition of a flattened table with those of its previous files.
// Rows of files of an older schema version are compared as the present rules read them. It compares multisets, because
// files may be in any order. It keeps a hash of each unmatched row (about 30 bytes per row). It is not safe for
// concurrent use.
type comparison struct {
	table   *lake.Table
	market  api.Market
	lifter  *transform.Lifter // nil: no previous file has an older schema version
	columns int               // number of columns
	helpers []string          // names of the helper columns
	sums    []uint64          // with a lifter: sum of the hashes of each helper's values, now minus before: 0 if they are equal
	seed    maphash.Seed
	counts  map[uint64]int32 // by hash of a row: number of such rows now, minus before
	buf     []byte

	older   map[parquet.RowKey]int // of a deals' own table: schema versions of the older files of its versions
	later   int64                  // rows that previous files lack because the table came later: they count as equal
	before  int64                  // rows that were read
	now     int64                  // rows that were written
	damaged int                    // previous files that are absent, or differ from what was committed: they were not read
}

// newComparison begins a comparison with the rows of a market in previous files of a table. lifter is nil if none has an older schema version.
func newComparison(table *lake.Table, market api.Market, lifter *transform.Lifter) *comparison {
	return &comparison{
		table: table, market: market, lifter: lifter, columns: len(table.HistoryColumns()), helpers: lake.ColumnNames(table.Helpers),
		sums: make([]uint64, len(table.Helpers)), seed: maphash.MakeSeed(), counts: map[uint64]int32{}, older: map[parquet.RowKey]int{},
	}
}

// improved names the columns whose values differ from before because the rules or the parsers are newer. Call it after
// all rows were added.
func (c *comparison) improved() []string {
	if c.lifter == nil {
		return nil
	}
	improved := slices.Clone(c.lifter.Changed(c.table))
	if c.later > 0 {
		improved = lake.ColumnNames(c.table.Columns)
	}
	for i, name := range c.helpers {
		if c.sums[i] != 0 {
			improved = append(improved, name)
		}
	}
	return improved
}

// addWritten adds rows that were rebuilt.
func (c *comparison) addWritten(record arrow.Record) {
	c.now += record.NumRows()
	c.addHelpers(record, 1)
	c.addRows(record, 1)
}

// addBefore reads a previous file and adds its rows.
func (c *comparison) addBefore(ctx context.Context, p *replay, f lake.File) (err error) {
	copied, err := copyFiles(ctx, p.lake, p.tx, p.stored, []lake.File{f})
	if errors.Is(err, mirror.ErrNotCommitted) || errors.Is(err, store.ErrNotFound) {
		c.damaged++
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.close()) }()
	columns := lake.ColumnNames(lake.ColumnsAt(c.table.HistoryColumns(), f.SchemaVersion))
	return parquet.Scan(ctx, copied.store, copied.mem, f.Path, columns, parquet.GroupsOf(&f, c.market, nil), func(record arrow.Record) error {
		c.before += record.NumRows()
		c.addHelpers(record, -1)
		if f.SchemaVersion < lake.SchemaVersion {
			c.rememberOlder(record, f.SchemaVersion)
			record = c.lifter.Lift(c.table, record)
			defer record.Release()
		}
		c.addRows(record, -1)
		return nil
	})
}

// rememberOlder remembers the versions of an older file of a deals' own table, if the feed has a later table.
func (c *comparison) rememberOlder(record arrow.Record, schemaVersion int) {
	isLater := func(t *lake.Table) bool { return t.DealsTable() == c.table && schemaVersion < t.Since }
	if slices.ContainsFunc(lake.Tables(), isLater) {
		for row := range int(record.NumRows()) {
			c.older[versionColumns.read(record, row)] = schemaVersion
		}
	}
}

// addLater adds the rows that no previous file can have, because the table came after the file with the deal's own row.
// deals is the comparison of the deals' own table, after all its previous files were added.
func (c *comparison) addLater(deals *comparison) {
	if c.lifter == nil {
		return
	}
	for _, record := range c.lifter.PayloadRows(c.table) {
		for row := range int(record.NumRows()) {
			if schemaVersion, older := deals.older[versionColumns.read(record, row)]; older && schemaVersion < c.table.Since {
				c.addRow(record, row, -1)
				c.later++
			}
		}
	}
}

// versionColumns are those of a row's version in all flattened tables.
var versionColumns = keyColumns{deal: 1, version: 2, outer: -1, ordinal: -1}

// addHelpers adds the values of helper columns as they are in files.
func (c *comparison) addHelpers(record arrow.Record, n int64) {
	if c.lifter == nil {
		return
	}
	for i, name := range c.helpers {
		for _, at := range record.Schema().FieldIndices(name) {
			c.sums[i] += uint64(n) * c.sum(record, record.Column(at))
		}
	}
}

// addRows adds rows, each with the sign of n. They are under the present rules.
func (c *comparison) addRows(record arrow.Record, n int32) {
	for row := range int(record.NumRows()) {
		c.addRow(record, row, n)
	}
}

func (c *comparison) addRow(record arrow.Record, row int, n int32) {
	c.buf = c.buf[:0]
	for column := range c.columns {
		c.buf = parquet.AppendCell(c.buf, record.Column(column), row)
	}
	hash := maphash.Bytes(c.seed, c.buf)
	if c.counts[hash] += n; c.counts[hash] == 0 {
		delete(c.counts, hash)
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
