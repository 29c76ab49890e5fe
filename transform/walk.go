package transform

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/go-json-experiment/json/jsontext"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// Flattener reads deals of one feed, one at a time, into rows of the feed's tables. It is reused from
// deal to deal and is not safe for concurrent use; several may work on one feed side by side.
type Flattener struct {
	plan  *plan
	base  api.Base
	drift driftLog

	dec     *jsontext.Decoder
	input   bytes.Buffer
	payload []byte // of the deal being read; cells point into it
	arena   []byte // texts that had to be unescaped or normalised
	id      cell
	tables  []rows
	entries []mapEntry  // of the map being read
	found   []departure // of the deal being read
	reading text.Reading
}

// rows are the staged rows of one table for one deal.
type rows struct {
	width    int
	cells    []cell // width cells a row
	ordinals []ordinals
	textSize int // bytes of text in cells
}

// ordinals is the child part of a row's key: of a list inside a list, outer is the outer list's.
type ordinals struct{ outer, inner int32 }

// cell is one value, ready for its builder. Which fields count follows from the column's type.
type cell struct {
	set  bool
	text []byte         // Text
	n    int64          // Int32, Int64, Bool, Date, Timestamp
	num  decimal128.Num // Money, Rate, Price
}

type mapEntry struct {
	key   []byte
	value cell
}

// departure is drift that counts once its deal has been read to the end.
type departure struct {
	pointer string
	kind    lake.DriftKind
	example []byte // a part of the payload
}

// NewFlattener prepares to read deals of a feed; base makes their links relative.
func NewFlattener(feed api.Feed, base api.Base) *Flattener {
	f := &Flattener{plan: compile(feed), base: base, dec: jsontext.NewDecoder(&bytes.Buffer{})}
	f.tables = make([]rows, len(f.plan.tables))
	for i, table := range f.plan.tables {
		f.tables[i].width = len(table.Columns) + len(table.Helpers)
	}
	return f
}

// SetBase changes what links are relative to, from the next Read on.
func (f *Flattener) SetBase(base api.Base) { f.base = base }

// HasPricedDeal says whether the deal read last, or one of its tranches, links to a priced deal.
func (f *Flattener) HasPricedDeal() bool {
	for i, table := range f.plan.tables {
		c := slices.IndexFunc(table.Columns, func(c lake.Column) bool { return c.Name == "priced_deal_href" })
		staged := &f.tables[i]
		for at := c; c >= 0 && at < len(staged.cells); at += staged.width {
			if staged.cells[at].set {
				return true
			}
		}
	}
	return false
}

// Drift returns what departed from the API document in all deals read so far, by pointer and kind.
// Records that were rejected do not count.
func (f *Flattener) Drift() []lake.Drift { return f.drift.sorted() }

// Read stages the rows of one deal and returns its id. The rows stay, and payload must not change,
// until the next Read; Batches.Append copies them. The error is an *api.Reject: the record goes to
// quarantine and has no rows.
func (f *Flattener) Read(payload []byte) (dealID int64, err error) {
	f.reset(payload)
	if err := f.record(); err != nil {
		f.reset(nil)
		return 0, rejection(err)
	}
	f.deriveAll()
	for _, d := range f.found {
		f.drift.add(d.pointer, d.kind, d.example)
	}
	return f.id.n, nil
}

// record reads the whole payload.
func (f *Flattener) record() error {
	if !utf8.Valid(f.payload) {
		return &api.Reject{Reason: api.RejectInvalidUTF8}
	}
	startDecoder(f.dec, &f.input, f.payload)
	if err := wantObject(f.dec); err != nil {
		return err
	}
	f.addRow(0, ordinals{})
	if err := f.object(f.plan.root, ordinals{}); err != nil {
		return err
	}
	if err := wantEnd(f.dec); err != nil {
		return err
	}
	if !f.id.set {
		return &api.Reject{Reason: api.RejectNoID, Detail: f.plan.id.pointer}
	}
	return nil
}

// startDecoder points a decoder at payload without copying it. Lone surrogates pass: text columns
// replace them and tell; invalid UTF-8 is refused before.
func startDecoder(dec *jsontext.Decoder, input *bytes.Buffer, payload []byte) {
	*input = *bytes.NewBuffer(payload)
	dec.Reset(input, jsontext.AllowInvalidUTF8(true))
}

// wantObject refuses a record that is another JSON value.
func wantObject(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '{' {
		return nil
	}
	if err := dec.SkipValue(); err != nil {
		return err
	}
	return &api.Reject{Reason: api.RejectNotObject}
}

// wantEnd refuses anything but white space behind the record.
func wantEnd(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return &api.Reject{Reason: api.RejectInvalidJSON, Detail: "text after the record"}
	}
	return nil
}

// rejection says in our terms why a decoder stopped.
func rejection(err error) *api.Reject {
	var reject *api.Reject
	if errors.As(err, &reject) {
		return reject
	}
	reason := api.RejectInvalidJSON
	if errors.Is(err, jsontext.ErrDuplicateName) {
		reason = api.RejectDuplicateMember
	}
	return &api.Reject{Reason: reason, Detail: err.Error()}
}

func (f *Flattener) reset(payload []byte) {
	f.payload = payload
	f.arena, f.found = f.arena[:0], f.found[:0]
	f.id = cell{}
	for i := range f.tables {
		t := &f.tables[i]
		t.cells, t.ordinals, t.textSize = t.cells[:0], t.ordinals[:0], 0
	}
}

// addRow stages an empty row.
func (f *Flattener) addRow(table int, at ordinals) {
	t := &f.tables[table]
	t.ordinals = append(t.ordinals, at)
	t.cells = slices.Grow(t.cells, t.width)
	t.cells = t.cells[:len(t.cells)+t.width]
	clear(t.cells[len(t.cells)-t.width:])
}

// cell is the place of a column in its table's newest row.
func (f *Flattener) cell(to *target) *cell {
	t := &f.tables[to.table]
	return &t.cells[len(t.cells)-t.width+to.column]
}

// note keeps drift until the deal has been read to the end.
func (f *Flattener) note(pointer string, kind lake.DriftKind, example []byte) {
	f.found = append(f.found, departure{pointer, kind, example})
}

// object reads an object whose opening brace is next. at is the place of the list entry around it.
func (f *Flattener) object(n *node, at ordinals) error {
	if _, err := f.dec.ReadToken(); err != nil {
		return err
	}
	next := 0 // members usually come in the document's order: look there first
	for f.dec.PeekKind() != '}' {
		name, err := f.dec.ReadValue()
		if err != nil {
			return err
		}
		if m := n.find(name, &next); m != nil {
			err = f.value(m, at)
		} else {
			err = f.strange(n, name, at)
		}
		if err != nil {
			return err
		}
	}
	_, err := f.dec.ReadToken()
	return err
}

// find looks a member up by its name in quotes, first at *next; it leaves *next behind the member
// found.
func (n *node) find(quoted []byte, next *int) *node {
	for i := *next; i < len(n.members); i++ {
		if n.members[i].quoted == string(quoted) {
			*next = i + 1
			return n.members[i]
		}
	}
	for i, m := range n.members[:min(*next, len(n.members))] {
		if m.quoted == string(quoted) {
			*next = i + 1
			return m
		}
	}
	return nil
}

// strange reads a member whose name is not written as the document writes it: with escapes, or unknown.
func (f *Flattener) strange(n *node, quoted []byte, at ordinals) error {
	name, _ := f.unquote(quoted)
	for _, m := range n.members {
		if m.name == string(name) {
			return f.value(m, at)
		}
	}
	pointer := n.pointer + "/" + escapePointer(string(name))
	start := f.dec.InputOffset()
	if err := f.dec.SkipValue(); err != nil {
		return err
	}
	f.note(pointer, lake.DriftUnknown, f.since(start))
	return nil
}

// since is the value read since the member's name that ended at start.
func (f *Flattener) since(start int64) []byte {
	return bytes.TrimLeft(f.payload[start:f.dec.InputOffset()], ": \t\r\n")
}

// value reads the value that stands at a node.
func (f *Flattener) value(n *node, at ordinals) error {
	if !n.foreign {
		return f.documented(n, at)
	}
	isNull := f.dec.PeekKind() == 'n'
	start := f.dec.InputOffset()
	if err := f.documented(n, at); err != nil || isNull {
		return err
	}
	f.note(n.pointer, lake.DriftUnknown, f.since(start))
	return nil
}

// documented reads the value of a node, whichever market documents it.
func (f *Flattener) documented(n *node, at ordinals) error {
	switch n.shape {
	case shapeScalar:
		return f.scalar(n)
	case shapeAny:
		return f.dec.SkipValue()
	}
	switch kind := f.dec.PeekKind(); {
	case n.shape == shapeObject && kind == '{':
		return f.object(n, at)
	case n.shape == shapeList && kind == '[':
		return f.list(n, at)
	case n.shape == shapeMap && kind == '{':
		return f.mapEntries(n, at)
	case kind == 'n':
		return f.dec.SkipValue()
	}
	return f.misfit(n)
}

// misfit passes over a value that does not fit its place.
func (f *Flattener) misfit(n *node) error {
	raw, err := f.dec.ReadValue()
	if err != nil {
		return err
	}
	f.note(n.pointer, lake.DriftMisfit, raw)
	return nil
}

// list reads an array: every entry is a row, also one that is null or no object.
func (f *Flattener) list(n *node, at ordinals) error {
	if _, err := f.dec.ReadToken(); err != nil {
		return err
	}
	entry := n.entry
	ordinal := int32(0)
	for kind := f.dec.PeekKind(); kind != ']'; kind = f.dec.PeekKind() {
		ordinal++
		here := ordinals{outer: at.inner, inner: ordinal}
		f.addRow(n.rows, here)
		var err error
		switch {
		case entry.shape == shapeObject && kind == '{':
			err = f.object(entry, here)
		case entry.shape == shapeScalar && kind != 'n':
			err = f.scalar(entry)
		default:
			err = f.misfit(entry)
		}
		if err != nil {
			return err
		}
	}
	_, err := f.dec.ReadToken()
	return err
}

// mapEntries reads an object whose members are rows, sorted by their names as UTF-8 bytes.
func (f *Flattener) mapEntries(n *node, at ordinals) error {
	if _, err := f.dec.ReadToken(); err != nil {
		return err
	}
	var key, value *target
	for i := range n.entry.targets {
		if n.entry.targets[i].part == lake.Key {
			key = &n.entry.targets[i]
		} else {
			value = &n.entry.targets[i]
		}
	}
	f.entries = f.entries[:0]
	for f.dec.PeekKind() != '}' {
		name, err := f.dec.ReadValue()
		if err != nil {
			return err
		}
		entry := mapEntry{}
		var whole bool
		if entry.key, whole = f.unquote(name); !whole {
			f.note(n.entry.pointer, lake.DriftMisfit, name)
		}
		raw, err := f.dec.ReadValue()
		if err != nil {
			return err
		}
		if raw.Kind() != 'n' {
			f.fill(&entry.value, n.entry, value, raw)
		}
		f.entries = append(f.entries, entry)
	}
	slices.SortFunc(f.entries, func(a, b mapEntry) int { return bytes.Compare(a.key, b.key) })
	for i, entry := range f.entries {
		f.addRow(n.rows, ordinals{outer: at.inner, inner: int32(i + 1)})
		*f.cell(key) = cell{set: true, text: entry.key}
		*f.cell(value) = entry.value
		f.tables[n.rows].textSize += len(entry.key)
	}
	_, err := f.dec.ReadToken()
	return err
}

// scalar reads a value into its columns.
func (f *Flattener) scalar(n *node) error {
	raw, err := f.dec.ReadValue()
	if err != nil {
		return err
	}
	switch {
	case n == f.plan.id:
		if raw.Kind() == '0' {
			f.id.n, f.id.set = integer(raw)
		}
	case raw.Kind() == 'n':
	case n == f.plan.market:
		f.checkMarket(raw)
	default:
		for i := range n.targets {
			to := &n.targets[i]
			c := f.cell(to)
			f.fill(c, n, to, raw)
			f.tables[to.table].textSize += len(c.text)
		}
	}
	return nil
}

// checkMarket compares the record's own market with the feed's.
func (f *Flattener) checkMarket(raw jsontext.Value) {
	if raw.Kind() != '"' {
		f.note(f.plan.market.pointer, lake.DriftMisfit, raw)
		return
	}
	if text, _ := f.unquote(raw); string(text) != string(f.plan.feed.Market) {
		f.note(f.plan.market.pointer, lake.DriftUnlisted, raw)
	}
}
