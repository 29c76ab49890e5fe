package transform

import (
	"slices"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform/internal/columnar"
	"dealflow/transform/jsonread"
	"dealflow/transform/text"
)

// Flattener reads deals of one feed, one at a time, into rows of the feed's tables. It is reused from
// deal to deal and is not safe for concurrent use; several may work on one feed side by side.
type Flattener struct {
	plan  *plan
	base  api.Base
	drift driftLog

	in      jsonread.Reader // over the deal being read; cells point into its payload
	arena   []byte          // texts that had to be unescaped or normalised
	objects uint64          // documented objects begun in all deals
	seen    []uint64        // by node: the object in which its name was met last, as counted in objects
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

// cell is one value of a staged row.
type cell = columnar.Cell

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
	f := &Flattener{plan: compile(feed), base: base}
	f.seen = make([]uint64, f.plan.nodes)
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
			if staged.cells[at].Set {
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
	f.reset()
	if err := f.record(payload); err != nil {
		f.reset()
		return 0, err
	}
	f.deriveAll()
	for _, d := range f.found {
		f.drift.add(d.pointer, d.kind, d.example)
	}
	return f.id.N, nil
}

// record reads the whole payload.
func (f *Flattener) record(payload []byte) error {
	if err := begin(&f.in, payload); err != nil {
		return err
	}
	f.addRow(0, ordinals{})
	f.object(f.plan.root, ordinals{})
	f.in.End()
	if err := f.in.Err(); err != nil {
		return rejection(err)
	}
	if !f.id.Set {
		return &api.Reject{Reason: api.RejectNoID, Detail: f.plan.id.pointer}
	}
	return nil
}

// reset drops what was staged.
func (f *Flattener) reset() {
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
