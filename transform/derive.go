package transform

import (
	"encoding/json"
	"slices"

	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// derivation fills the helper columns of one text column.
type derivation struct {
	parse    text.Func
	pointer  string // of the text
	from     int    // index of the text column
	currency int    // index of the column whose currency helps to read the text; -1 for none
	date     int    // index of the column whose date helps to read the text; -1 for none
	ofDeal   bool   // currency is a column of the deal's own row
	outcomes []outcome
}

// outcome is one helper column, and the function that fills it from a reading.
type outcome struct {
	column int
	fill   func(*cell, *text.Reading)
}

// composition joins the ratings of the agencies in a row. It runs after all derivations.
type composition struct {
	notches  [3]int // indices of the agencies' notches
	statuses [3]int // and of how their texts were read
	grade    int    // index of the column with which the composite is compared; -1 for none
	outcomes []outcome
}

// helperPlan is how the helper columns of a table are filled.
type helperPlan struct {
	derivations []derivation
	composite   *composition // nil for none
	version     int          // index of the column that contains the parsers' version; -1 for none
	dealColumns []int        // columns of the deal's own row with which texts are read
}

// compileHelpers compiles the helpers of a table: one derivation for each text column that has helpers.
func compileHelpers(table *lake.Table) helperPlan {
	var all []derivation
	var dealColumns []int
	var composite *composition
	version := -1
	for h := range table.Helpers {
		helper, column := &table.Helpers[h], len(table.Columns)+h
		if helper.IsParserVersion() {
			version = column
			continue
		}
		if helper.IsComposite() {
			if composite == nil {
				composite = compileComposite(table, helper)
			}
			composite.outcomes = append(composite.outcomes, outcome{column, outcomes[helper.Parse.Part]})
			continue
		}
		from := columnOf(table, helper.Parse.From)
		i := slices.IndexFunc(all, func(d derivation) bool { return d.from == from })
		if i < 0 {
			i = len(all)
			all = append(all, derivation{parse: text.Parser(helper.Parse.Parser), pointer: table.Columns[from].Pointer, from: from, currency: -1, date: -1})
			all[i].readWith(table, &helper.Parse)
			if all[i].ofDeal {
				dealColumns = append(dealColumns, all[i].currency)
			}
		}
		all[i].outcomes = append(all[i].outcomes, outcome{column, outcomes[helper.Parse.Part]})
	}
	return helperPlan{all, composite, version, dealColumns}
}

// readWith sets the column that helps to read the text.
func (d *derivation) readWith(table *lake.Table, parse *lake.Parse) {
	if d.ofDeal = parse.OfDeal; d.ofDeal {
		table = table.DealsTable()
	}
	if with := columnOf(table, parse.With); with >= 0 && table.Columns[with].Type == lake.Date {
		d.date = with
	} else {
		d.currency = with
	}
}

// columnOf returns the index of a documented column; -1 for none.
func columnOf(table *lake.Table, name string) int {
	return slices.IndexFunc(table.Columns, func(c lake.Column) bool { return c.Name == name })
}

// compileComposite finds the columns that a composite joins. helper is any of its columns.
func compileComposite(table *lake.Table, helper *lake.Column) *composition {
	c := &composition{grade: columnOf(table, helper.Parse.With)}
	for i, name := range lake.RatingColumns(helper.Parse.From) {
		c.notches[i], c.statuses[i] = helperOf(table, name, lake.PartNotch), helperOf(table, name, lake.PartStatus)
	}
	return c
}

// helperOf returns the index of the helper column for a part of a text column.
func helperOf(table *lake.Table, from, part string) int {
	return len(table.Columns) + slices.IndexFunc(table.Helpers, func(h lake.Column) bool { return h.Parse.From == from && h.Parse.Part == part })
}

// deriveAll fills the helper columns of all staged rows. deal is the deal's own row. A text that a parser cannot read is
// not drift, but one on which it fails is.
func (f *Flattener) deriveAll(deal []cell) {
	for t := range f.tables {
		staged, helpers := &f.tables[t], &f.plan.helpers[t]
		if helpers.version < 0 {
			continue
		}
		for start := 0; start < len(staged.cells); start += staged.width {
			row := staged.cells[start : start+staged.width]
			row[helpers.version].Set, row[helpers.version].N = true, lake.ParserVersion
			for i := range helpers.derivations {
				staged.textSize += f.derive(&helpers.derivations[i], row, deal)
			}
			if helpers.composite != nil {
				staged.textSize += f.join(helpers.composite, row)
			}
		}
	}
}

// derive reads one text of a row of a deal and returns the bytes of text in its helper columns. If the text is NULL, so are
// its helpers, the status included.
func (f *Flattener) derive(d *derivation, row, deal []cell) (textSize int) {
	from := &row[d.from]
	if !from.Set {
		return 0
	}
	var beside text.Siblings
	switch {
	case d.currency < 0:
	case d.ofDeal:
		beside.Currency = deal[d.currency].Text
	default:
		beside.Currency = row[d.currency].Text
	}
	if d.date >= 0 {
		beside.Day, beside.Dated = row[d.date].N, row[d.date].Set
	}
	var normal []byte
	normal, f.arena = text.Normalise(f.arena, from.Text)
	f.reading = text.Reading{}
	if d.parse(normal, beside, &f.reading); f.reading.Failed {
		f.addDrift(d.pointer, lake.DriftFault, quoted(from.Text))
	}
	return f.fillHelpers(row, d.outcomes)
}

// quoted returns a text as JSON.
func quoted(text []byte) []byte {
	written, _ := json.Marshal(string(text)) // a string has no error
	return written
}

// fillHelpers copies the parts of the reading to their columns, and returns the bytes of text in them.
func (f *Flattener) fillHelpers(row []cell, parts []outcome) (textSize int) {
	for _, o := range parts {
		c := &row[o.column]
		o.fill(c, &f.reading)
		textSize += len(c.Text)
	}
	return textSize
}

// join joins the ratings of a row and returns the bytes of text in the columns.
func (f *Flattener) join(c *composition, row []cell) (textSize int) {
	var notches [3]text.Integer
	unread := false
	for i, column := range c.notches {
		notches[i] = text.Integer{Value: row[column].N, Set: row[column].Set}
		status := &row[c.statuses[i]]
		unread = unread || status.Set && !notches[i].Set && string(status.Text) != lake.ParsedNoNumber
	}
	var grade []byte
	if c.grade >= 0 {
		grade = row[c.grade].Text
	}
	f.reading = text.Reading{Composite: text.CompositeOf(notches, unread, grade)}
	return f.fillHelpers(row, c.outcomes)
}
