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

// compactBytes is the size from which on a history file is large enough: it is merged with no other.
// Readers gain nothing from larger files, and a smaller size than the bound of row groups times some
// would leave many; and it bounds what each compaction writes again of what the one before wrote.
const compactBytes = 64 << 20

// compactFiles is how many files are merged into one at most. All of them are open at once, and a merge
// without bound might never come to its commit.
const compactFiles = 256

// compactable chooses what a compaction would merge: groups of small history files of one table, market
// and year under the current schema. A folder of the given year or a later one is left alone where it
// has fewer than least small files. Nothing more comes into one of an earlier year: it is merged for good.
func compactable(log *load.Log, year, least int) [][]lake.File {
	var groups [][]lake.File
	for _, small := range smallHistory(log) {
		of, err := strconv.Atoi(small[0].Partition["year"])
		if past := err == nil && of < year; past && len(small) >= 2 || len(small) >= max(least, 2) {
			groups = append(groups, portions(small, 2)...)
		}
	}
	return groups
}

// smallHistory lists small history files of the current schema, folder by folder.
func smallHistory(log *load.Log) [][]lake.File {
	return folders(log, func(f *lake.File) bool {
		return strings.HasPrefix(f.Table, lake.HistoryTable("")) && f.SchemaVersion == lake.SchemaVersion && f.Bytes < compactBytes
	})
}

// folders lists the live files that are wanted, folder by folder.
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

// portions splits files into groups that a merge can take; those of fewer than least files are left out.
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

// merge writes the rows of history files of one table, market and year, compactFiles of them at most,
// into one file under the current schema, sorted as in each of them. The rows of deal_versions then say
// that they are of the current schema. A file whose bytes are not what was committed is an error: damage
// must not be taken over into a file that looks sound (mirror.ErrNotCommitted).
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
		return fmt.Errorf("merge %s: %w: got %d rows of the %d that the commits name; run `dealflow verify --read-data`", path.Dir(files[0].Path), mirror.ErrNotCommitted, w.Rows(), want)
	}
	done = true
	return w.Finish(ctx)
}

// createMerged opens a file of the same table, market and year as another.
func createMerged(tx *load.Transaction, like lake.File) (*parquet.Writer, []lake.Column, error) {
	year, err := strconv.Atoi(like.Partition["year"])
	if err != nil {
		return nil, nil, fmt.Errorf("merge %s: its commit says year %q; run `dealflow verify`", like.Path, like.Partition["year"])
	}
	w, err := tx.HistoryOf(strings.TrimPrefix(like.Table, lake.HistoryTable("")), api.Market(like.Partition["market"]), year)
	return w, lake.TableColumns(like.Table), err
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

// outdatedVersions lists the files of deal_versions of a market that are of an older schema version, in
// groups that merge can take.
func outdatedVersions(log *load.Log, market api.Market) [][]lake.File {
	var groups [][]lake.File
	for _, files := range folders(log, func(f *lake.File) bool {
		return f.Table == lake.HistoryTable(lake.DealVersions) && f.Partition["market"] == string(market) && f.SchemaVersion < lake.SchemaVersion
	}) {
		groups = append(groups, portions(files, 1)...)
	}
	return groups
}
