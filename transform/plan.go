package transform

import (
	"slices"
	"strings"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// shape is the kind of JSON value that a node of the plan expects.
type shape uint8

const (
	shapeScalar shape = iota
	shapeObject
	shapeList
	shapeMap
	shapeAny // documented, but without a column: any value is skipped
)

// node is one position in a feed's records. The nodes of a feed form a trie over the JSON pointers of its tables'
// columns.
type node struct {
	number int // index of this member among all of the plan, from 0
	// required is 1 if the API documents the member as required of its object, otherwise 0.
	required int
	name     string
	pointer  string
	shape    shape
	members  []*node  // members of an object, in the order of the columns
	names    []string // quoted names of members, in one slice, so that a lookup does not read each node
	entry    *node    // node of the entries of a list or map
	rows     int      // index of the table that has a row for each entry of this list or map
	targets  []target
	foreign  bool     // documented for other markets only: fills its columns, and is drift
	allowed  []string // values that schemas/lake allows; nil: any
	requires int      // number of required members of an object
}

// target is one column that a node's value fills.
type target struct {
	table, column int
	typ           lake.Type
	part          lake.Part

	precision, scale int32 // digits of a decimal; a precision of 0 means any other type
}

// plan contains a feed's tables, compiled for reading payloads. It is immutable and may be shared.
type plan struct {
	feed   api.Feed
	tables []*lake.Table
	root   *node
	nodes  int   // number of nodes that are members of objects
	id     *node // node of the deal's id
	market *node

	helpers []helperPlan // per table
}

// linkFields are the documented members of a link object that have no column, which is all except href.
var linkFields = []string{"hreflang", "title", "type", "deprecation", "profile", "name", "templated"}

// compile builds the plan of a feed from the columns of its tables.
func compile(feed api.Feed) *plan {
	p := &plan{feed: feed, tables: lake.FeedTables(feed), root: &node{shape: shapeObject}}
	p.id = p.addNode("/" + feed.IDKey())
	p.market = p.addNode("/market")
	for t, table := range p.tables {
		if table.Rows != "" {
			p.addRows(t, table)
		}
		for c := range table.Columns {
			p.addColumn(t, c, &table.Columns[c])
		}
		p.addHelpers(table)
	}
	for _, pointer := range api.Required(feed) {
		p.addNode(pointer).required = 1
	}
	p.documentLinks(p.root)
	p.root.countRequired()
	for _, m := range p.root.members {
		m.markForeign()
	}
	return p
}

// countRequired counts the required members of an object, and of the objects in it.
func (n *node) countRequired() {
	for _, m := range n.members {
		n.requires += m.required
		m.countRequired()
	}
	if n.entry != nil {
		n.entry.countRequired()
	}
}

// markForeign moves the mark foreign from the fields to the topmost object that contains only foreign fields. So a
// record is reported once, and not once per field.
func (n *node) markForeign() {
	if n.shape == shapeList || n.shape == shapeMap {
		n.entry.markForeign()
		return
	}
	if n.shape != shapeObject {
		return
	}
	all := len(n.members) > 0
	for _, m := range n.members {
		m.markForeign()
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
	list := p.addNode(strings.TrimSuffix(table.Rows, "/*"))
	list.rows = t
	if table.Map {
		list.shape = shapeMap
	}
}

// addHelpers adds the parsers of a table's helper columns.
func (p *plan) addHelpers(table *lake.Table) {
	p.helpers = append(p.helpers, compileHelpers(table))
}

func (p *plan) addColumn(t, c int, column *lake.Column) {
	n := p.addNode(column.Pointer)
	to := target{table: t, column: c, typ: column.Type, part: column.Part}
	to.precision, to.scale, _ = column.Type.Decimal()
	n.targets = append(n.targets, to)
	n.foreign = !column.In(p.feed.Market)
	if allowed := column.AllowedIn(p.feed.Market); allowed != nil {
		n.allowed = allowed
	}
}

// addNode returns the node of a pointer. It creates the node, and the objects and lists above it, if they do not exist.
func (p *plan) addNode(pointer string) *node {
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
		n = p.addMember(n, part)
	}
	return n
}

// addMember returns a member of an object's node. It creates the member if it does not exist.
func (p *plan) addMember(n *node, name string) *node {
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

// documentLinks adds the documented parts of links that have no column: the other fields of a link object, and the link
// updatedSince.
func (p *plan) documentLinks(n *node) {
	for _, m := range n.members {
		if m.name != "_links" {
			p.documentLinks(m)
			continue
		}
		for _, link := range m.members {
			for _, field := range linkFields {
				p.addMember(link, field).shape = shapeAny
			}
		}
	}
	if n.entry != nil {
		p.documentLinks(n.entry)
	}
	if n == p.root && p.feed.HasUpdatedSince() {
		p.addMember(p.addMember(n, "_links"), api.LinkUpdatedSince).shape = shapeAny
	}
}

// escapePointer writes a member's name as a reference token of a JSON pointer (RFC 6901).
func escapePointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
