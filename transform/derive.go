package transform

import (
	"slices"

	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// derivation fills the helper columns of one text column.
type derivation struct {
	parse    text.Func
	from     int // index of the text column
	currency int // index of the column whose currency helps to read the text; -1 for none
	date     int // index of the column whose date helps to read the text; -1 for none
	outcomes []outcome
}

// outcome is one helper column, and the function that fills it from a reading.
type outcome struct {
	column int
	fill   func(*cell, *text.Reading)
}

// compileHelpers compiles the helpers of a table: one derivation for each text column that has helpers. version is the
// index of the column that contains the parsers' version; -1 for none.
func compileHelpers(table *lake.Table) (all []derivation, version int) {
	version = -1
	columnOf := func(name string) int {
		return slices.IndexFunc(table.Columns, func(c lake.Column) bool { return c.Name == name })
	}
	for h := range table.Helpers {
		helper, column := &table.Helpers[h], len(table.Columns)+h
		if helper.IsParserVersion() {
			version = column
			continue
		}
		from := columnOf(helper.Parse.From)
		i := slices.IndexFunc(all, func(d derivation) bool { return d.from == from })
		if i < 0 {
			i = len(all)
			all = append(all, derivation{parse: text.Parser(helper.Parse.Parser), from: from, currency: -1, date: -1})
			if with := columnOf(helper.Parse.With); with >= 0 && table.Columns[with].Type == lake.Date {
				all[i].date = with
			} else {
				all[i].currency = with
			}
		}
		all[i].outcomes = append(all[i].outcomes, outcome{column, outcomes[helper.Parse.Part]})
	}
	return all, version
}

// deriveAll fills the helper columns of all staged rows. A text that a parser cannot read is not drift.
func (f *Flattener) deriveAll() {
	for t := range f.tables {
		staged, version := &f.tables[t], f.plan.parserVersions[t]
		if version < 0 {
			continue
		}
		for start := 0; start < len(staged.cells); start += staged.width {
			row := staged.cells[start : start+staged.width]
			row[version].Set, row[version].N = true, lake.ParserVersion
			for i := range f.plan.derivations[t] {
				staged.textSize += f.derive(&f.plan.derivations[t][i], row)
			}
		}
	}
}

// derive reads one text of a row and returns the bytes of text in its helper columns. If the text is NULL, so are its
// helpers, the status included.
func (f *Flattener) derive(d *derivation, row []cell) (textSize int) {
	from := &row[d.from]
	if !from.Set {
		return 0
	}
	var beside text.Siblings
	if d.currency >= 0 {
		beside.Currency = row[d.currency].Text
	}
	if d.date >= 0 {
		beside.Day, beside.Dated = row[d.date].N, row[d.date].Set
	}
	var normal []byte
	normal, f.arena = text.Normalise(f.arena, from.Text)
	f.reading = text.Reading{}
	d.parse(normal, beside, &f.reading)
	for _, o := range d.outcomes {
		c := &row[o.column]
		o.fill(c, &f.reading)
		textSize += len(c.Text)
	}
	return textSize
}
