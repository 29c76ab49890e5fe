package verify

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// tally is what the files of one table, or of one day's snapshot of it, hold of each version of a feed,
// by place in its index: 24 bytes each.
type tally struct {
	sums     []rowSum
	files    []int32 // number of the file that a version's rows lie in, from 1; 0 where there are none
	ordinals []int32 // of the last entry of the version's list; 0 where there are none, or no list
}

func newTally(versions int) *tally {
	return &tally{make([]rowSum, versions), make([]int32, versions), make([]int32, versions)}
}

func (t *tally) clear() {
	clear(t.sums)
	clear(t.files)
	clear(t.ordinals)
}

// feedCheck holds the tables of one feed against its versions, and its snapshots against its history.
type feedCheck struct {
	v        *verifier
	feed     api.Feed
	index    versionIndex
	files    map[string][]lake.File // of the feed's tables
	history  map[string]*tally      // of the tables that others are held against
	snapshot *tally                 // used for one day after another
}

// checkFeeds looks at the rows of all flattened tables. A feed whose versions are not known wholly has
// its files looked at one by one.
func (v *verifier) checkFeeds(ctx context.Context, files []lake.File, indexes map[api.Feed]versionIndex) error {
	return v.each(ctx, len(allFeeds), func(ctx context.Context, i int) error {
		c := &feedCheck{v: v, feed: allFeeds[i], files: map[string][]lake.File{}, history: map[string]*tally{}}
		for _, table := range lake.FeedTables(c.feed) {
			for _, name := range []string{lake.HistoryTable(table.Name), lake.SnapshotTable(table.Name)} {
				c.files[name] = slices.DeleteFunc(slices.Clone(files), func(f lake.File) bool {
					return f.Table != name || f.Partition["market"] != string(c.feed.Market)
				})
			}
		}
		var known bool
		if c.index, known = indexes[c.feed]; !known {
			return c.filesAlone(ctx)
		}
		c.snapshot = newTally(len(c.index))
		return c.tables(ctx)
	})
}

// filesAlone looks at the files of a feed whose versions are not known wholly.
func (c *feedCheck) filesAlone(ctx context.Context) error {
	some := false
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		for _, f := range c.files[name] {
			some = true
			if err := c.alone(ctx, f); err != nil {
				return err
			}
		}
	}
	if some {
		c.notChecked(versionsFolder(c.feed), lake.HistoryTable(lake.DealVersions), "the versions of %s are not known wholly: its tables were not held against them, nor its snapshots against history", c.feed)
	}
	return nil
}

func (c *feedCheck) alone(ctx context.Context, f lake.File) error {
	if !c.v.sound(f) {
		return nil
	}
	shape, err := shapeOf(f)
	if err != nil {
		return nil //nolint:nilerr // such a file was found unsound before
	}
	return c.v.checkRowsAlone(ctx, f, shape)
}

func (c *feedCheck) notChecked(where, table, format string, args ...any) {
	c.v.find(Finding{Check: NotChecked, Path: where, Table: table, Detail: fmt.Sprintf(format, args...)})
}

// tables goes through the feed's tables, the deals' own first, because the others are held against it.
func (c *feedCheck) tables(ctx context.Context) error {
	days, err := c.days(ctx)
	if err != nil {
		return err
	}
	for _, table := range lake.FeedTables(c.feed) {
		files := slices.Concat(c.files[lake.HistoryTable(table.Name)], c.files[lake.SnapshotTable(table.Name)])
		files = slices.DeleteFunc(files, func(f lake.File) bool { return !c.v.sound(f) })
		hasher := newRowHasher(table, files)
		history := newTally(len(c.index))
		whole, err := c.take(ctx, c.files[lake.HistoryTable(table.Name)], history, hasher)
		if err != nil {
			return err
		}
		folder := fmt.Sprintf("history/%s/market=%s", table.Name, c.feed.Market)
		if !whole {
			c.notChecked(folder, lake.HistoryTable(table.Name), "the table's history of %s cannot be read wholly: it was not held against the deals' versions, nor snapshots against it", c.feed)
			history = nil
		}
		c.history[table.Name] = history
		c.checkHistory(table, folder)
		for _, day := range slices.Sorted(maps.Keys(days)) {
			if err := c.checkSnapshot(ctx, table, hasher, day, days[day]); err != nil {
				return err
			}
		}
		if !c.isParent(table) {
			delete(c.history, table.Name)
		}
	}
	return nil
}

// isParent says whether rows of later tables are held against a table.
func (c *feedCheck) isParent(table *lake.Table) bool {
	return slices.ContainsFunc(lake.FeedTables(c.feed), func(child *lake.Table) bool { return c.parent(child) == table })
}

// parent is the table whose rows those of a table belong to; nil for the deals' own.
func (c *feedCheck) parent(table *lake.Table) *lake.Table {
	var nearest *lake.Table
	for _, t := range lake.FeedTables(c.feed) {
		if t != table && strings.HasPrefix(table.Rows, t.Rows+"/") && (nearest == nil || len(t.Rows) > len(nearest.Rows)) {
			nearest = t
		}
	}
	return nearest
}

// take adds the rows of files to a tally. whole is false where some could not be read.
func (c *feedCheck) take(ctx context.Context, files []lake.File, t *tally, hasher *rowHasher) (whole bool, err error) {
	for i, f := range files {
		if !c.v.sound(f) {
			continue
		}
		shape, err := shapeOf(f)
		if err != nil {
			continue // found unsound before
		}
		taker := &rowTaker{c: c, file: f, shape: shape, number: int32(i + 1), tally: t, hasher: hasher, columns: hasher.columns(lake.ArrowSchema(shape.columns))}
		if err := c.v.walkRows(ctx, f, shape, taker.row); err != nil {
			return false, err
		}
	}
	return c.v.allSound(files), nil
}

// rowTaker adds the rows of one file to a tally.
type rowTaker struct {
	c       *feedCheck
	file    lake.File
	shape   *shape
	number  int32
	tally   *tally
	hasher  *rowHasher
	columns []int

	last  parquet.RowKey
	place int // of the last row's version
	begun bool
}

func (r *rowTaker) row(key parquet.RowKey, record arrow.Record, i int) {
	if !r.begun || key.DealID != r.last.DealID || key.Version != r.last.Version {
		r.begin(key)
	}
	r.last = key
	if r.place < 0 {
		return
	}
	r.tally.sums[r.place].add(r.hasher.hash(record, r.columns, i))
	r.tally.ordinals[r.place] = max(r.tally.ordinals[r.place], key.Ordinal)
	r.checkOuter(key)
}

// begin finds the place of the version whose rows begin.
func (r *rowTaker) begin(key parquet.RowKey) {
	r.begun = true
	r.place = r.c.index.find(key.DealID, key.Version)
	if r.place < 0 {
		check := HistoryRows
		if r.shape.snapshot {
			check = SnapshotHistory
		}
		r.fault(key, check, "there are rows of a version that deal_versions has not")
		return
	}
	if other := r.tally.files[r.place]; other != 0 && other != r.number {
		r.fault(key, RowKey, "there are rows of this version in another file of the table too")
	}
	r.tally.files[r.place] = r.number
}

// checkOuter holds that the list entry that a row belongs to is there. Snapshots are held against
// history instead.
func (r *rowTaker) checkOuter(key parquet.RowKey) {
	if r.shape.snapshot || r.shape.table.Depth() < 2 {
		return
	}
	table := r.c.parent(r.shape.table).Name
	if parent := r.c.history[table]; parent != nil && key.Outer > parent.ordinals[r.place] {
		r.fault(key, ChildParent, "the row belongs to entry %d of %s, which has %d", key.Outer, table, parent.ordinals[r.place])
	}
}

func (r *rowTaker) fault(key parquet.RowKey, check Check, format string, args ...any) {
	r.c.v.find(Finding{Check: check, Path: r.file.Path, Table: r.file.Table, Detail: fmt.Sprintf(format, args...)}.about(key.DealID, key.Version))
}

// checkHistory holds a table's history against the versions, or against the deals' own rows.
func (c *feedCheck) checkHistory(table *lake.Table, folder string) {
	own := c.history[table.Name]
	if own == nil {
		return
	}
	deals := c.history[lake.FeedTables(c.feed)[0].Name]
	for i := range c.index {
		e := &c.index[i]
		fault := func(check Check, detail string) {
			c.v.find(Finding{Check: check, Path: folder, Table: lake.HistoryTable(table.Name), Detail: detail}.about(e.deal, e.version))
		}
		has := own.files[i] != 0
		switch {
		case table.Depth() > 0 && has && deals != nil && deals.files[i] == 0:
			fault(ChildParent, "the version has rows here, but none in the deals' own table")
		case table.Depth() == 0 && has && e.change == wasRemoved:
			fault(HistoryRows, "the version is a removal, but it has a row")
		case table.Depth() == 0 && !has && e.change != wasRemoved:
			fault(HistoryRows, "the version has a payload, but no row")
		}
	}
}

// days gives the feed's snapshots that are part of the lake: day, and the instant of the commit that
// took it. A day run twice counts by its last run; replaying a snapshot leaves its instant. The files of
// a day that no commit took are looked at one by one.
func (c *feedCheck) days(ctx context.Context) (map[string]int64, error) {
	taken := map[string]int64{}
	for run := range c.v.log.FeedRuns(c.feed, lake.OutcomeDone) {
		if _, newer := taken[run.SnapshotDate]; !newer {
			taken[run.SnapshotDate] = run.KnownAt.UnixMicro()
		}
	}
	days := map[string]int64{}
	for _, table := range lake.FeedTables(c.feed) {
		for _, f := range c.files[lake.SnapshotTable(table.Name)] {
			day := f.Partition["snapshot_date"]
			if at, ok := taken[day]; ok {
				days[day] = at
				continue
			}
			if !c.v.sound(f) {
				continue
			}
			c.v.find(Finding{Check: SnapshotCommit, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf("no commit says that it took the snapshot of %s of %s", c.feed, day)})
			if err := c.alone(ctx, f); err != nil {
				return nil, err
			}
		}
	}
	return days, nil
}

// checkSnapshot holds a table's snapshot of a day against history as of the instant of its commit.
func (c *feedCheck) checkSnapshot(ctx context.Context, table *lake.Table, hasher *rowHasher, day string, at int64) error {
	files := slices.DeleteFunc(slices.Clone(c.files[lake.SnapshotTable(table.Name)]), func(f lake.File) bool { return f.Partition["snapshot_date"] != day })
	c.snapshot.clear()
	whole, err := c.take(ctx, files, c.snapshot, hasher)
	history := c.history[table.Name]
	if err != nil || !whole || history == nil {
		return err
	}
	folder := path.Dir(lake.SnapshotKey(table.Name, c.feed.Market, day, "run", 0))
	for i := range c.index {
		stands := c.index.stands(i, at)
		detail := ""
		switch got, want := c.snapshot.sums[i], history.sums[i]; {
		case got == rowSum{} && (!stands || want == rowSum{}):
		case !stands:
			detail = "the snapshot has rows of this version, which did not stand at " + micros(at)
		case got == rowSum{}:
			detail = "the snapshot lacks this version's rows, which history has"
		case want == rowSum{}:
			detail = "the snapshot has rows of this version, history has none"
		case got != want:
			detail = "the snapshot's rows of this version are not those of history"
		}
		if detail != "" {
			c.v.find(Finding{Check: SnapshotHistory, Path: folder, Table: lake.SnapshotTable(table.Name), Detail: detail}.about(c.index[i].deal, c.index[i].version))
		}
	}
	return nil
}
