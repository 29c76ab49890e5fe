package transform

import (
	"slices"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform/drift"
	"dealflow/transform/internal/columnar"
	"dealflow/transform/jsonread"
	"dealflow/transform/text"
)

// Flattener reads deals of one feed, one at a time, into rows of the feed's tables. It is reused from deal to deal and
// is not safe for concurrent use. Several Flatteners may read one feed concurrently.
type Flattener struct {
	plan  *plan
	base  api.Base
	drift drift.Log

	in      jsonread.Reader // reads the current deal; cells point into its payload
	arena   []byte          // unescaped or normalised texts of the current deal
	objects uint64          // number of documented objects read so far, over all deals
	seen    []uint64        // per node: the number of the object that last had its name
	null    []uint64        // per node of a required member: the number of the object in which it was last null
	nulls   uint64          // number of required members that were null so far, over all deals
	id      cell
	tables  []rows
	entries []mapEntry     // entries of the map being read
	pending []pendingDrift // drift of the current deal
	reading text.Reading
}

// rows are the staged rows of one table for one deal.
type rows struct {
	width    int
	cells    []cell // width cells a row
	ordinals []ordinals
	textSize int // bytes of text in cells
}

// ordinals is the child part of a row's key. For a list inside a list, outer is the outer list's ordinal. Ordinals
// count from 1.
type ordinals struct{ outer, inner int32 }

// cell is one value of a staged row.
type cell = columnar.Cell

type mapEntry struct {
	source []byte // the member's name
	key    []byte // the name as the column contains it
	value  cell
}

// pendingDrift is drift of the current deal. It counts only if the deal is read to the end.
type pendingDrift struct {
	pointer string
	kind    lake.DriftKind
	example []byte // a part of the payload
}

// NewFlattener returns a Flattener for deals of a feed whose links are relative to base.
func NewFlattener(feed api.Feed, base api.Base) *Flattener {
	f := &Flattener{plan: compile(feed), base: base}
	f.seen, f.null = make([]uint64, f.plan.nodes), make([]uint64, f.plan.nodes)
	f.tables = make([]rows, len(f.plan.tables))
	for i, table := range f.plan.tables {
		f.tables[i].width = len(table.Columns) + len(table.Helpers)
	}
	return f
}

// SetBase changes the base of links from the next Read on.
func (f *Flattener) SetBase(base api.Base) { f.base = base }

// HasPricedDeal reports whether the deal read last, or one of its tranches, has a link to a priced deal.
func (f *Flattener) HasPricedDeal() bool {
	for i, table := range f.plan.tables {
		c := slices.IndexFunc(table.Columns, func(c lake.Column) bool { return c.Name == "priced_deal_href" })
		staged := &f.tables[i]
		for ; c >= 0 && c < len(staged.cells); c += staged.width {
			if staged.cells[c].Set {
				return true
			}
		}
	}
	return false
}

// TakeDrift returns the drift of all deals read since its last call, sorted by pointer and kind. Rejected records do not count.
func (f *Flattener) TakeDrift() []lake.Drift { return f.drift.Take() }

// Read stages the rows of one deal and returns its id. The rows are valid until the next Read, and payload must not
// change until then; Batches.Append copies the rows. The error is an *api.Reject: the record goes to quarantine and has
// no rows.
func (f *Flattener) Read(payload []byte) (dealID int64, err error) {
	f.reset()
	if err := f.readRecord(payload); err != nil {
		f.reset()
		return 0, err
	}
	f.deriveAll(f.tables[0].cells)
	for _, d := range f.pending {
		f.drift.Add(d.pointer, d.kind, d.example)
	}
	return f.id.N, nil
}

// readRecord reads the complete payload.
func (f *Flattener) readRecord(payload []byte) error {
	if err := beginObject(&f.in, payload); err != nil {
		return err
	}
	f.addRow(0, ordinals{})
	f.readObject(f.plan.root, ordinals{})
	f.in.End()
	if err := f.in.Err(); err != nil {
		return rejection(err)
	}
	if !f.id.Set {
		return &api.Reject{Reason: api.RejectNoID, Detail: f.plan.id.pointer}
	}
	return nil
}

// reset drops all staged rows.
func (f *Flattener) reset() {
	f.arena, f.pending = f.arena[:0], f.pending[:0]
	f.id = cell{}
	for i := range f.tables {
		t := &f.tables[i]
		t.cells, t.ordinals, t.textSize = t.cells[:0], t.ordinals[:0], 0
	}
}

// addRow stages a row of NULLs.
func (f *Flattener) addRow(table int, position ordinals) {
	t := &f.tables[table]
	t.ordinals = append(t.ordinals, position)
	t.cells = slices.Grow(t.cells, t.width)
	t.cells = t.cells[:len(t.cells)+t.width]
	clear(t.cells[len(t.cells)-t.width:])
}

// cell returns a column's cell in the newest row of its table.
func (f *Flattener) cell(to *target) *cell {
	t := &f.tables[to.table]
	return &t.cells[len(t.cells)-t.width+to.column]
}

// addDrift adds drift of the current deal.
func (f *Flattener) addDrift(pointer string, kind lake.DriftKind, example []byte) {
	f.pending = append(f.pending, pendingDrift{pointer, kind, example})
}
