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
	arena   []byte // texts that had to be unescaped
	id      cell
	tables  []rows
	entries []mapEntry // of the map being read
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

// NewFlattener prepares to read deals of a feed; base makes their links relative.
func NewFlattener(feed api.Feed, base api.Base) *Flattener {
	f := &Flattener{plan: compile(feed), base: base, dec: jsontext.NewDecoder(&bytes.Buffer{})}
	f.tables = make([]rows, len(f.plan.tables))
	for i, table := range f.plan.tables {
		f.tables[i].width = len(table.Columns)
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
func (f *Flattener) Drift() []lake.Drift { return f.drift.sorted() }

// Read stages the rows of one deal and returns its id. The rows stay, and payload must not change,
// until the next Read; Batches.Append copies them. The error is an *api.Reject: the record goes to
// quarantine and has no rows.
func (f *Flattener) Read(payload []byte) (dealID int64, err error) {
	f.reset(payload)
	if !utf8.Valid(payload) {
		return 0, &api.Reject{Reason: api.RejectInvalidUTF8}
	}
	startDecoder(f.dec, &f.input, payload)
	if f.dec.PeekKind() != '{' {
		if err := f.dec.SkipValue(); err != nil {
			return 0, rejection(err)
		}
		return 0, &api.Reject{Reason: api.RejectNotObject}
	}
	f.addRow(0, ordinals{})
	if err := f.object(f.plan.root, ordinals{}); err != nil {
		return 0, rejection(err)
	}
	if _, err := f.dec.ReadToken(); err != io.EOF {
		return 0, &api.Reject{Reason: api.RejectInvalidJSON, Detail: "text after the record"}
	}
	if !f.id.set {
		return 0, &api.Reject{Reason: api.RejectNoID, Detail: f.plan.id.pointer}
	}
	return f.id.n, nil
}

// startDecoder points a decoder at payload without copying it. Lone surrogates pass: text columns
// replace them and tell; invalid UTF-8 is refused before.
func startDecoder(dec *jsontext.Decoder, input *bytes.Buffer, payload []byte) {
	*input = *bytes.NewBuffer(payload)
	dec.Reset(input, jsontext.AllowInvalidUTF8(true))
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
	f.arena = f.arena[:0]
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

// put fills a column of a table's newest row.
func (f *Flattener) put(to target, value cell) {
	t := &f.tables[to.table]
	t.cells[len(t.cells)-t.width+to.column] = value
	t.textSize += len(value.text)
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
		name = f.unquote(name)
		m := n.find(name, &next)
		if m == nil {
			if err := f.unknown(n, name); err != nil {
				return err
			}
			continue
		}
		if err := f.value(m, at); err != nil {
			return err
		}
	}
	_, err := f.dec.ReadToken()
	return err
}

// find looks a member up, first at *next; it leaves *next behind the member found.
func (n *node) find(name []byte, next *int) *node {
	for i := *next; i < len(n.members); i++ {
		if n.members[i].name == string(name) {
			*next = i + 1
			return n.members[i]
		}
	}
	for i, m := range n.members[:min(*next, len(n.members))] {
		if m.name == string(name) {
			*next = i + 1
			return m
		}
	}
	return nil
}

// unknown passes over the value of a member that the document does not name.
func (f *Flattener) unknown(n *node, name []byte) error {
	pointer := n.pointer + "/" + escapePointer(string(name))
	start := f.dec.InputOffset()
	if err := f.dec.SkipValue(); err != nil {
		return err
	}
	example := bytes.TrimLeft(f.payload[start:f.dec.InputOffset()], ": \t\r\n")
	f.drift.add(pointer, lake.DriftUnknown, example)
	return nil
}

// value reads the value that stands at a node.
func (f *Flattener) value(n *node, at ordinals) error {
	kind := f.dec.PeekKind()
	if n.foreign && kind != 'n' {
		f.drift.add(n.pointer, lake.DriftUnknown, f.example())
	}
	switch {
	case n.shape == shapeAny:
		return f.dec.SkipValue()
	case n.shape == shapeScalar:
		return f.scalar(n, at)
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

// example is the text that stands next in the payload, for a report.
func (f *Flattener) example() []byte {
	rest := bytes.TrimLeft(f.payload[f.dec.InputOffset():], ": \t\r\n,")
	return rest[:min(len(rest), maxExample)]
}

// misfit passes over a value that does not fit its place.
func (f *Flattener) misfit(n *node) error {
	raw, err := f.dec.ReadValue()
	if err != nil {
		return err
	}
	f.drift.add(n.pointer, lake.DriftMisfit, raw)
	return nil
}

// list reads an array: every entry is a row, also one that is null or no object.
func (f *Flattener) list(n *node, at ordinals) error {
	if _, err := f.dec.ReadToken(); err != nil {
		return err
	}
	entry := n.entry
	for ordinal := int32(1); f.dec.PeekKind() != ']'; ordinal++ {
		here := ordinals{outer: at.inner, inner: ordinal}
		f.addRow(n.rows, here)
		kind := f.dec.PeekKind()
		var err error
		switch {
		case entry.shape == shapeObject && kind == '{':
			err = f.object(entry, here)
		case entry.shape == shapeScalar && kind != 'n':
			err = f.scalar(entry, here)
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
		entry := mapEntry{key: f.unquote(name)}
		raw, err := f.dec.ReadValue()
		if err != nil {
			return err
		}
		if raw.Kind() != 'n' {
			entry.value = f.convert(n.entry, value.typ, raw)
		}
		f.entries = append(f.entries, entry)
	}
	slices.SortStableFunc(f.entries, func(a, b mapEntry) int { return bytes.Compare(a.key, b.key) })
	for i, entry := range f.entries {
		f.addRow(n.rows, ordinals{outer: at.inner, inner: int32(i + 1)})
		f.put(*key, cell{set: true, text: entry.key})
		f.put(*value, entry.value)
	}
	_, err := f.dec.ReadToken()
	return err
}

// scalar reads a value into its columns.
func (f *Flattener) scalar(n *node, at ordinals) error {
	raw, err := f.dec.ReadValue()
	if err != nil {
		return err
	}
	if n == f.plan.id {
		if raw.Kind() == '0' {
			f.id.n, f.id.set = integer(raw)
		}
		return nil
	}
	if raw.Kind() == 'n' {
		return nil
	}
	if n == f.plan.market {
		f.checkMarket(raw)
		return nil
	}
	for i := range n.targets {
		to := &n.targets[i]
		switch to.part {
		case lake.Href:
			if c := f.convert(n, lake.Text, raw); c.set {
				c.text = f.base.RelativeBytes(c.text)
				f.put(*to, c)
			}
		case lake.HrefID:
			if text, ok := f.text(raw); ok {
				f.put(*to, numberAtEnd(f.base.RelativeBytes(text)))
			}
		default:
			f.put(*to, f.convert(n, to.typ, raw))
		}
	}
	return nil
}

// checkMarket compares the record's own market with the feed's.
func (f *Flattener) checkMarket(raw jsontext.Value) {
	text, ok := f.text(raw)
	switch {
	case !ok:
		f.drift.add(f.plan.market.pointer, lake.DriftMisfit, raw)
	case string(text) != string(f.plan.feed.Market):
		f.drift.add(f.plan.market.pointer, lake.DriftUnlisted, raw)
	}
}

// convert reads a value as a column's type; what does not fit is an empty cell and drift.
func (f *Flattener) convert(n *node, typ lake.Type, raw jsontext.Value) cell {
	c, ok := f.parse(n, typ, raw)
	if !ok {
		f.drift.add(n.pointer, lake.DriftMisfit, raw)
		return cell{}
	}
	c.set = true
	return c
}

// parse reads a value that is not null.
func (f *Flattener) parse(n *node, typ lake.Type, raw jsontext.Value) (c cell, ok bool) {
	kind := raw.Kind()
	if precision, scale, isDecimal := typ.Decimal(); isDecimal {
		if kind != '0' {
			return c, false
		}
		c.num, ok = decimal(raw, precision, scale)
		return c, ok
	}
	switch typ {
	case lake.Bool:
		if kind == 't' {
			c.n = 1
		}
		return c, kind == 't' || kind == 'f'
	case lake.Int32, lake.Int64:
		if kind != '0' {
			return c, false
		}
		c.n, ok = integer(raw)
		return c, ok && (typ == lake.Int64 || c.n == int64(int32(c.n)))
	}
	text, ok := f.text(raw)
	if !ok {
		return c, false
	}
	switch typ {
	case lake.Date:
		day, ok := date(text)
		c.n = int64(day)
		return c, ok
	case lake.Timestamp:
		c.n, ok = timestamp(text)
		return c, ok
	}
	if f.hasLoneSurrogate(raw) {
		f.drift.add(n.pointer, lake.DriftMisfit, raw)
	}
	if n.allowed != nil && !contains(n.allowed, text) {
		f.drift.add(n.pointer, lake.DriftUnlisted, raw)
	}
	c.text = text
	return c, true
}

// text gives a JSON string's text; ok is false for any other value.
func (f *Flattener) text(raw jsontext.Value) (text []byte, ok bool) {
	if raw.Kind() != '"' {
		return nil, false
	}
	return f.unquote(raw), true
}

// unquote gives the text of a valid JSON string: a part of the payload where nothing is escaped,
// else a part of the arena. Lone surrogates become U+FFFD.
func (f *Flattener) unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	start := len(f.arena)
	// The error tells of lone surrogates only: the decoder has judged the rest.
	f.arena, _ = jsontext.AppendUnquote(f.arena, raw)
	return f.arena[start:len(f.arena):len(f.arena)]
}

// hasLoneSurrogate says whether a valid JSON string escapes half a character.
func (f *Flattener) hasLoneSurrogate(raw []byte) bool {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return false
	}
	_, err := jsontext.AppendUnquote(f.arena[len(f.arena):], raw)
	return err != nil
}

// numberAtEnd reads the number that ends the path of a link; an empty cell where there is none.
func numberAtEnd(href []byte) cell {
	if i := bytes.IndexAny(href, "?#"); i >= 0 {
		href = href[:i]
	}
	if i := bytes.Index(href, []byte("://")); i >= 0 {
		href = href[i+3:]
	}
	slash := bytes.LastIndexByte(href, '/')
	last := href[slash+1:]
	if slash < 0 || len(last) == 0 || len(last) > 19 {
		return cell{}
	}
	for _, c := range last {
		if c < '0' || c > '9' {
			return cell{}
		}
	}
	n, ok := integer(last)
	return cell{set: ok, n: n}
}

func contains(values []string, text []byte) bool {
	return slices.ContainsFunc(values, func(v string) bool { return v == string(text) })
}
