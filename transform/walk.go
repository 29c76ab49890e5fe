package transform

import (
	"bytes"
	"slices"

	"dealflow/schemas/lake"
	"dealflow/transform/jsonread"
)

// place is where the walk stands in an object of the document.
type place struct {
	node      *node
	at        ordinals         // of the list entry around it
	object    uint64           // the object's number, as counted in Flattener.objects
	strangers jsonread.Members // its names that are not documented
	next      int              // the member that comes next in the document's order
}

// object reads an object, which is next. at is the place of the list entry around it.
func (f *Flattener) object(n *node, at ordinals) {
	f.objects++
	p := place{node: n, at: at, object: f.objects, strangers: f.in.EnterObject()}
	for more := f.in.Open(jsonread.Object); more; more = f.in.More(jsonread.Object) {
		f.member(&p)
	}
	f.in.LeaveObject(p.strangers)
}

// member reads a member: its name and its value.
func (f *Flattener) member(p *place) {
	name := f.in.Name()
	m := p.find(name)
	if m == nil {
		f.strange(p, name)
		return
	}
	f.known(p, m)
}

// known reads a documented member behind its name.
func (f *Flattener) known(p *place, m *node) {
	// A node's objects do not nest. So the object that met the name last is either this one or closed.
	if f.seen[m.number] == p.object {
		f.in.FailDuplicate()
		return
	}
	f.seen[m.number] = p.object
	f.in.Colon()
	f.value(m, p.at)
}

// find looks a member up by its name in quotes. Members usually come in the document's order: it looks
// there first.
func (p *place) find(quoted []byte) *node {
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

// strange reads a member whose name is not written as the document writes it: with escapes, or unknown.
func (f *Flattener) strange(p *place, quoted []byte) {
	if quoted == nil {
		return
	}
	name, _ := f.text()
	for _, m := range p.node.members {
		if m.name == string(name) {
			f.known(p, m)
			return
		}
	}
	f.in.Distinct(p.strangers)
	f.in.Colon()
	if value := f.in.Value(); value != nil {
		f.note(p.node.pointer+"/"+escapePointer(string(name)), lake.DriftUnknown, value)
	}
}

// value reads the value that stands at a node.
func (f *Flattener) value(n *node, at ordinals) {
	if !n.foreign {
		f.documented(n, at)
		return
	}
	isNull := f.in.Peek() == 'n'
	start := f.in.Offset()
	f.documented(n, at)
	if !isNull {
		f.note(n.pointer, lake.DriftUnknown, f.in.Since(start))
	}
}

// documented reads the value of a node, whichever market documents it.
func (f *Flattener) documented(n *node, at ordinals) {
	switch n.shape {
	case shapeScalar:
		f.scalar(n)
		return
	case shapeAny:
		f.in.Value()
		return
	}
	switch next := f.in.Peek(); {
	case n.shape == shapeObject && next == '{':
		f.object(n, at)
	case n.shape == shapeList && next == '[':
		f.list(n, at)
	case n.shape == shapeMap && next == '{':
		f.mapEntries(n, at)
	case next == 'n':
		f.in.Value()
	default:
		f.misfit(n)
	}
}

// misfit passes over a value that does not fit its place.
func (f *Flattener) misfit(n *node) {
	f.note(n.pointer, lake.DriftMisfit, f.in.Value())
}

// list reads an array: every entry is a row, also one that is null or no object.
func (f *Flattener) list(n *node, at ordinals) {
	entry := n.entry
	here := ordinals{outer: at.inner}
	for more := f.in.Open(jsonread.List); more; more = f.in.More(jsonread.List) {
		here.inner++
		f.addRow(n.rows, here)
		switch next := f.in.Peek(); {
		case entry.shape == shapeObject && next == '{':
			f.object(entry, here)
		case entry.shape == shapeScalar && next != 'n':
			f.scalar(entry)
		default:
			f.misfit(entry)
		}
	}
}

// mapEntries reads an object whose members are rows, sorted by their names as UTF-8 bytes.
func (f *Flattener) mapEntries(n *node, at ordinals) {
	key, value := n.entry.keyAndValue()
	f.entries = f.entries[:0]
	names := f.in.EnterObject()
	for more := f.in.Open(jsonread.Object); more; more = f.in.More(jsonread.Object) {
		if name := f.in.Name(); name != nil {
			f.in.Distinct(names)
			f.mapEntry(n.entry, value, name)
		}
	}
	f.in.LeaveObject(names)
	slices.SortFunc(f.entries, func(a, b mapEntry) int { return bytes.Compare(a.key, b.key) })
	for i, entry := range f.entries {
		f.addRow(n.rows, ordinals{outer: at.inner, inner: int32(i + 1)})
		*f.cell(key) = cell{Set: true, Text: entry.key}
		*f.cell(value) = entry.value
		f.tables[n.rows].textSize += len(entry.key)
	}
}

// keyAndValue are the columns that a map's entry fills.
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

// mapEntry reads one entry of a map behind its name.
func (f *Flattener) mapEntry(n *node, value *target, name []byte) {
	var entry mapEntry
	var whole bool
	if entry.key, whole = f.text(); !whole {
		f.note(n.pointer, lake.DriftMisfit, name)
	}
	f.in.Colon()
	if raw := f.in.Value(); raw != nil && raw[0] != 'n' {
		f.fill(&entry.value, n, value, raw)
	}
	f.entries = append(f.entries, entry)
}

// scalar reads a value into its columns.
func (f *Flattener) scalar(n *node) {
	raw := f.in.Value()
	switch {
	case raw == nil:
	case n == f.plan.id:
		if jsonread.IsNumber(raw) {
			f.id.N, f.id.Set = integer(raw)
		}
	case raw[0] == 'n':
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

// checkMarket compares the record's own market with the feed's.
func (f *Flattener) checkMarket(raw []byte) {
	if raw[0] != '"' {
		f.note(f.plan.market.pointer, lake.DriftMisfit, raw)
		return
	}
	if text, _ := f.text(); string(text) != string(f.plan.feed.Market) {
		f.note(f.plan.market.pointer, lake.DriftUnlisted, raw)
	}
}
