package transform

import (
	"slices"
	"strings"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// shape is the JSON a node of the plan expects.
type shape uint8

const (
	shapeScalar shape = iota
	shapeObject
	shapeList
	shapeMap
	shapeAny // documented, and without a column: passed over whatever it is
)

// node is one place in a feed's records. The nodes of a feed form a trie over the JSON pointers of
// its tables' columns.
type node struct {
	number  int // among the plan's members of objects, from 0
	name    string
	pointer string
	shape   shape
	members []*node  // of an object, in the order of the API document
	names   []string // theirs, quoted as in JSON: side by side, to look one up without a step to each node
	entry   *node    // of a list or map
	rows    int      // index of the table whose rows the entries of this list or map are
	targets []target
	foreign bool     // documented for other markets only: fills its columns and is drift
	allowed []string // values that the document allows; nil: any
}

// target is one column filled from a node's value.
type target struct {
	table, column int
	typ           lake.Type
	part          lake.Part

	precision, scale int32 // of a decimal; a precision of 0 means any other type
}

// plan is a feed's tables compiled for the walk. It is immutable and may be shared.
type plan struct {
	feed   api.Feed
	tables []*lake.Table
	root   *node
	nodes  int   // members of objects, all in all
	id     *node // where the deal's id stands
	market *node

	derivations    [][]derivation // of each table
	parserVersions []int          // of each table the column of the parsers' version; -1 for none
}

// linkFields are the documented members of a link object besides href: they have no column.
var linkFields = []string{"hreflang", "title", "type", "deprecation", "profile", "name", "templated"}

// compile builds the plan of a feed from the columns of its tables.
func compile(feed api.Feed) *plan {
	p := &plan{feed: feed, tables: lake.FeedTables(feed), root: &node{shape: shapeObject}}
	p.id = p.at("/" + feed.IDKey())
	p.market = p.at("/market")
	for t, table := range p.tables {
		if table.Rows != "" {
			p.addRows(t, table)
		}
		for c := range table.Columns {
			p.addColumn(t, c, &table.Columns[c])
		}
		derivations, version := derive(table)
		p.derivations = append(p.derivations, derivations)
		p.parserVersions = append(p.parserVersions, version)
	}
	p.documentLinks(p.root)
	for _, m := range p.root.members {
		m.settleForeign()
	}
	return p
}

// settleForeign raises the mark of fields that belong to other markets to the topmost object that
// holds nothing else, so that a record is told once.
func (n *node) settleForeign() {
	if n.shape == shapeList || n.shape == shapeMap {
		n.entry.settleForeign()
		return
	}
	if n.shape != shapeObject {
		return
	}
	all := len(n.members) > 0
	for _, m := range n.members {
		m.settleForeign()
		all = all && m.foreign
	}
	if all {
		n.foreign = true
		for _, m := range n.members {
			m.foreign = false
		}
	}
}

// addRows marks the list or map whose entries are the table's rows.
func (p *plan) addRows(t int, table *lake.Table) {
	list := p.at(strings.TrimSuffix(table.Rows, "/*"))
	list.rows = t
	if table.Map {
		list.shape = shapeMap
	}
}

func (p *plan) addColumn(t, c int, column *lake.Column) {
	n := p.at(column.Pointer)
	to := target{table: t, column: c, typ: column.Type, part: column.Part}
	to.precision, to.scale, _ = column.Type.Decimal()
	n.targets = append(n.targets, to)
	n.foreign = !column.In(p.feed.Market)
	if allowed := column.AllowedIn(p.feed.Market); allowed != nil {
		n.allowed = allowed
	}
}

// at finds or makes the node of a pointer, and the objects and lists on its way.
func (p *plan) at(pointer string) *node {
	n := p.root
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if part == "*" {
			if n.entry == nil {
				n.entry = &node{pointer: n.pointer + "/*"}
				if n.shape != shapeMap {
					n.shape = shapeList
				}
			}
			n = n.entry
			continue
		}
		n.shape = shapeObject
		n = p.member(n, part)
	}
	return n
}

// member finds or makes a member of an object's node.
func (p *plan) member(n *node, name string) *node {
	i := slices.IndexFunc(n.members, func(m *node) bool { return m.name == name })
	if i >= 0 {
		return n.members[i]
	}
	m := &node{number: p.nodes, name: name, pointer: n.pointer + "/" + escapePointer(name)}
	p.nodes++
	n.members = append(n.members, m)
	n.names = append(n.names, `"`+name+`"`)
	return m
}

// documentLinks adds what the document names of links and what has no column: the other fields of a
// link object, and the updatedSince link.
func (p *plan) documentLinks(n *node) {
	for _, m := range n.members {
		if m.name != "_links" {
			p.documentLinks(m)
			continue
		}
		for _, link := range m.members {
			for _, field := range linkFields {
				p.member(link, field).shape = shapeAny
			}
		}
	}
	if n.entry != nil {
		p.documentLinks(n.entry)
	}
	if n == p.root && p.feed.HasUpdatedSince() {
		p.member(p.member(n, "_links"), api.LinkUpdatedSince).shape = shapeAny
	}
}

// escapePointer writes a member's name as a reference token of a JSON pointer (RFC 6901).
func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
