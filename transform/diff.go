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

// Content is what a version of a deal says: its payload, the address that its links are relative to, and,
// for an expected deal, which tranche each of its tranches is (lake.VersionPair).
type Content struct {
	Payload  []byte
	Base     api.Base
	Tranches []int32
}

// Differ finds what changed between two versions of a deal of one feed, in documented columns and child
// rows. What parsers read is left out: it changes with them. It is reused from deal to deal and is not
// safe for concurrent use.
type Differ struct {
	before, after side
	tables        []*lake.Table
	columns       [][]int // by table: the columns of its Identity; -1 for the tranche
	found         []lake.FieldChange
	rows          map[string]int // of the table being compared: before's rows by key
}

// side is one of the two versions.
type side struct {
	*Flattener
	content Content
	keys    []string // of the table being compared, by row
}

// NewDiffer prepares to compare deals of a feed.
func NewDiffer(feed api.Feed) *Differ {
	d := &Differ{rows: map[string]int{}}
	d.before.Flattener, d.after.Flattener = NewFlattener(feed, api.Base{}), NewFlattener(feed, api.Base{})
	d.tables = d.after.plan.tables
	for _, table := range d.tables {
		places := make([]int, len(table.Identity))
		for i, name := range table.Identity {
			places[i] = slices.IndexFunc(table.Columns, func(c lake.Column) bool { return c.Name == name })
		}
		d.columns = append(d.columns, places)
	}
	return d
}

// Diff gives what changed, table by table in their order, and there row by row as after has them, removed
// rows last. The result is good until the next call. The error is an *api.Reject of one of the payloads.
func (d *Differ) Diff(before, after Content) ([]lake.FieldChange, error) {
	d.found = d.found[:0]
	// What was read as the later version of a pair is often the earlier one of the next.
	d.before, d.after = d.after, d.before
	if err := errors.Join(d.before.read(before), d.after.read(after)); err != nil {
		return nil, err
	}
	for i, table := range d.tables {
		if table.Depth() == 0 {
			d.compare(i, "", 0, 0)
			continue
		}
		d.compareRows(i)
	}
	return d.found, nil
}

// read flattens a version, unless it is the one that was read last.
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
		was, ok := d.rows[key]
		if !ok {
			d.add(table, lake.FieldChange{RowKey: key, Change: lake.RowAdded, Is: d.after.rowText(table, row)})
			continue
		}
		d.compare(table, key, was, row)
		delete(d.rows, key)
	}
	for row, key := range d.before.keys {
		if _, left := d.rows[key]; left {
			d.add(table, lake.FieldChange{RowKey: key, Change: lake.RowRemoved, Was: d.before.rowText(table, row)})
		}
	}
}

// compare compares two rows of a table, column by column.
func (d *Differ) compare(table int, key string, was, is int) {
	for c := range d.tables[table].Columns {
		column := &d.tables[table].Columns[c]
		before, after := d.before.at(table, was, c), d.after.at(table, is, c)
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
			Was: cut(appendCell(nil, before, column.Type)), Is: cut(appendCell(nil, after, column.Type)),
		})
	}
}

func (d *Differ) add(table int, c lake.FieldChange) {
	c.Table = d.tables[table].Name
	d.found = append(d.found, c)
}

// at is the cell of a row.
func (s *side) at(table, row, column int) *cell {
	t := &s.tables[table]
	return &t.cells[row*t.width+column]
}

// keyRows gives each row of a table its key.
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
				key = appendCell(key, s.at(table, row, column), d.tables[table].Columns[column].Type)
			}
		}
		times[string(key)]++
		if n := times[string(key)]; n > 1 {
			key = fmt.Appendf(key, " | #%d", n)
		}
		s.keys = append(s.keys, string(key))
	}
}

// appendTranche writes which tranche a row is or belongs to: by lineage or id, else by its place.
func (s *side) appendTranche(dst []byte, d *Differ, table, row int) []byte {
	at := s.tables[table].ordinals[row]
	ordinal := at.inner
	if d.tables[table].Depth() > 1 {
		ordinal = at.outer
	}
	if n := int(ordinal); n <= len(s.content.Tranches) {
		return strconv.AppendInt(dst, int64(s.content.Tranches[n-1]), 10)
	}
	for i, of := range d.tables {
		id := slices.IndexFunc(of.Columns, func(c lake.Column) bool { return c.Name == "tranche_id" })
		if id < 0 {
			continue
		}
		if c := s.at(i, int(ordinal)-1, id); c.Set {
			return strconv.AppendInt(dst, c.N, 10)
		}
	}
	return fmt.Appendf(dst, "ordinal %d", ordinal)
}

// rowText writes what a row says.
func (s *side) rowText(table, row int) string {
	var text []byte
	for c := range s.plan.tables[table].Columns {
		value := s.at(table, row, c)
		if !value.Set {
			continue
		}
		if len(text) > 0 {
			text = append(text, " | "...)
		}
		text = appendCell(text, value, s.plan.tables[table].Columns[c].Type)
	}
	return cut(text)
}

// sameCell says whether two cells of a column are equal.
func sameCell(a, b *cell) bool {
	return a.Set == b.Set && a.N == b.N && a.Num == b.Num && bytes.Equal(a.Text, b.Text)
}

// appendCell writes a cell as people read it; nothing if it is empty.
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

// appendDecimal writes a decimal without zeros at its end.
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

// cut shortens a text to what a FieldChange holds.
func cut(text []byte) string {
	if len(text) <= lake.ChangeText {
		return string(text)
	}
	end := lake.ChangeText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return string(text[:end]) + "…"
}
