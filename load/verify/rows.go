package verify

import (
	"context"
	"fmt"
	"hash/maphash"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/load/parquet"
	"dealflow/load/verify/watchstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// fileRows checks the rows of one flattened file, each against the file and the row before it.
type fileRows struct {
	v      *verifier
	file   lake.File
	shape  *shape
	market api.Market

	rows     int64
	last     parquet.RowKey
	min, max int64
}

// checkRowsAlone checks the rows of a file without other files.
func (v *verifier) checkRowsAlone(ctx context.Context, f lake.File, shape *shape) error {
	for _, market := range f.Markets() {
		if err := v.checkRowsOf(ctx, f, market, shape); err != nil {
			return err
		}
	}
	return nil
}

// checkRowsOf checks the rows of a market in a file without other files.
func (v *verifier) checkRowsOf(ctx context.Context, f lake.File, market api.Market, shape *shape) error {
	if shape.table == nil {
		return v.readVersions(ctx, f, market, nil)
	}
	return v.walkRows(ctx, f, market, shape, func(parquet.RowKey, arrow.Record, int) {})
}

// walkRows checks a flattened file's rows of a market and calls each with every row: its key, its record and its index
// there.
func (v *verifier) walkRows(ctx context.Context, f lake.File, market api.Market, shape *shape, each func(parquet.RowKey, arrow.Record, int)) error {
	rows := &fileRows{v: v, file: f, shape: shape, market: market}
	err := v.scanFile(ctx, f, market, lake.ColumnNames(shape.columns), func(record arrow.Record) {
		for i := range int(record.NumRows()) {
			each(rows.check(record, i), record, i)
		}
	})
	if err == nil && v.isSound(f) {
		v.checkCounts(f, rows.rows, rows.min, rows.max)
	}
	return err
}

// scanFile reads columns of a market's rows in a file whose footer is right. It returns only the context's error; it
// records any other.
func (v *verifier) scanFile(ctx context.Context, f lake.File, market api.Market, columns []string, row func(arrow.Record)) error {
	watch := watchstore.New(v.files)
	err := parquet.Scan(ctx, watch, v.cfg.Memory, f.Path, columns, parquet.GroupsOf(&f, market, nil), func(record arrow.Record) error {
		v.rows.Add(record.NumRows())
		row(record)
		return nil
	})
	return v.recordReadError(ctx, f, watch, err)
}

// fileCounts sums up the rows of a shared file whose markets are read one by one.
type fileCounts struct {
	rows, min, max int64
	markets        int // that were read
}

// checkCounts compares the counts of a file's rows with its commit. Those of a shared file are of one of its markets; it
// compares their sum when it has been called for all.
func (v *verifier) checkCounts(f lake.File, rows, least, greatest int64) {
	if f.IsShared() {
		v.mu.Lock()
		sum, begun := v.counts[f.Path]
		if rows > 0 && (!begun || sum.rows == 0) {
			sum.min, sum.max = least, greatest
		} else if rows > 0 {
			sum.min, sum.max = min(sum.min, least), max(sum.max, greatest)
		}
		sum.rows, sum.markets = sum.rows+rows, sum.markets+1
		v.counts[f.Path] = sum
		v.mu.Unlock()
		if sum.markets < len(f.Markets()) {
			return
		}
		rows, least, greatest = sum.rows, sum.min, sum.max
	}
	if rows != f.Rows {
		v.report(Finding{Check: FileRows, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf("got %d rows, want %d as in the commit", rows, f.Rows)})
	}
	if least != f.MinDealID || greatest != f.MaxDealID {
		v.report(Finding{Check: FileRange, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf(
			"got deal_ids from %d to %d, want %d to %d as in the commit", least, greatest, f.MinDealID, f.MaxDealID)})
	}
}

// check checks one row against its file and the row before it.
func (r *fileRows) check(record arrow.Record, i int) parquet.RowKey {
	key := keyOf(record, i, r.shape.table.Depth())
	if market := record.Column(0).(*array.String).Value(i); market != string(r.market) {
		r.fault(key, RowPartition, "the row's market is %q, want %s as in the commit", market, r.market)
	}
	if r.shape.snapshot {
		if day := record.Column(int(record.NumCols()) - 1).(*array.Date32).Value(i); day != r.shape.day {
			r.fault(key, RowPartition, "the row's snapshot_date is %s, want %s as in the commit", day.FormattedString(), r.file.Day())
		}
	}
	order := 1
	if r.rows > 0 {
		order = key.Compare(r.last)
	} else {
		r.min, r.max = key.DealID, key.DealID
	}
	r.min, r.max = min(r.min, key.DealID), max(r.max, key.DealID)
	switch {
	case order == 0:
		r.fault(key, RowKey, "duplicate row key (%s)", r.describe(key))
	case order < 0:
		r.fault(key, RowOrder, "the row (%s) is out of order: it follows deal %d version %d (%s)", r.describe(key), r.last.DealID, r.last.Version, r.describe(r.last))
	default:
		r.checkOrdinal(key)
	}
	r.rows++
	r.last = key
	return key
}

// checkOrdinal checks that the entries of a list are numbered 1, 2, 3.
func (r *fileRows) checkOrdinal(key parquet.RowKey) {
	want := int32(1)
	if r.rows > 0 && key.SameList(r.last) {
		want = r.last.Ordinal + 1
	}
	if r.shape.table.Depth() > 0 && key.Ordinal != want {
		r.fault(key, RowOrdinal, "list entry (%s): want ordinal %d", r.describe(key), want)
	}
	if r.shape.table.Depth() > 1 && key.Outer < 1 {
		r.fault(key, RowOrdinal, "list entry (%s): want its parent's ordinal to be 1 or more", r.describe(key))
	}
}

// keyOf reads the key of a row of a table with a depth.
func keyOf(record arrow.Record, i, depth int) parquet.RowKey {
	number := func(column int) int32 { return record.Column(column).(*array.Int32).Value(i) }
	key := parquet.RowKey{DealID: record.Column(1).(*array.Int64).Value(i), Version: number(2)}
	switch depth {
	case 1:
		key.Ordinal = number(3)
	case 2:
		key.Outer, key.Ordinal = number(3), number(4)
	}
	return key
}

// describe says for a finding which row of its version a row is.
func (r *fileRows) describe(key parquet.RowKey) string {
	switch r.shape.table.Depth() {
	case 0:
		return "the deal's own row"
	case 1:
		return fmt.Sprintf("ordinal %d", key.Ordinal)
	}
	return fmt.Sprintf("ordinals %d, %d", key.Outer, key.Ordinal)
}

func (r *fileRows) fault(key parquet.RowKey, check Check, format string, args ...any) {
	r.v.report(Finding{Check: check, Path: r.file.Path, Table: r.file.Table, Detail: fmt.Sprintf(format, args...)}.about(key.DealID, key.Version))
}

// rowSum is the sum of the 128-bit hashes of rows, so that the order of rows does not matter; zero for no rows.
type rowSum struct{ a, b uint64 }

func (s *rowSum) add(o rowSum) {
	s.a += o.a
	s.b += o.b
}

// rowHasher hashes rows: their ordinals and all other columns. Hashes of two rowHashers cannot be compared. It is not
// safe for concurrent use.
type rowHasher struct {
	table *lake.Table
	// lifter brings rows of older files under the present rules; nil where all files have one schema version, and have all
	// rows.
	lifter Lifter
	seeds  [2]maphash.Seed
	skip   int // leading columns that are not hashed: market, deal_id, version
	buf    []byte
}

// newRowHasher returns a hasher of the rows of a table's files.
func (v *verifier) newRowHasher(feed api.Feed, table *lake.Table, files []lake.File) *rowHasher {
	h := &rowHasher{table: table, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, skip: 3}
	if !lake.OneSchemaVersion(files) || table.Since > 1 {
		h.lifter = v.lifters[feed]
	}
	return h
}

// columns returns the number of leading columns of a file's records that are hashed.
func (h *rowHasher) columns(f lake.File) int {
	version := f.SchemaVersion
	if h.lifter != nil {
		version = lake.SchemaVersion
	}
	return len(lake.ColumnsAt(h.table.HistoryColumns(), version))
}

// lift returns a file's record under the rules that all files are compared by. The caller releases the result.
func (h *rowHasher) lift(f lake.File, record arrow.Record) arrow.Record {
	if h.lifter == nil || f.SchemaVersion == lake.SchemaVersion {
		record.Retain()
		return record
	}
	return h.lifter.Lift(h.table, record)
}

func (h *rowHasher) hash(record arrow.Record, columns, row int) rowSum {
	h.buf = h.buf[:0]
	for c := h.skip; c < columns; c++ {
		h.buf = parquet.AppendCell(h.buf, record.Column(c), row)
	}
	return rowSum{maphash.Bytes(h.seeds[0], h.buf), maphash.Bytes(h.seeds[1], h.buf)}
}
