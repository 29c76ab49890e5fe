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

// tally sums up the rows of one table's history, or of its snapshot of one day, for each version of a feed. The slices
// are indexed like the feed's versionIndex; 24 bytes per version.
type tally struct {
	sums     []rowSum
	files    []int32 // number of the file with the version's rows, from 1; 0 for no rows
	ordinals []int32 // of the last entry of the version's list; 0 for no rows, or no list
}

func newTally(versions int) *tally {
	return &tally{make([]rowSum, versions), make([]int32, versions), make([]int32, versions)}
}

func (t *tally) clear() {
	clear(t.sums)
	clear(t.files)
	clear(t.ordinals)
}

// fill gives the rows of payloads to the versions that are older than the table, except those that have rows.
func (t *tally) fill(payloads *tally, isOlder func(version int) bool) {
	for i := range t.sums {
		if t.files[i] == 0 && isOlder(i) {
			t.sums[i], t.ordinals[i] = payloads.sums[i], payloads.ordinals[i]
		}
	}
}

// feedCheck compares the tables of one feed with its versions, and its snapshots with its history. It is used by one
// goroutine.
type feedCheck struct {
	v        *verifier
	feed     api.Feed
	index    versionIndex
	files    map[string][]lake.File // of the feed's tables
	history  map[string]*tally      // by table; only tables with which others are still to be compared
	snapshot *tally                 // of one day; used again for the next
}

// checkFeeds checks the rows of all flattened tables. For a feed without an index it checks each file by itself.
func (v *verifier) checkFeeds(ctx context.Context, files []lake.File, indexes map[api.Feed]versionIndex) error {
	return v.each(ctx, len(allFeeds), func(ctx context.Context, i int) error {
		c := &feedCheck{v: v, feed: allFeeds[i], files: map[string][]lake.File{}, history: map[string]*tally{}}
		for _, table := range lake.FeedTables(c.feed) {
			for _, name := range []string{lake.HistoryTable(table.Name), lake.SnapshotTable(table.Name)} {
				c.files[name] = slices.DeleteFunc(slices.Clone(files), func(f lake.File) bool {
					return f.Table != name || !f.HasMarket(c.feed.Market)
				})
			}
		}
		var known bool
		if c.index, known = indexes[c.feed]; !known {
			return c.checkFilesAlone(ctx)
		}
		c.snapshot = newTally(len(c.index))
		return c.checkTables(ctx)
	})
}

// checkFilesAlone checks each file of a feed whose versions are not completely known.
func (c *feedCheck) checkFilesAlone(ctx context.Context) error {
	found := false
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		for _, f := range c.files[name] {
			found = true
			if err := c.checkAlone(ctx, f); err != nil {
				return err
			}
		}
	}
	if found {
		c.notChecked(c.v.versionsFolder(c.feed), lake.HistoryTable(lake.DealVersions), "the versions of %s cannot all be read: its tables were not compared with them, nor its snapshots with history", c.feed)
	}
	return nil
}

func (c *feedCheck) checkAlone(ctx context.Context, f lake.File) error {
	if !c.v.isSound(f) {
		return nil
	}
	shape, err := shapeOf(f, c.v.log.Format)
	if err != nil {
		return nil //nolint:nilerr // checkFile has reported it
	}
	return c.v.checkRowsOf(ctx, f, c.feed.Market, shape)
}

func (c *feedCheck) notChecked(where, table, format string, args ...any) {
	c.v.report(Finding{Check: NotChecked, Path: where, Table: table, Detail: fmt.Sprintf(format, args...)})
}

// checkTables checks the feed's tables. The deals' own table is the first, because the others are compared with it.
func (c *feedCheck) checkTables(ctx context.Context) error {
	days, err := c.snapshotDays(ctx)
	if err != nil {
		return err
	}
	for _, table := range lake.FeedTables(c.feed) {
		files := slices.Concat(c.files[lake.HistoryTable(table.Name)], c.files[lake.SnapshotTable(table.Name)])
		files = slices.DeleteFunc(files, func(f lake.File) bool { return !c.v.isSound(f) })
		hasher := c.v.newRowHasher(c.feed, table, files)
		payloads := c.payloadRows(table, hasher)
		history := newTally(len(c.index))
		complete, err := c.collect(ctx, c.files[lake.HistoryTable(table.Name)], history, hasher)
		if err != nil {
			return err
		}
		if payloads != nil {
			complete = c.fillHistory(table, history, payloads) && complete
		}
		folder := path.Dir(lake.HistoryFolder(c.v.log.Format, table.Name, c.feed.Market, 0))
		if !complete {
			c.notChecked(folder, lake.HistoryTable(table.Name), "the table's history of %s cannot all be read: it was not compared with the deals' versions, nor snapshots with it", c.feed)
			history = nil
		}
		c.history[table.Name] = history
		c.checkHistory(table, folder)
		for _, day := range slices.Sorted(maps.Keys(days)) {
			if err := c.checkSnapshot(ctx, table, hasher, payloads, day, days[day]); err != nil {
				return err
			}
		}
		if !c.isParent(table) {
			delete(c.history, table.Name)
		}
	}
	return nil
}

// payloadRows sums up the rows that payloads have in a table that came after the first schema version. They are those of
// versions that older programs wrote. It returns nil for another table, and where all files have one schema version.
func (c *feedCheck) payloadRows(table *lake.Table, hasher *rowHasher) *tally {
	if table.Since <= 1 || hasher.lifter == nil {
		return nil
	}
	payloads, columns := newTally(len(c.index)), len(table.HistoryColumns())
	for _, record := range hasher.lifter.PayloadRows(table) {
		for row := range int(record.NumRows()) {
			key := keyOf(record, row, table.Depth())
			if i := c.index.find(key.DealID, key.Version); i >= 0 {
				payloads.sums[i].add(hasher.hash(record, columns, row))
				payloads.ordinals[i] = max(payloads.ordinals[i], key.Ordinal)
			}
		}
	}
	return payloads
}

// fillHistory fills the history of a table with the rows of versions whose own row is in a file that is older than the
// table. complete is false if the history of the deals' own table is not known.
func (c *feedCheck) fillHistory(table *lake.Table, history, payloads *tally) (complete bool) {
	name := table.DealsTable().Name
	deals, files := c.history[name], c.files[lake.HistoryTable(name)]
	if deals == nil {
		return false
	}
	history.fill(payloads, func(i int) bool {
		number := deals.files[i]
		return number > 0 && files[number-1].SchemaVersion < table.Since
	})
	return true
}

// isParent says whether another table of the feed has rows that belong to rows of this table.
func (c *feedCheck) isParent(table *lake.Table) bool {
	return slices.ContainsFunc(lake.FeedTables(c.feed), func(child *lake.Table) bool { return c.parent(child) == table })
}

// parent returns the table whose rows contain the lists of a table; nil for the deals' own table.
func (c *feedCheck) parent(table *lake.Table) *lake.Table {
	var nearest *lake.Table
	for _, t := range lake.FeedTables(c.feed) {
		if t != table && strings.HasPrefix(table.Rows, t.Rows+"/") && (nearest == nil || len(t.Rows) > len(nearest.Rows)) {
			nearest = t
		}
	}
	return nearest
}

// collect adds the rows of files to a tally. complete is false if a file could not be read.
func (c *feedCheck) collect(ctx context.Context, files []lake.File, t *tally, hasher *rowHasher) (complete bool, err error) {
	for i, f := range files {
		if !c.v.isSound(f) {
			continue
		}
		shape, err := shapeOf(f, c.v.log.Format)
		if err != nil {
			continue // checkFile has reported it
		}
		collector := &rowCollector{c: c, file: f, shape: shape, number: int32(i + 1), tally: t, hasher: hasher, columns: hasher.columns(f)}
		err = c.v.walkRows(ctx, f, c.feed.Market, shape, collector.row)
		collector.release()
		if err != nil {
			return false, err
		}
	}
	return c.v.allSound(files), nil
}

// rowCollector adds the rows of one file to a tally.
type rowCollector struct {
	c       *feedCheck
	file    lake.File
	shape   *shape
	number  int32
	tally   *tally
	hasher  *rowHasher
	columns int          // leading columns that are hashed
	lifted  arrow.Record // the present record, as it is hashed

	last  parquet.RowKey
	entry int // index of the last row's version in c.index; -1 for an unknown version
	begun bool
}

func (r *rowCollector) row(key parquet.RowKey, record arrow.Record, i int) {
	if !r.begun || key.DealID != r.last.DealID || key.Version != r.last.Version {
		r.begin(key)
	}
	r.last = key
	if i == 0 {
		r.release()
		r.lifted = r.hasher.lift(r.file, record)
	}
	if r.entry < 0 {
		return
	}
	r.tally.sums[r.entry].add(r.hasher.hash(r.lifted, r.columns, i))
	r.tally.ordinals[r.entry] = max(r.tally.ordinals[r.entry], key.Ordinal)
	r.checkOuter(key)
}

// release frees the present record.
func (r *rowCollector) release() {
	if r.lifted != nil {
		r.lifted.Release()
	}
	r.lifted = nil
}

// begin finds the version of a row that begins another version.
func (r *rowCollector) begin(key parquet.RowKey) {
	r.begun = true
	r.entry = r.c.index.find(key.DealID, key.Version)
	if r.entry < 0 {
		check := HistoryRows
		if r.shape.snapshot {
			check = SnapshotHistory
		}
		r.fault(key, check, "rows of a version that deal_versions does not contain")
		return
	}
	if other := r.tally.files[r.entry]; other != 0 && other != r.number {
		r.fault(key, RowKey, "rows of this version are in another file of the table too")
	}
	r.tally.files[r.entry] = r.number
	if !r.shape.snapshot {
		checkYear(r.file, r.c.index[r.entry].year, func(check Check, format string, args ...any) { r.fault(key, check, format, args...) })
	}
}

// checkOuter checks that the list entry that a row belongs to exists. It skips snapshots: they are compared with
// history.
func (r *rowCollector) checkOuter(key parquet.RowKey) {
	if r.shape.snapshot || r.shape.table.Depth() < 2 {
		return
	}
	table := r.c.parent(r.shape.table).Name
	if parent := r.c.history[table]; parent != nil && key.Outer > parent.ordinals[r.entry] {
		r.fault(key, ChildParent, "the row belongs to entry %d of %s, which has %d entries", key.Outer, table, parent.ordinals[r.entry])
	}
}

func (r *rowCollector) fault(key parquet.RowKey, check Check, format string, args ...any) {
	r.c.v.report(Finding{Check: check, Path: r.file.Path, Table: r.file.Table, Detail: fmt.Sprintf(format, args...)}.about(key.DealID, key.Version))
}

// checkHistory compares the versions in a table's history with deal_versions, or with the deals' own rows.
func (c *feedCheck) checkHistory(table *lake.Table, folder string) {
	own := c.history[table.Name]
	if own == nil {
		return
	}
	deals := c.history[lake.FeedTables(c.feed)[0].Name]
	for i := range c.index {
		e := &c.index[i]
		fault := func(check Check, detail string) {
			c.v.report(Finding{Check: check, Path: folder, Table: lake.HistoryTable(table.Name), Detail: detail}.about(e.deal, e.version))
		}
		has := own.files[i] != 0
		switch {
		case table.Depth() > 0 && has && deals != nil && deals.files[i] == 0:
			fault(ChildParent, "the version has rows here, but no row in the table of deals")
		case table.Depth() == 0 && has && e.change == wasRemoved:
			fault(HistoryRows, "the version is a removal: got a row, want none")
		case table.Depth() == 0 && !has && e.change != wasRemoved:
			fault(HistoryRows, "the version has a payload: got no row, want one")
		}
	}
}

// snapshotDays returns the days of the feed's live snapshots, each with the instant of the last run that wrote it, in
// µs. A replay of a snapshot leaves that instant. It checks the files of a day that no commit wrote by themselves.
func (c *feedCheck) snapshotDays(ctx context.Context) (map[string]int64, error) {
	taken := map[string]int64{}
	for run := range c.v.log.FeedRuns(c.feed, lake.OutcomeDone) {
		if _, newer := taken[run.SnapshotDate]; !newer {
			taken[run.SnapshotDate] = run.KnownAt.UnixMicro()
		}
	}
	days := map[string]int64{}
	for _, table := range lake.FeedTables(c.feed) {
		for _, f := range c.files[lake.SnapshotTable(table.Name)] {
			day := f.Day()
			if instant, ok := taken[day]; ok {
				days[day] = instant
				continue
			}
			if !c.v.isSound(f) {
				continue
			}
			c.v.report(Finding{Check: SnapshotCommit, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf("no commit names the snapshot of %s on %s", c.feed, day)})
			if err := c.checkAlone(ctx, f); err != nil {
				return nil, err
			}
		}
	}
	return days, nil
}

// snapshotFiles lists the files of a table's snapshot of a day.
func (c *feedCheck) snapshotFiles(table *lake.Table, day string) []lake.File {
	return slices.DeleteFunc(slices.Clone(c.files[lake.SnapshotTable(table.Name)]), func(f lake.File) bool { return f.Day() != day })
}

// checkSnapshot compares a table's snapshot of a day with history as of the instant of its commit, in µs. payloads are
// the rows that a snapshot has which is older than the table; nil if there is none.
func (c *feedCheck) checkSnapshot(ctx context.Context, table *lake.Table, hasher *rowHasher, payloads *tally, day string, instant int64) error {
	c.snapshot.clear()
	complete, err := c.collect(ctx, c.snapshotFiles(table, day), c.snapshot, hasher)
	history := c.history[table.Name]
	if err != nil || !complete || history == nil {
		return err
	}
	isOlder := func(f lake.File) bool { return f.SchemaVersion < table.Since }
	if payloads != nil && slices.ContainsFunc(c.snapshotFiles(table.DealsTable(), day), isOlder) {
		c.snapshot.fill(payloads, func(i int) bool { return c.index.isCurrent(i, instant) })
	}
	folder := lake.SnapshotFolder(c.v.log.Format, table.Name, c.feed.Market, day)
	for i := range c.index {
		current := c.index.isCurrent(i, instant)
		detail := ""
		switch got, want := c.snapshot.sums[i], history.sums[i]; {
		case got == rowSum{} && (!current || want == rowSum{}):
		case !current:
			detail = "the snapshot has rows of this version, which was not current as of " + micros(instant)
		case got == rowSum{}:
			detail = "the snapshot does not have this version's rows, but history has them"
		case want == rowSum{}:
			detail = "the snapshot has rows of this version, but history has none"
		case got != want:
			detail = "the snapshot's rows of this version differ from those of history"
		}
		if detail != "" {
			c.v.report(Finding{Check: SnapshotHistory, Path: folder, Table: lake.SnapshotTable(table.Name), Detail: detail}.about(c.index[i].deal, c.index[i].version))
		}
	}
	return nil
}
