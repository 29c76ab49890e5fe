package transform

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Content is what a version of a deal says. Base is the address that the payload's links are relative to. Tranches
// contains, for an expected deal, the number of each tranche (lake.VersionPair).
type Content struct {
	Payload  []byte
	Base     api.Base
	Tranches []int32
}

// Differ finds what changed between two versions of a deal of one feed, in documented columns and child rows. Helper
// columns are left out, because they also change with the parsers. A Differ is reused from deal to deal and is not safe
// for concurrent use.
type Differ struct {
	Longest int // the most bytes of a value in its changes: a longer one is cut

	before, after side
	tables        []*lake.Table
	columns       [][]int // per table: the columns of its Identity; -1 for the tranche
	changes       []lake.FieldChange
	rows          map[string]int // rows of before by key, in the table being compared
}

// side is one of the two versions.
type side struct {
	*Flattener
	content Content
	keys    []string // key of each row, in the table being compared
}

// NewDiffer returns a Differ for deals of a feed. Its Longest is lake.ChangeText.
func NewDiffer(feed api.Feed) *Differ {
	d := &Differ{Longest: lake.ChangeText, rows: map[string]int{}}
	d.before.Flattener, d.after.Flattener = NewFlattener(feed, api.Base{}), NewFlattener(feed, api.Base{})
	d.tables = d.after.plan.tables
	for _, table := range d.tables {
		columns := make([]int, len(table.Identity))
		for i, name := range table.Identity {
			columns[i] = slices.IndexFunc(table.Columns, func(c lake.Column) bool { return c.Name == name })
		}
		d.columns = append(d.columns, columns)
	}
	return d
}

// Diff returns what changed, table by table in their order. Within a table the rows are in the order of after; removed
// rows are last. The result is valid until the next call. The error is an *api.Reject of one of the payloads.
func (d *Differ) Diff(before, after Content) ([]lake.FieldChange, error) {
	d.changes = d.changes[:0]
	// The later version of one pair is often the earlier version of the next pair.
	d.before, d.after = d.after, d.before
	if err := errors.Join(d.before.read(before), d.after.read(after)); err != nil {
		return nil, err
	}
	for i, table := range d.tables {
		if table.Depth() == 0 {
			d.compareRow(i, "", 0, 0)
			continue
		}
		d.compareRows(i)
	}
	return d.changes, nil
}

// read flattens a version. It reuses what s contains if that was read from the same payload slice and base.
func (s *side) read(content Content) error {
	same := len(content.Payload) > 0 && len(content.Payload) == len(s.content.Payload) && &content.Payload[0] == &s.content.Payload[0]
	if same && content.Base == s.content.Base {
		s.content.Tranches = content.Tranches
		return nil
	}
	s.content = content
	s.SetBase(content.Base)
	_, err := s.Read(content.Payload)
	if err != nil {
		s.content = Content{}
	}
	return err
}

// compareRows compares the entries of a list.
func (d *Differ) compareRows(table int) {
	d.before.keyRows(d, table)
	d.after.keyRows(d, table)
	clear(d.rows)
	for row, key := range d.before.keys {
		d.rows[key] = row
	}
	for row, key := range d.after.keys {
		wasRow, ok := d.rows[key]
		if !ok {
			d.add(table, lake.FieldChange{RowKey: key, Change: lake.RowAdded, Is: d.cut(d.after.rowText(table, row))})
			continue
		}
		d.compareRow(table, key, wasRow, row)
		delete(d.rows, key)
	}
	for row, key := range d.before.keys {
		if _, left := d.rows[key]; left {
			d.add(table, lake.FieldChange{RowKey: key, Change: lake.RowRemoved, Was: d.cut(d.before.rowText(table, row))})
		}
	}
}

// compareRow compares two rows of a table, column by column. wasRow and isRow are their indices in before and after.
func (d *Differ) compareRow(table int, key string, wasRow, isRow int) {
	for c := range d.tables[table].Columns {
		column := &d.tables[table].Columns[c]
		before, after := d.before.cellAt(table, wasRow, c), d.after.cellAt(table, isRow, c)
		change := lake.FieldEdited
		switch {
		case sameCell(before, after):
			continue
		case !before.Set:
			change = lake.FieldSet
		case !after.Set:
			change = lake.FieldCleared
		}
		d.add(table, lake.FieldChange{
			RowKey: key, Field: column.Name, Change: change,
			Was: d.cut(appendCell(nil, before, column.Type)), Is: d.cut(appendCell(nil, after, column.Type)),
		})
	}
}

func (d *Differ) add(table int, c lake.FieldChange) {
	c.Table = d.tables[table].Name
	d.changes = append(d.changes, c)
}

// cellAt returns a cell of a row. row counts from 0.
func (s *side) cellAt(table, row, column int) *cell {
	t := &s.tables[table]
	return &t.cells[row*t.width+column]
}

// repeatedMark is in a row's key before the number of a row with the same key, and repeatedText where a text has the mark.
var repeatedMark, repeatedText = []byte(" | #"), []byte(" | ##")

// keyRows sets s.keys to the keys of a table's rows. Rows with equal keys are numbered in order.
func (s *side) keyRows(d *Differ, table int) {
	s.keys = s.keys[:0]
	times := map[string]int{}
	for row := range s.tables[table].ordinals {
		var key []byte
		for i, column := range d.columns[table] {
			if i > 0 {
				key = append(key, " | "...)
			}
			if column < 0 {
				key = s.appendTranche(key, d, table, row)
			} else {
				key = appendCell(key, s.cellAt(table, row, column), d.tables[table].Columns[column].Type)
			}
		}
		if bytes.Contains(key, repeatedMark) {
			key = bytes.ReplaceAll(key, repeatedMark, repeatedText)
		}
		times[string(key)]++
		if n := times[string(key)]; n > 1 {
			key = fmt.Appendf(key, "%s%d", repeatedMark, n)
		}
		s.keys = append(s.keys, string(key))
	}
}

// appendTranche appends which tranche a row is or belongs to: by lineage or id, otherwise by ordinal.
func (s *side) appendTranche(dst []byte, d *Differ, table, row int) []byte {
	position := s.tables[table].ordinals[row]
	ordinal := position.inner
	if d.tables[table].Depth() > 1 {
		ordinal = position.outer
	}
	if n := int(ordinal); n <= len(s.content.Tranches) {
		return strconv.AppendInt(dst, int64(s.content.Tranches[n-1]), 10)
	}
	for i, other := range d.tables {
		id := slices.IndexFunc(other.Columns, func(c lake.Column) bool { return c.Name == "tranche_id" })
		if id < 0 {
			continue
		}
		if c := s.cellAt(i, int(ordinal)-1, id); c.Set {
			return strconv.AppendInt(dst, c.N, 10)
		}
	}
	return fmt.Appendf(dst, "ordinal %d", ordinal)
}

// rowText returns all set cells of a row as one text.
func (s *side) rowText(table, row int) []byte {
	var text []byte
	for c := range s.plan.tables[table].Columns {
		value := s.cellAt(table, row, c)
		if !value.Set {
			continue
		}
		if len(text) > 0 {
			text = append(text, " | "...)
		}
		text = appendCell(text, value, s.plan.tables[table].Columns[c].Type)
	}
	return text
}

// sameCell reports whether two cells of a column are equal.
func sameCell(a, b *cell) bool {
	return a.Set == b.Set && a.N == b.N && a.Num == b.Num && bytes.Equal(a.Text, b.Text)
}

// appendCell appends a cell in readable form; nothing if it is NULL.
func appendCell(dst []byte, c *cell, typ lake.Type) []byte {
	if !c.Set {
		return dst
	}
	switch typ {
	case lake.Text:
		return append(dst, c.Text...)
	case lake.Bool:
		return strconv.AppendBool(dst, c.N != 0)
	case lake.Date:
		return arrow.Date32(c.N).ToTime().AppendFormat(dst, time.DateOnly)
	case lake.Timestamp:
		return time.UnixMicro(c.N).UTC().AppendFormat(dst, time.RFC3339Nano)
	}
	if _, scale, ok := typ.Decimal(); ok {
		return appendDecimal(dst, c.Num, scale)
	}
	return strconv.AppendInt(dst, c.N, 10)
}

// appendDecimal appends a decimal without trailing zeros.
func appendDecimal(dst []byte, n decimal128.Num, scale int32) []byte {
	text := n.ToString(scale)
	for len(text) > 0 && text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	if len(text) > 0 && text[len(text)-1] == '.' {
		text = text[:len(text)-1]
	}
	return append(dst, text...)
}

// cut shortens a text to d.Longest bytes of whole characters, and an ellipsis.
func (d *Differ) cut(text []byte) string {
	if len(text) <= d.Longest {
		return string(text)
	}
	end := d.Longest
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]) + "…"
}
