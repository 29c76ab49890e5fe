package load

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"dealflow/load/mirror"
	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// CompactBytes is the size from which on a history file is large enough: it is merged with no other.
// Readers gain nothing from larger files, and a smaller size than the bound of row groups times some
// would leave many; and it bounds what each compaction writes again of what the one before wrote.
const CompactBytes = 64 << 20

// CompactFiles is how many files are merged into one at most. All of them are open at once, and a merge
// without bound might never come to its commit.
const CompactFiles = 256

// Compactable chooses what a compaction would merge: groups of small history files of one table, market
// and year under the current schema. A folder of the given year or a later one is left alone where it
// has fewer than least small files. Nothing more comes into one of an earlier year: it is merged for good.
func (g *Log) Compactable(year, least int) [][]lake.File {
	var groups [][]lake.File
	for _, small := range g.smallHistory() {
		of, err := strconv.Atoi(small[0].Partition["year"])
		if past := err == nil && of < year; past && len(small) >= 2 || len(small) >= max(least, 2) {
			groups = append(groups, portions(small, 2)...)
		}
	}
	return groups
}

// smallHistory lists small history files of the current schema, folder by folder.
func (g *Log) smallHistory() [][]lake.File {
	return g.folders(func(f *lake.File) bool {
		return strings.HasPrefix(f.Table, lake.HistoryTable("")) && f.SchemaVersion == lake.SchemaVersion && f.Bytes < CompactBytes
	})
}

// folders lists the live files that are wanted, folder by folder.
func (g *Log) folders(wanted func(*lake.File) bool) [][]lake.File {
	var folders [][]lake.File
	last := ""
	for _, f := range g.AllFiles() {
		if !wanted(&f) {
			continue
		}
		if folder := path.Dir(f.Path); folder != last {
			folders, last = append(folders, nil), folder
		}
		folders[len(folders)-1] = append(folders[len(folders)-1], f)
	}
	return folders
}

// portions splits files into groups that a merge can take; those of fewer than least files are left out.
func portions(files []lake.File, least int) [][]lake.File {
	var groups [][]lake.File
	for len(files) > 0 {
		n, size := 0, int64(0)
		for n < len(files) && n < CompactFiles && size < CompactBytes {
			size += files[n].Bytes
			n++
		}
		if n >= least {
			groups = append(groups, files[:n])
		}
		files = files[n:]
	}
	return groups
}

// Live says whether a file is part of the lake.
func (g *Log) Live(path string) bool {
	_, live := g.files[path]
	return live
}

// LiveFile finds a file that is part of the lake.
func (g *Log) LiveFile(path string) (lake.File, bool) {
	file, live := g.files[path]
	return file, live
}

// HistoryOf opens a file of a table's history of a given year.
func (r *Run) HistoryOf(table *lake.Table, market api.Market, year int) (*parquet.Writer, error) {
	return r.history(table.Name, market, year, table.HistoryColumns())
}

// Merge writes the rows of history files of one table, market and year, CompactFiles of them at most,
// into one file under the current schema, sorted as in each of them. The rows of deal_versions then say
// that they are of the current schema. A file whose bytes are not what was committed is an error: damage
// must not be taken over into a file that looks sound (mirror.ErrNotCommitted).
func (r *Run) Merge(ctx context.Context, files []lake.File) (err error) {
	copies, err := r.Copies(ctx, files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copies.Close()) }()
	w, columns, err := r.mergeInto(files[0])
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			err = errors.Join(err, w.Abort())
		}
	}()
	rows := newRowBuffer(r.mem, columns)
	defer rows.release()
	if err := copies.merge(ctx, columns, rows, w); err != nil {
		return err
	}
	var want int64
	for _, f := range files {
		want += f.Rows
	}
	if w.Rows() != want {
		return fmt.Errorf("merge %s: %w: got %d rows of the %d that the commits name; run `dealflow verify --read-data`", path.Dir(files[0].Path), mirror.ErrNotCommitted, w.Rows(), want)
	}
	done = true
	return w.Finish(ctx)
}

// mergeInto opens a file beside the one given.
func (r *Run) mergeInto(of lake.File) (*parquet.Writer, []lake.Column, error) {
	name := strings.TrimPrefix(of.Table, lake.HistoryTable(""))
	columns := lake.DealVersionColumns()
	if table, ok := lake.TableByName(name); ok {
		columns = table.HistoryColumns()
	}
	year, err := strconv.Atoi(of.Partition["year"])
	if err != nil {
		return nil, nil, fmt.Errorf("merge %s: its commit says year %q; run `dealflow verify`", of.Path, of.Partition["year"])
	}
	w, err := r.history(name, api.Market(of.Partition["market"]), year, columns)
	return w, columns, err
}

// merge writes all rows in the order of their table, row group by row group.
func (c *Copies) merge(ctx context.Context, columns []lake.Column, rows *rowBuffer, w *parquet.Writer) error {
	flush := func() error {
		record := rows.take()
		defer record.Release()
		return w.Write(record, rows.min, rows.max)
	}
	last := parquet.RowKey{}
	for _, kind := range c.kinds() {
		err := c.each(ctx, kind, columns, func(at merged) error {
			// The rows of a version are not torn apart, as in the files of a run.
			if !at.key.SameVersion(last) && rows.bytes >= parquet.RowGroupBytes {
				if err := flush(); err != nil {
					return err
				}
			}
			last = at.key
			rows.append(at)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return flush()
}
