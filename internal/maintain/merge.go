package maintain

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// compactBytes is 64 MiB, the size from which a history file is large enough: it is not merged any more. Readers gain
// nothing from larger files, and a much smaller size would leave many files. It also bounds what each compaction writes
// again.
const compactBytes = 64 << 20

// compactFiles is the greatest number of files that are merged into one. All of them are open at once, and a merge
// without a bound might never reach its commit.
const compactFiles = 256

// compactable returns what a compaction would merge: groups of small history files of one table, market and year under
// the current schema. It skips a folder of the given year or a later one that has fewer than least small files. A
// folder of an earlier year gets no more files, so two are enough there.
func compactable(log *load.Log, year, least int) [][]lake.File {
	var groups [][]lake.File
	for _, small := range smallHistory(log) {
		folderYear, err := strconv.Atoi(small[0].Partition["year"])
		if past := err == nil && folderYear < year; past && len(small) >= 2 || len(small) >= max(least, 2) {
			groups = append(groups, portions(small, 2)...)
		}
	}
	return groups
}

// smallHistory lists the small history files of the current schema, by folder.
func smallHistory(log *load.Log) [][]lake.File {
	return folders(log, func(f *lake.File) bool {
		return strings.HasPrefix(f.Table, lake.HistoryTable("")) && f.SchemaVersion == lake.SchemaVersion && f.Bytes < compactBytes
	})
}

// folders lists the wanted live files, by folder.
func folders(log *load.Log, wanted func(*lake.File) bool) [][]lake.File {
	var folders [][]lake.File
	last := ""
	for _, f := range log.AllFiles() {
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

// portions splits files into groups that one merge can read. It omits groups of fewer than least files.
func portions(files []lake.File, least int) [][]lake.File {
	var groups [][]lake.File
	for len(files) > 0 {
		n, size := 0, int64(0)
		for n < len(files) && n < compactFiles && size < compactBytes {
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

// merge writes the rows of history files into one new file under the current schema, in the same order. The files are
// of one table, market and year, at most compactFiles of them. Rows of deal_versions then name the current schema
// version. A file whose bytes differ from what was committed is an error (mirror.ErrNotCommitted): its damage must not
// get into a file that looks sound.
func merge(ctx context.Context, l *load.Lake, tx *load.Transaction, files []lake.File) (err error) {
	copied, err := copyFiles(ctx, l, tx, files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.close()) }()
	w, columns, err := createMerged(tx, files[0])
	if err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			err = errors.Join(err, w.Abort())
		}
	}()
	rows := newRowBuffer(tx.Memory(), columns)
	defer rows.release()
	if err := copied.writeMerged(ctx, columns, rows, w); err != nil {
		return err
	}
	var want int64
	for _, f := range files {
		want += f.Rows
	}
	if w.Rows() != want {
		return fmt.Errorf("merge %s: %w: got %d rows, want %d as in the commits; run `dealflow verify --read-data`", path.Dir(files[0].Path), mirror.ErrNotCommitted, w.Rows(), want)
	}
	done = true
	return w.Finish(ctx)
}

// createMerged creates a file of the same table, market and year as an existing one.
func createMerged(tx *load.Transaction, existing lake.File) (*parquet.Writer, []lake.Column, error) {
	year, err := strconv.Atoi(existing.Partition["year"])
	if err != nil {
		return nil, nil, fmt.Errorf("merge %s: its commit names year %q, want a number; run `dealflow verify`", existing.Path, existing.Partition["year"])
	}
	w, err := tx.HistoryOf(strings.TrimPrefix(existing.Table, lake.HistoryTable("")), api.Market(existing.Partition["market"]), year)
	return w, lake.TableColumns(existing.Table), err
}

// writeMerged writes all rows in the order of their table, row group by row group.
func (c *copies) writeMerged(ctx context.Context, columns []lake.Column, rows *rowBuffer, w *parquet.Writer) error {
	flush := func() error {
		record := rows.take()
		defer record.Release()
		return w.Write(record, rows.min, rows.max)
	}
	last := parquet.RowKey{}
	for _, kind := range c.kinds() {
		err := c.each(ctx, kind, columns, func(r mergedRow) error {
			// The rows of a version stay in one row group, as in the files of a run.
			if !r.key.SameVersion(last) && rows.bytes >= parquet.RowGroupBytes {
				if err := flush(); err != nil {
					return err
				}
			}
			last = r.key
			rows.append(r)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return flush()
}

// outdatedVersions lists the files of a market's deal_versions that have an older schema version, in groups that merge
// can read.
func outdatedVersions(log *load.Log, market api.Market) [][]lake.File {
	var groups [][]lake.File
	for _, files := range folders(log, func(f *lake.File) bool {
		return f.Table == lake.HistoryTable(lake.DealVersions) && f.Partition["market"] == string(market) && f.SchemaVersion < lake.SchemaVersion
	}) {
		groups = append(groups, portions(files, 1)...)
	}
	return groups
}
