package transform

import (
	"bytes"
	"slices"

	"dealflow/schemas/lake"
	"dealflow/transform/jsonread"
)

// cursor is the position of the reader in a documented object.
type cursor struct {
	node     *node
	position ordinals         // ordinals of the list entry around the object
	object   uint64           // the object's number, from Flattener.objects
	unknown  jsonread.Members // undocumented names of the object
	next     int              // index of the member that is expected next
	found    int              // number of required members, null or not
}

// readObject reads the next value, which is an object. position has the ordinals of the list entry around it.
func (f *Flattener) readObject(n *node, position ordinals) {
	f.objects++
	start, nulls := f.in.Offset(), f.nulls
	p := cursor{node: n, position: position, object: f.objects, unknown: f.in.EnterObject()}
	for more := f.in.Open(jsonread.Object); more; more = f.in.More(jsonread.Object) {
		f.readMember(&p)
	}
	f.in.LeaveObject(p.unknown)
	if p.found < n.requires || f.nulls > nulls {
		f.addMissing(&p, start)
	}
}

// addMissing adds drift for the required members that are absent or null in the object that begins at start.
func (f *Flattener) addMissing(p *cursor, start int) {
	for _, m := range p.node.members {
		if m.required > 0 && (f.seen[m.number] != p.object || f.null[m.number] == p.object) {
			f.addDrift(m.pointer, lake.DriftMissing, f.in.Since(start))
		}
	}
}

// readMember reads a member: its name and its value.
func (f *Flattener) readMember(p *cursor) {
	name := f.in.Name()
	m := p.find(name)
	if m == nil {
		f.readOther(p, name)
		return
	}
	f.readKnown(p, m)
}

// readKnown reads the rest of a documented member after its name.
func (f *Flattener) readKnown(p *cursor, m *node) {
	// Objects of one node do not nest. So if the latest object that had this name is not this one, it is closed.
	if f.seen[m.number] == p.object {
		f.in.FailDuplicate()
		return
	}
	f.seen[m.number] = p.object
	p.found += m.required
	f.in.Colon()
	f.readValue(m, p.position)
}

// skipNull skips a null.
func (f *Flattener) skipNull(n *node) {
	f.in.Value()
	f.markNull(n)
}

// markNull records that a required member is null in the object that is being read.
func (f *Flattener) markNull(n *node) {
	if n.required > 0 {
		f.nulls++
		f.null[n.number] = f.seen[n.number]
	}
}

// find returns the member with a quoted name, or nil. Members usually come in the order of the columns, so the search
// starts with the expected one.
func (p *cursor) find(quoted []byte) *node {
	names := p.node.names
	for i := p.next; i < len(names); i++ {
		if names[i] == string(quoted) {
			p.next = i + 1
			return p.node.members[i]
		}
	}
	for i, name := range names[:p.next] {
		if name == string(quoted) {
			p.next = i + 1
			return p.node.members[i]
		}
	}
	return nil
}

// readOther reads a member whose quoted name is not in the plan: the name has escape sequences, or is not documented.
func (f *Flattener) readOther(p *cursor, quoted []byte) {
	if quoted == nil {
		return
	}
	name, _ := f.text()
	for _, m := range p.node.members {
		if m.name == string(name) {
			f.readKnown(p, m)
			return
		}
	}
	f.in.Distinct(p.unknown)
	f.in.Colon()
	if value := f.in.Value(); value != nil {
		f.addDrift(p.node.pointer+"/"+escapePointer(string(name)), lake.DriftUnknown, value)
	}
}

// readValue reads the value of a node.
func (f *Flattener) readValue(n *node, position ordinals) {
	if !n.foreign {
		f.readDocumented(n, position)
		return
	}
	isNull := f.in.Peek() == 'n'
	start := f.in.Offset()
	f.readDocumented(n, position)
	if !isNull {
		f.addDrift(n.pointer, lake.DriftUnknown, f.in.Since(start))
	}
}

// readDocumented reads the value of a node, for any market.
func (f *Flattener) readDocumented(n *node, position ordinals) {
	switch n.shape {
	case shapeScalar:
		f.readScalar(n)
		return
	case shapeAny:
		f.in.Value()
		return
	}
	switch next := f.in.Peek(); {
	case n.shape == shapeObject && next == '{':
		f.readObject(n, position)
	case n.shape == shapeList && next == '[':
		f.readList(n, position)
	case n.shape == shapeMap && next == '{':
		f.readMap(n, position)
	case next == 'n':
		f.skipNull(n)
	default:
		f.skipMismatch(n)
	}
}

// skipMismatch skips a value whose JSON type does not fit, and records drift.
func (f *Flattener) skipMismatch(n *node) {
	f.addDrift(n.pointer, lake.DriftMismatch, f.in.Value())
}

// readList reads an array. Every entry is a row, also an entry that is null or not an object.
func (f *Flattener) readList(n *node, position ordinals) {
	entry := n.entry
	here := ordinals{outer: position.inner}
	for more := f.in.Open(jsonread.List); more; more = f.in.More(jsonread.List) {
		here.inner++
		f.addRow(n.rows, here)
		switch next := f.in.Peek(); {
		case entry.shape == shapeObject && next == '{':
			f.readObject(entry, here)
		case entry.shape == shapeScalar && next != 'n':
			f.readScalar(entry)
		default:
			f.skipMismatch(entry)
		}
	}
}

// readMap reads an object whose members are rows, sorted by name as UTF-8 bytes. They are sorted by the source's names:
// what a column cannot contain does not move an entry.
func (f *Flattener) readMap(n *node, position ordinals) {
	key, value := n.entry.keyAndValue()
	f.entries = f.entries[:0]
	names := f.in.EnterObject()
	for more := f.in.Open(jsonread.Object); more; more = f.in.More(jsonread.Object) {
		if name := f.in.Name(); name != nil {
			f.in.Distinct(names)
			f.readMapEntry(n.entry, value, name)
		}
	}
	f.in.LeaveObject(names)
	slices.SortFunc(f.entries, func(a, b mapEntry) int { return bytes.Compare(a.source, b.source) })
	for i, entry := range f.entries {
		f.addRow(n.rows, ordinals{outer: position.inner, inner: int32(i + 1)})
		*f.cell(key) = cell{Set: true, Text: entry.key}
		*f.cell(value) = entry.value
		f.tables[n.rows].textSize += len(entry.key)
	}
}

// keyAndValue returns the columns that a map's entry fills.
func (n *node) keyAndValue() (key, value *target) {
	for i := range n.targets {
		if n.targets[i].part == lake.Key {
			key = &n.targets[i]
		} else {
			value = &n.targets[i]
		}
	}
	return key, value
}

// readMapEntry reads the rest of a map's entry after its name.
func (f *Flattener) readMapEntry(n *node, value *target, name []byte) {
	var entry mapEntry
	var valid bool
	entry.source, valid = f.sourceText()
	if entry.key = f.withoutNUL(entry.source); !valid || len(entry.key) != len(entry.source) {
		f.addDrift(n.pointer, lake.DriftMismatch, name)
	}
	f.in.Colon()
	if raw := f.in.Value(); raw != nil && raw[0] != 'n' {
		f.fill(&entry.value, n, value, raw)
	}
	f.entries = append(f.entries, entry)
}

// readScalar reads a value into its columns.
func (f *Flattener) readScalar(n *node) {
	raw := f.in.Value()
	switch {
	case raw == nil:
	case raw[0] == 'n':
		f.markNull(n)
	case n == f.plan.id:
		if jsonread.IsNumber(raw) {
			f.id.N, f.id.Set = integer(raw)
		}
		if f.plan.feed.HasID32() && f.id.N != int64(int32(f.id.N)) {
			f.addDrift(n.pointer, lake.DriftMismatch, raw)
		}
	case n == f.plan.market:
		f.checkMarket(raw)
	default:
		for i := range n.targets {
			to := &n.targets[i]
			c := f.cell(to)
			f.fill(c, n, to, raw)
			f.tables[to.table].textSize += len(c.Text)
		}
	}
}

// checkMarket compares the record's own market with the feed's and records drift if they differ.
func (f *Flattener) checkMarket(raw []byte) {
	if raw[0] != '"' {
		f.addDrift(f.plan.market.pointer, lake.DriftMismatch, raw)
		return
	}
	if text, _ := f.text(); string(text) != string(f.plan.feed.Market) {
		f.addDrift(f.plan.market.pointer, lake.DriftUnlisted, raw)
	}
}
