package maintain

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/parquet"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// copies are local copies of history files of one table and market, whose bytes are those that were
// committed. close removes them.
type copies struct {
	folder string
	store  *dirstore.Dir
	lake   *load.Lake // read from the copies
	mem    memory.Allocator
	files  []lake.File
}

// copyFiles fetches files into the transaction's work folder: reading them there costs a store one request each, and
// their hash is known before any row of them is used.
func copyFiles(ctx context.Context, l *load.Lake, tx *load.Transaction, files []lake.File) (*copies, error) {
	folder, err := os.MkdirTemp(tx.WorkDir(), "copies-*")
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	c := &copies{folder: folder, mem: tx.Memory(), files: files}
	cache, err := mirror.NewCache(folder, 0)
	var inside string
	if err == nil {
		inside, err = cache.Folder()
	}
	if err == nil {
		err = cache.Fetch(ctx, l.Store(), files, inside)
	}
	if err == nil {
		c.store, err = dirstore.New(inside)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.lake = l.Through(c.store)
	return c, nil
}

func (c *copies) close() error { return os.RemoveAll(c.folder) }

// kinds are the parts by which the files are sorted before all else: deal_versions has first the priced
// deals of its market, then the expected ones. Other tables have one part, without a name.
func (c *copies) kinds() []api.Kind {
	if c.files[0].Table == lake.HistoryTable(lake.DealVersions) {
		return []api.Kind{api.Priced, api.Expected}
	}
	return []api.Kind{""}
}

// merged is one row on its way through a merge. It is good during the call only.
type merged struct {
	key    parquet.RowKey
	record arrow.Record
	row    int
	from   []int // for each column of the merge its place in the record; -1 where the file lacks it
}

// each calls row for the rows of a kind in the order of their keys, over all files.
func (c *copies) each(ctx context.Context, kind api.Kind, columns []lake.Column, row func(merged) error) (err error) {
	var open cursors
	defer func() {
		for _, cur := range open {
			cur.stop()
		}
	}()
	for _, f := range c.files {
		cur, err := c.open(ctx, f, kind, columns)
		if err != nil {
			return err
		}
		if cur != nil {
			open = append(open, cur)
		}
	}
	heap.Init(&open)
	for len(open) > 0 {
		cur := open[0]
		if err := row(merged{cur.key, cur.record, cur.row, cur.from}); err != nil {
			return err
		}
		more, err := cur.advance()
		switch {
		case err != nil:
			return err
		case more:
			heap.Fix(&open, 0)
		default:
			cur.stop()
			heap.Pop(&open)
		}
	}
	return nil
}

// cursor stands on a row of a file.
type cursor struct {
	file   lake.File
	kind   api.Kind // "": all rows
	next   func() (arrow.Record, error, bool)
	stop   func()
	from   []int // as in merged
	keys   keyPlaces
	record arrow.Record
	row    int
	key    parquet.RowKey
	begun  bool
}

// keyPlaces says where in a record the parts of a row's key stand; -1 for none.
type keyPlaces struct{ kind, deal, version, outer, ordinal int }

// open puts a cursor on the first row of a kind in a file; nil where there is none.
func (c *copies) open(ctx context.Context, f lake.File, kind api.Kind, columns []lake.Column) (*cursor, error) {
	foot, err := parquet.ReadFooter(ctx, c.store, f.Path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Path, err)
	}
	cur := &cursor{file: f, kind: kind}
	var wanted []string
	for i := range columns {
		place := -1
		if foot.Schema.HasField(columns[i].Name) {
			place = len(wanted)
			wanted = append(wanted, columns[i].Name)
		}
		cur.from = append(cur.from, place)
	}
	cur.keys = placesOf(wanted)
	var plan parquet.Groups
	if kind != "" {
		groups, err := c.groupsOf(ctx, f, kind)
		if err != nil || len(groups) == 0 {
			return nil, err
		}
		plan = parquet.OnlyGroups(groups)
	}
	// Files that are open side by side share what one may hold.
	rows := int64(max(parquet.ScanRows/len(c.files), 16))
	records := func(yield func(arrow.Record, error) bool) {
		err := parquet.ScanLimited(ctx, c.store, c.mem, f.Path, wanted, rows, plan, func(record arrow.Record) error {
			if !yield(record, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
	cur.next, cur.stop = iter.Pull2(records)
	if more, err := cur.advance(); err != nil || !more {
		cur.stop()
		return nil, err
	}
	return cur, nil
}

// errStopped ends a scan of which no more is wanted.
var errStopped = errors.New("no more rows are wanted")

func placesOf(names []string) keyPlaces {
	at := map[string]int{}
	for i, name := range names {
		at[name] = i + 1
	}
	place := func(name string) int { return at[name] - 1 }
	return keyPlaces{place("kind"), place("deal_id"), place("version"), place("tranche_ordinal"), place("ordinal")}
}

// groupsOf finds the row groups that hold rows of a kind.
func (c *copies) groupsOf(ctx context.Context, f lake.File, kind api.Kind) ([]int, error) {
	var groups []int
	group, last := -1, -1
	err := parquet.Scan(ctx, c.store, c.mem, f.Path, []string{"kind"}, parquet.AllGroups(&group), func(record arrow.Record) error {
		kinds := record.Column(0).(*array.String)
		for row := 0; row < kinds.Len() && group != last; row++ {
			if kinds.Value(row) == string(kind) {
				groups, last = append(groups, group), group
			}
		}
		return nil
	})
	return groups, err
}

// advance moves to the next row of the cursor's kind; false at the end.
func (cur *cursor) advance() (bool, error) {
	for {
		cur.row++
		if cur.record == nil || cur.row >= int(cur.record.NumRows()) {
			record, err, ok := cur.next()
			if err != nil || !ok {
				return false, err
			}
			cur.record, cur.row = record, -1
			continue
		}
		if cur.kind != "" && cur.record.Column(cur.keys.kind).(*array.String).Value(cur.row) != string(cur.kind) {
			continue
		}
		key := cur.keys.of(cur.record, cur.row)
		if cur.begun && key.Compare(cur.key) <= 0 {
			return false, fmt.Errorf("read %s: %w: deal %d version %d stands behind deal %d version %d; run `dealflow verify --read-data`",
				cur.file.Path, mirror.ErrNotCommitted, key.DealID, key.Version, cur.key.DealID, cur.key.Version)
		}
		cur.key, cur.begun = key, true
		return true, nil
	}
}

// of reads a row's key.
func (p keyPlaces) of(record arrow.Record, row int) parquet.RowKey {
	number := func(place int) int32 {
		if place < 0 {
			return 0
		}
		return record.Column(place).(*array.Int32).Value(row)
	}
	return parquet.RowKey{DealID: record.Column(p.deal).(*array.Int64).Value(row), Version: number(p.version), Outer: number(p.outer), Ordinal: number(p.ordinal)}
}

// cursors is a heap: the one with the least key comes first.
type cursors []*cursor

func (c cursors) Len() int           { return len(c) }
func (c cursors) Less(i, j int) bool { return c[i].key.Compare(c[j].key) < 0 }
func (c cursors) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *cursors) Push(x any)        { *c = append(*c, x.(*cursor)) }
func (c *cursors) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}
