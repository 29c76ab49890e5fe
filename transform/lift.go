package transform

import (
	"bytes"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform/internal/columnar"
)

// Lifter gives the rows of files of older schema versions the values that the present rules give them, so that they can
// be compared with rows of newer files, column by column:
//
//   - U+0000 in a text is U+FFFD;
//   - a column that got a wider type has that type; a NULL in it is the payload's value, if that did not fit;
//   - a documented column that the file lacks has the payload's values;
//   - a table that came after the file has the payload's rows: PayloadRows;
//   - helper columns are read by the present parsers from the row's own texts, and from the payload's currency where a
//     text is read with the currency of its deal.
//
// All other values stay as the file has them. Remember every payload before Lift. A Lifter is for the tables of one
// feed and is not safe for concurrent use. The owner calls Release.
type Lifter struct {
	mem       memory.Allocator
	reader    *Flattener
	tables    map[*lake.Table]*tableLift
	values    map[valueKey]cell // by column: values of the payloads that older files do not have
	dealTexts map[dealTextKey][]byte
	texts     map[string][]byte // of dealTexts, so that equal ones share memory
	rows      *Batches          // only of tables that came after the first schema version
	taken     map[*lake.Table][]arrow.Record
}

// payloadRowsBytes is the size of the rows that become one record of PayloadRows: 8 MiB, as of a row group.
const payloadRowsBytes = 8 << 20

// dealTextKey is a text of a deal's own row with which rows of other tables are read. The column is an index in Table.Columns
// of the deal's table.
type dealTextKey struct {
	id      int64
	version int32
	column  int32
}

// valueKey is one cell of a table. The column is an index in Table.Columns.
type valueKey struct {
	table    *lake.Table
	column   int
	id       int64
	version  int32
	position ordinals
}

// tableLift lifts the rows of one table.
type tableLift struct {
	table       *lake.Table
	reader      *Flattener // of this table alone, for its helpers
	batch       tableBatch
	deal        []cell   // the deal's own row: only the columns in dealColumns are set
	dealColumns []int    // columns of the deal's own row with which the texts are read
	changed     []string // documented columns that Lift has changed
}

// NewLifter returns a Lifter for the tables of a feed.
func NewLifter(mem memory.Allocator, feed api.Feed) *Lifter {
	return &Lifter{mem: mem, reader: NewFlattener(feed, api.Base{}), tables: map[*lake.Table]*tableLift{}, values: map[valueKey]cell{},
		dealTexts: map[dealTextKey][]byte{}, texts: map[string][]byte{}, rows: NewHistoryBatches(mem, feed), taken: map[*lake.Table][]arrow.Record{}}
}

// Remember reads a version's payload and keeps the values and rows that files of older schema versions do not have. The
// payload's links are relative to base. A payload that cannot be read has none.
func (l *Lifter) Remember(dealID int64, version int32, base api.Base, payload []byte) {
	l.reader.SetBase(base)
	if _, err := l.reader.Read(payload); err == nil {
		l.RememberRows(l.reader, dealID, version)
	}
}

// RememberRows is Remember for the deal that f has read last.
func (l *Lifter) RememberRows(f *Flattener, dealID int64, version int32) {
	for t, table := range f.plan.tables {
		if table.Since > 1 {
			l.rows.appendTable(&l.rows.tables[t], &f.tables[t], dealID, version)
			if l.rows.Bytes(t) >= payloadRowsBytes {
				l.takeRows(t)
			}
		}
		for c := range table.Columns {
			if isLater(&table.Columns[c]) {
				l.rememberColumn(&f.tables[t], valueKey{table: table, column: c, id: dealID, version: version})
			}
		}
		for _, c := range f.plan.helpers[t].dealColumns {
			if value := &f.tables[0].cells[c]; value.Set {
				l.dealTexts[dealTextKey{dealID, version, int32(c)}] = l.shared(value.Text)
			}
		}
	}
}

func (l *Lifter) takeRows(table int) {
	batch := l.rows.Take(table)
	l.taken[batch.Table] = append(l.taken[batch.Table], batch.Record)
}

// PayloadRows returns the rows that the remembered payloads have in a table, with the table's HistoryColumns; none for a
// table of the first schema version. Release frees them.
func (l *Lifter) PayloadRows(table *lake.Table) []arrow.Record {
	if i := slices.Index(l.reader.plan.tables, table); i >= 0 && l.rows.Rows(i) > 0 {
		l.takeRows(i)
	}
	return l.taken[table]
}

// shared returns a text. Equal texts share their memory.
func (l *Lifter) shared(text []byte) []byte {
	known, ok := l.texts[string(text)]
	if !ok {
		known = bytes.Clone(text)
		l.texts[string(known)] = known
	}
	return known
}

// isLater reports whether files of older schema versions may lack values of a column.
func isLater(c *lake.Column) bool { return c.Since > 1 || len(c.Earlier) > 0 }

func (l *Lifter) rememberColumn(staged *rows, key valueKey) {
	column := &key.table.Columns[key.column]
	for i, position := range staged.ordinals {
		value := staged.cells[i*staged.width+key.column]
		if !value.Set || column.Since <= 1 && fits(&value, column.TypeAt(1)) {
			continue
		}
		value.Text = bytes.Clone(value.Text)
		key.position = position
		l.values[key] = value
	}
}

// fits reports whether a decimal has at most as many digits as a type.
func fits(c *cell, typ lake.Type) bool {
	precision, _, _ := typ.Decimal()
	return c.Num.FitsInPrecision(precision)
}

// Lift returns the rows of a record of one of the feed's tables under the present rules, with the table's
// HistoryColumns. The caller releases the result.
func (l *Lifter) Lift(table *lake.Table, record arrow.Record) arrow.Record {
	t := l.tables[table]
	if t == nil {
		t = newTableLift(l.mem, table)
		l.tables[table] = t
	}
	t.batch.reserve(int(record.NumRows()))
	from := make([]arrow.Array, len(table.Columns))
	for c := range table.Columns {
		if found := record.Schema().FieldIndices(table.Columns[c].Name); found != nil {
			from[c] = record.Column(found[0])
		}
	}
	keys := make([]cell, 3+table.Depth())
	for i := range int(record.NumRows()) {
		for k := range keys {
			keys[k] = columnar.CellAt(record.Column(k), i)
		}
		l.liftRow(t, keys, from, i)
	}
	return t.batch.take().Record
}

func newTableLift(mem memory.Allocator, table *lake.Table) *tableLift {
	p := &plan{tables: []*lake.Table{table}}
	p.addHelpers(table)
	reader := &Flattener{plan: p, tables: []rows{{width: len(table.Columns) + len(table.Helpers)}}}
	return &tableLift{table: table, reader: reader, batch: newTableBatch(mem, table, table.HistoryColumns()),
		deal: make([]cell, len(table.DealsTable().Columns)), dealColumns: p.helpers[0].dealColumns}
}

// liftRow adds row i of a record to the batch. from are the record's documented columns; nil where it has none.
func (l *Lifter) liftRow(t *tableLift, keys []cell, from []arrow.Array, i int) {
	f := t.reader
	f.reset()
	f.addRow(0, ordinals{})
	row := f.tables[0].cells
	key := valueKey{table: t.table, id: keys[1].N, version: int32(keys[2].N), position: positionOf(keys[3:])}
	for c, column := range from {
		if column != nil {
			row[c] = columnar.CellAt(column, i)
		}
		if !row[c].Set {
			if isLater(&t.table.Columns[c]) {
				key.column = c
				row[c] = l.values[key]
				t.recordChange(c, row[c].Set)
			}
			continue
		}
		text := f.withoutNUL(row[c].Text)
		t.recordChange(c, len(text) != len(row[c].Text))
		row[c].Text = text
	}
	for _, c := range t.dealColumns {
		value, ok := l.dealTexts[dealTextKey{keys[1].N, int32(keys[2].N), int32(c)}]
		t.deal[c] = cell{Set: ok, Text: value}
	}
	f.deriveAll(t.deal)
	next := t.batch.put(0, keys)
	t.batch.put(next, f.tables[0].cells)
	t.batch.rows++
}

func (t *tableLift) recordChange(column int, changed bool) {
	if name := t.table.Columns[column].Name; changed && !slices.Contains(t.changed, name) {
		t.changed = append(t.changed, name)
	}
}

// Changed returns the documented columns of a table in which Lift has changed a value.
func (l *Lifter) Changed(table *lake.Table) []string {
	if t := l.tables[table]; t != nil {
		return t.changed
	}
	return nil
}

// Release frees the memory of all rows, except those that Lift has returned.
func (l *Lifter) Release() {
	l.rows.Release()
	for _, records := range l.taken {
		for _, record := range records {
			record.Release()
		}
	}
	for _, t := range l.tables {
		t.batch.release()
	}
}

// positionOf returns a row's ordinals from the cells of its key.
func positionOf(keys []cell) ordinals {
	switch len(keys) {
	case 1:
		return ordinals{inner: int32(keys[0].N)}
	case 2:
		return ordinals{outer: int32(keys[0].N), inner: int32(keys[1].N)}
	}
	return ordinals{}
}
