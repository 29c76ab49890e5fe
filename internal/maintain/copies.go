package maintain

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/workfolder"
	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/parquet"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// copies are local copies of data files of one table, with the bytes that were committed. close removes
// them.
type copies struct {
	folder  string
	fetched *workfolder.Folder // in folder, with the files
	store   *dirstore.Dir
	lake    *load.Lake // read from the copies
	mem     memory.Allocator
	files   []lake.File
}

// copyFiles fetches files into the transaction's work folder. Then reading costs the store only one request per file,
// and the hash is checked before any row is used.
//
// cache may be nil: then the files are fetched from the store.
func copyFiles(ctx context.Context, l *load.Lake, tx *load.Transaction, cache *mirror.Cache, files []lake.File) (*copies, error) {
	folder, err := os.MkdirTemp(tx.WorkDir(), "copies-*")
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	c := &copies{folder: folder, mem: tx.Memory(), files: files}
	if cache == nil {
		cache, err = mirror.NewCache(folder, 0)
	}
	if err == nil {
		c.fetched, err = cache.Folder()
	}
	if err == nil {
		err = cache.Fetch(ctx, l.Store(), files, c.fetched.Path())
	}
	if err == nil {
		c.store, err = dirstore.New(c.fetched.Path())
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.lake = l.Through(c.store)
	return c, nil
}

func (c *copies) close() error { return errors.Join(c.fetched.Close(), os.RemoveAll(c.folder)) }

// kinds returns the parts by which rows are sorted first: deal_versions has the priced deals of its market, then the
// expected ones. Other tables have one part, named "".
func (c *copies) kinds() []api.Kind {
	if c.files[0].Table == lake.HistoryTable(lake.DealVersions) {
		return []api.Kind{api.Priced, api.Expected}
	}
	return []api.Kind{""}
}

// mergedRow is one row of a merge. It is valid during the call only.
type mergedRow struct {
	key    parquet.RowKey
	record arrow.Record
	row    int
	from   []int // for each column of the merge its index in the record; -1 if the file lacks it
}

// each calls row for the rows of a market and kind, over all files, in the order of their keys.
func (c *copies) each(ctx context.Context, market api.Market, kind api.Kind, columns []lake.Column, row func(mergedRow) error) (err error) {
	var open cursors
	defer func() {
		for _, cur := range open {
			cur.stop()
		}
	}()
	for _, f := range c.files {
		if !f.HasMarket(market) {
			continue
		}
		cur, err := c.open(ctx, f, market, kind, columns)
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
		if err := row(mergedRow{cur.key, cur.record, cur.row, cur.from}); err != nil {
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

// cursor is a position in the rows of a file.
type cursor struct {
	file   lake.File
	kind   api.Kind // "": all rows
	next   func() (arrow.Record, error, bool)
	stop   func()
	from   []int // as in mergedRow
	keys   keyColumns
	record arrow.Record
	row    int
	key    parquet.RowKey
	begun  bool
}

// keyColumns is the indices of a key's columns in a record; -1 for an absent one.
type keyColumns struct{ kind, deal, version, outer, ordinal int }

// open returns a cursor at the first row of a market and kind in a file; nil if the file has none.
func (c *copies) open(ctx context.Context, f lake.File, market api.Market, kind api.Kind, columns []lake.Column) (*cursor, error) {
	foot, err := parquet.ReadFooter(ctx, c.store, f.Path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Path, err)
	}
	cur := &cursor{file: f, kind: kind}
	var wanted []string
	for i := range columns {
		index := -1
		if foot.Schema.HasField(columns[i].Name) {
			index = len(wanted)
			wanted = append(wanted, columns[i].Name)
		}
		cur.from = append(cur.from, index)
	}
	cur.keys = findKeyColumns(wanted)
	plan := parquet.GroupsOf(&f, market, nil)
	if kind != "" {
		groups, err := c.findGroups(ctx, f, market, kind)
		if err != nil || len(groups) == 0 {
			return nil, err
		}
		plan = parquet.OnlyGroups(groups)
	}
	// The files that are open at once share the row limit of one.
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

// errStopped ends a scan before its end.
var errStopped = errors.New("no more rows are wanted")

func findKeyColumns(names []string) keyColumns {
	index := func(name string) int { return slices.Index(names, name) }
	return keyColumns{index("kind"), index("deal_id"), index("version"), index("tranche_ordinal"), index("ordinal")}
}

// findGroups returns the row groups that contain rows of a market and kind.
func (c *copies) findGroups(ctx context.Context, f lake.File, market api.Market, kind api.Kind) ([]int, error) {
	var groups []int
	group, last := -1, -1
	err := parquet.Scan(ctx, c.store, c.mem, f.Path, []string{"kind"}, parquet.GroupsOf(&f, market, parquet.AllGroups(&group)), func(record arrow.Record) error {
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
		key := cur.keys.read(cur.record, cur.row)
		if cur.begun && key.Compare(cur.key) <= 0 {
			return false, fmt.Errorf("read %s: %w: deal %d version %d follows deal %d version %d; run `dealflow verify --read-data`",
				cur.file.Path, mirror.ErrNotCommitted, key.DealID, key.Version, cur.key.DealID, cur.key.Version)
		}
		cur.key, cur.begun = key, true
		return true, nil
	}
}

// read reads a row's key.
func (k keyColumns) read(record arrow.Record, row int) parquet.RowKey {
	number := func(column int) int32 {
		if column < 0 {
			return 0
		}
		return record.Column(column).(*array.Int32).Value(row)
	}
	return parquet.RowKey{DealID: record.Column(k.deal).(*array.Int64).Value(row), Version: number(k.version), Outer: number(k.outer), Ordinal: number(k.ordinal)}
}

// cursors is a heap: the cursor with the least key is the first.
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
