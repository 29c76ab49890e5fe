package maintain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// A merged file of a flattened table has row groups of at most groupRows rows and groupBytes in memory. Analyses read
// whole columns, and one deal is one row group of each column: see docs/bench/README.md#row-groups-and-order. Payloads of
// deal_versions are read by deal, so its row groups are those of a run.
const (
	groupRows  = 1 << 14
	groupBytes = 4 * parquet.RowGroupBytes
)

// merging is the rows of files that are written into one or two files: sorted by market, and in a market in the
// order of their table. Each row group is of one market.
type merging struct {
	files []lake.File // of one table, and of one year or day; at most compactFiles
	// schema is the schema version of the result. It is that of the files, or a later one for files of deal_versions:
	// their rows then name it.
	schema int
	// keep are the markets whose rows are kept; nil means all.
	keep []api.Market
	// latest are the latest versions of deals. Rows of other versions, and of removed deals, go to a file of their own: they
	// will never be current again. nil means one file.
	latest map[api.Feed]lake.Latest
	// cache is where the files are read from if it has them; nil for none.
	cache *mirror.Cache
}

// merge carries out a merging. A file whose bytes differ from what was committed is an error (mirror.ErrNotCommitted): its
// damage must not get into a file that looks sound. Without rows, nothing is written.
func merge(ctx context.Context, l *load.Lake, tx *load.Transaction, m merging) (err error) {
	copied, err := copyFiles(ctx, l, tx, m.cache, m.files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.close()) }()
	out := &mergeWriter{merging: m, tx: tx, columns: lake.ColumnsAt(lake.TableColumns(m.files[0].Table), m.schema)}
	defer func() { err = errors.Join(err, out.end()) }()
	for _, market := range m.markets() {
		for _, kind := range copied.kinds() {
			out.begin(market, kind)
			if err := copied.each(ctx, market, kind, out.columns, out.append); err != nil {
				return err
			}
		}
		if err := out.flush(); err != nil {
			return err
		}
	}
	if err := out.checkRows(); err != nil {
		return err
	}
	return out.finish(ctx)
}

// markets lists the markets whose rows are kept, sorted.
func (m *merging) markets() []api.Market {
	var markets []api.Market
	for i := range m.files {
		markets = append(markets, m.files[i].Markets()...)
	}
	slices.Sort(markets)
	markets = slices.Compact(markets)
	if m.keep == nil {
		return markets
	}
	return slices.DeleteFunc(markets, func(market api.Market) bool { return !slices.Contains(m.keep, market) })
}

// isOfOneMarket says whether the result is a file of one market, as those of a run: only files of history that are written
// apart by their versions are shared whatever they are made of, so that the next compaction knows them.
func (m *merging) isOfOneMarket() bool {
	return m.latest == nil && len(m.markets()) == 1 && !slices.ContainsFunc(m.files, func(f lake.File) bool { return f.IsShared() })
}

// mergeWriter writes the rows of a merge.
type mergeWriter struct {
	merging
	tx      *load.Transaction
	columns []lake.Column
	known   lake.Latest // of the feed that is being read; nil: all rows go to the first file
	outputs [2]output   // rows of the latest versions, and of other versions
}

// output is one file of a merge. It has no writer before its first row group.
type output struct {
	w    *parquet.Writer
	rows *rowBuffer
	last parquet.RowKey
}

// begin says of which feed the next rows are. kind is "" for a flattened table.
func (m *mergeWriter) begin(market api.Market, kind api.Kind) {
	if m.latest != nil {
		m.known = m.latest[feedOf(m.files[0].Table, market, kind)]
	}
	for i := range m.outputs {
		m.outputs[i].last = parquet.RowKey{}
	}
}

// feedOf returns the feed of rows of a market in a table, as commits name it. kind is that of the rows of deal_versions.
func feedOf(table string, market api.Market, kind api.Kind) api.Feed {
	for _, feed := range api.Feeds() {
		if feed.Market == market && (feed.Kind == kind || kind == "" && hasTable(feed, table)) {
			return feed
		}
	}
	return api.Feed{}
}

func hasTable(feed api.Feed, table string) bool {
	return slices.ContainsFunc(lake.FeedTables(feed), func(t *lake.Table) bool {
		return table == lake.HistoryTable(t.Name) || table == lake.SnapshotTable(t.Name)
	})
}

// append adds a row. The rows of a version stay in one row group, as in the files of a run.
func (m *mergeWriter) append(r mergedRow) error {
	out := &m.outputs[0]
	if m.latest != nil {
		if latest := m.known[r.key.DealID]; latest.Removed || latest.Version != r.key.Version {
			out = &m.outputs[1]
		}
	}
	if out.rows == nil {
		out.rows = newRowBuffer(m.tx.Memory(), m.columns, m.schema)
	}
	if !r.key.SameVersion(out.last) && m.isFull(out.rows) {
		if err := m.write(out); err != nil {
			return err
		}
	}
	out.last = r.key
	out.rows.append(r)
	return nil
}

func (m *mergeWriter) isFull(rows *rowBuffer) bool {
	if m.files[0].Table == lake.HistoryTable(lake.DealVersions) {
		return rows.bytes >= parquet.RowGroupBytes
	}
	return rows.rows >= groupRows || rows.bytes >= groupBytes
}

// write writes the collected rows as a row group.
func (m *mergeWriter) write(out *output) (err error) {
	if out.rows == nil || out.rows.isEmpty() {
		return nil
	}
	if out.w == nil {
		like := m.files[0]
		like.SchemaVersion = m.schema
		markets := m.markets()
		if m.isOfOneMarket() {
			markets = nil
		}
		if out.w, err = m.tx.FileLike(&like, markets); err != nil {
			return err
		}
	}
	record := out.rows.take()
	defer record.Release()
	return out.w.Write(record, out.rows.min, out.rows.max)
}

// flush ends the row groups of a market.
func (m *mergeWriter) flush() error {
	return cmp.Or(m.write(&m.outputs[0]), m.write(&m.outputs[1]))
}

// checkRows compares the number of rows with the commits, if all are kept.
func (m *mergeWriter) checkRows() error {
	if m.keep != nil {
		return nil
	}
	var got, want int64
	for i := range m.outputs {
		if w := m.outputs[i].w; w != nil {
			got += w.Rows()
		}
	}
	for i := range m.files {
		want += m.files[i].Rows
	}
	if got != want {
		return fmt.Errorf("merge %s: %w: got %d rows, want %d as in the commits; run `dealflow verify --read-data`", path.Dir(m.files[0].Path), mirror.ErrNotCommitted, got, want)
	}
	return nil
}

// finish puts the files into the lake.
func (m *mergeWriter) finish(ctx context.Context) error {
	for i := range m.outputs {
		if w := m.outputs[i].w; w != nil {
			m.outputs[i].w = nil
			if err := w.Finish(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// end frees memory, and deletes the files that were not put into the lake.
func (m *mergeWriter) end() error {
	var errs []error
	for i := range m.outputs {
		if out := &m.outputs[i]; out.rows != nil {
			out.rows.release()
		}
		if out := &m.outputs[i]; out.w != nil {
			errs = append(errs, out.w.Abort())
		}
	}
	return errors.Join(errs...)
}

// Part is the rows of a market in a file.
type Part struct {
	File   lake.File
	Market api.Market
}

// TakeOut returns the paths of the files that leave the lake together with parts of them, sorted. Of a shared file of which
// some markets stay, it writes the rows that stay into a new file. The commit of tx must remove the paths.
func TakeOut(ctx context.Context, l *load.Lake, tx *load.Transaction, cache *mirror.Cache, parts []Part) (remove []string, err error) {
	files := map[string]*lake.File{}
	out := map[string][]api.Market{}
	for i := range parts {
		file := &parts[i].File
		files[file.Path], out[file.Path] = file, append(out[file.Path], parts[i].Market)
		remove = append(remove, file.Path)
	}
	slices.Sort(remove)
	remove = slices.Compact(remove)
	for _, name := range remove {
		file := files[name]
		stay := slices.DeleteFunc(file.Markets(), func(m api.Market) bool { return slices.Contains(out[name], m) })
		if len(stay) == 0 {
			continue
		}
		if err := merge(ctx, l, tx, merging{files: []lake.File{*file}, schema: file.SchemaVersion, keep: stay, cache: cache}); err != nil {
			return nil, fmt.Errorf("keep the rows of other markets in %s: %w; `dealflow replay --snapshots` replaces a damaged file", name, err)
		}
	}
	return append([]string{}, remove...), nil
}
