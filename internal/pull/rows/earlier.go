package rows

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load/mirror"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// ErrEarlier means that the last snapshot cannot be read, or is not what was committed.
var ErrEarlier = errors.New("the rows of the last snapshot cannot be taken over")

// dealsTable is the index of the table that has one row for each deal.
const dealsTable = 0

// Earlier is the last snapshot of a feed. Its row groups are taken over if they have the same versions of the same deals.
// A nil Earlier has none. It is not safe for concurrent use; the caller closes it.
type Earlier struct {
	local  *mirror.Mirror
	tables []earlierTable
	deals  [][]version   // of each row group of dealsTable
	starts map[int64]int // the row group of dealsTable that begins with a deal
	noted  parquet.StretchNotes
}

type earlierTable struct {
	file  *parquet.File // nil: the table has no rows
	deals []parquet.GroupDeals
}

type version struct {
	deal   int64
	number int32
}

// Lake is where the files of a snapshot are.
type Lake struct {
	Store   store.Store
	Cache   *mirror.Cache // as in mirror.Open
	WorkDir string        // as in mirror.Open
}

// OpenEarlier opens the files of a snapshot, at most one for each table of the feed, if they can be read without a request to a
// store. They have the bytes that were committed: damage must not get into a file that looks sound. The rows in them must be
// those that this program would write for the same versions of deals. It returns nil for a snapshot from which nothing can be
// taken over. An error wraps ErrEarlier, or is that of the context.
func OpenEarlier(ctx context.Context, from Lake, mem memory.Allocator, feed api.Feed, files []lake.File) (*Earlier, error) {
	e := &Earlier{starts: map[int64]int{}}
	found, err := e.open(ctx, from, mem, feed, files)
	if err == nil && found {
		return e, nil
	}
	return nil, cannotTakeOver(ctx, errors.Join(err, e.Close()))
}

// open is OpenEarlier. The caller closes e, also after an error.
func (e *Earlier) open(ctx context.Context, from Lake, mem memory.Allocator, feed api.Feed, files []lake.File) (found bool, err error) {
	if e.local, err = mirror.Open(from.Store, from.Cache, from.WorkDir); err != nil {
		return false, err
	}
	local, err := e.local.AtHand(ctx, files)
	if err != nil || local == nil {
		return false, err
	}
	e.tables = make([]earlierTable, len(lake.FeedTables(feed)))
	for i, table := range lake.FeedTables(feed) {
		for _, f := range files {
			if f.Table != lake.SnapshotTable(table.Name) {
				continue
			}
			if err := e.tables[i].open(ctx, local, f.Path); err != nil {
				return false, err
			}
		}
	}
	deals := e.tables[dealsTable].file
	if deals == nil {
		return false, nil
	}
	if e.noted, err = deals.Stretches(); err != nil || e.noted == nil { // a program that did not note them has none
		return false, err
	}
	return true, e.readDeals(ctx, mem)
}

// open opens the table's only file.
func (t *earlierTable) open(ctx context.Context, s store.Store, path string) (err error) {
	if t.file != nil {
		return fmt.Errorf("%s: the table has two files", path)
	}
	if t.file, err = parquet.Open(ctx, s, path); err != nil {
		return err
	}
	t.deals, err = t.file.GroupDeals()
	return err
}

// cannotTakeOver returns an error that wraps ErrEarlier and err; nil for nil. If the context has ended it returns err.
func cannotTakeOver(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %w", ErrEarlier, err)
}

// readDeals reads which versions the snapshot has.
func (e *Earlier) readDeals(ctx context.Context, mem memory.Allocator) error {
	group := 0
	e.deals = make([][]version, len(e.tables[dealsTable].deals))
	err := e.tables[dealsTable].file.Scan(ctx, mem, []string{"deal_id", "version"}, parquet.AllGroups(&group), func(record arrow.Record) error {
		ids, numbers := record.Column(0).(*array.Int64), record.Column(1).(*array.Int32)
		for row := range ids.Len() {
			e.deals[group] = append(e.deals[group], version{ids.Value(row), numbers.Value(row)})
		}
		return nil
	})
	for g, deals := range e.deals {
		if len(deals) > 0 {
			e.starts[deals[0].deal] = g
		}
	}
	return err
}

// Close closes the files. It may be called on nil.
func (e *Earlier) Close() error {
	if e == nil {
		return nil
	}
	for i := range e.tables {
		if e.tables[i].file != nil {
			e.tables[i].file.Close()
		}
	}
	return e.local.Close()
}

// found is the rows of a stretch in the last snapshot.
type found struct {
	groups [][]int      // row groups, by table
	drift  []lake.Drift // that is noted
}

// find returns the rows of a stretch of deals. It returns nil if the snapshot does not have the same stretch: just these
// versions, in row groups of their own, and of the same ones the payload was another one.
func (e *Earlier) find(stretch []Deal) *found {
	if e == nil || len(stretch) == 0 {
		return nil
	}
	first, last := stretch[0].ID, stretch[len(stretch)-1].ID
	note, begins := e.noted[first]
	group, known := e.starts[first]
	if !begins || !known || note.Drift == nil || note.Others != others(stretch) {
		return nil
	}
	for rest := stretch; len(rest) > 0; group++ {
		if group == len(e.deals) || len(rest) < len(stretch) && e.beginsStretch(group) || !begin(rest, e.deals[group]) {
			return nil
		}
		rest = rest[len(e.deals[group]):]
	}
	if group < len(e.deals) && !e.beginsStretch(group) {
		return nil
	}
	same := &found{groups: make([][]int, len(e.tables)), drift: note.Drift}
	for i := range e.tables {
		for g, deals := range e.tables[i].deals {
			switch {
			case deals.MaxDealID < first || deals.MinDealID > last:
			case deals.MinDealID < first || deals.MaxDealID > last:
				return nil // it has rows of other deals, too
			default:
				same.groups[i] = append(same.groups[i], g)
			}
		}
	}
	return same
}

// beginsStretch says whether a row group of dealsTable is the first of a stretch.
func (e *Earlier) beginsStretch(group int) bool {
	if len(e.deals[group]) == 0 {
		return false
	}
	_, begins := e.noted[e.deals[group][0].deal]
	return begins
}

// begin says whether deals begin with the given versions.
func begin(deals []Deal, versions []version) bool {
	if len(versions) == 0 || len(versions) > len(deals) {
		return false
	}
	for i, v := range versions {
		if d := &deals[i]; d.Fresh || d.ID != v.deal || d.Version != v.number {
			return false
		}
	}
	return true
}

// dayColumn returns the column of a snapshot that says its day, with the given number of rows. The caller releases it.
func dayColumn(mem memory.Allocator, table *lake.Table, day string, rows int64) (arrow.Record, error) {
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return nil, fmt.Errorf("snapshot date: %w", err)
	}
	columns := table.SnapshotColumns()
	b := array.NewRecordBuilder(mem, lake.BatchSchema(columns[len(columns)-1:]))
	defer b.Release()
	days := b.Field(0).(*array.Date32Builder)
	for range rows {
		days.Append(arrow.Date32FromTime(date))
	}
	return b.NewRecord(), nil
}
