package verify

import (
	"context"
	"errors"
	"fmt"

	"dealflow/load"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/load/verify/watchstore"
	"dealflow/schemas/lake"
)

// checkFiles checks each file that the log names as a unit: presence, size, footer and, if it is to be read, bytes. It
// counts the other files in the data folders as garbage.
func (v *verifier) checkFiles(ctx context.Context, files []lake.File) error {
	// The listing comes after the log: a file that is committed in between is not missing.
	listed, err := v.listFiles(ctx)
	if err != nil {
		return err
	}
	sizes := map[string]int64{}
	for _, objects := range listed {
		for _, object := range objects {
			if _, live := v.log.files[object.Key]; live {
				sizes[object.Key] = object.Size
				continue
			}
			v.garbage.Files++
			v.garbage.Bytes += object.Size
		}
	}
	return eachOf(ctx, len(files), v.filesAtOnce(), func(ctx context.Context, i int) error {
		size, present := sizes[files[i].Path]
		return v.checkFile(ctx, files[i], size, present)
	})
}

// filesAtOnce is the number of files that are checked at once: more of a store that may be far away.
func (v *verifier) filesAtOnce() int {
	if store.LocalPath(v.store) != "" {
		return v.cfg.Workers
	}
	return max(v.cfg.Workers, 16)
}

// listFiles lists the data folders, side by side.
func (v *verifier) listFiles(ctx context.Context) ([][]store.Object, error) {
	prefixes := lake.DataPrefixes()
	listed := make([][]store.Object, len(prefixes))
	return listed, eachOf(ctx, len(prefixes), len(prefixes), func(ctx context.Context, i int) (err error) {
		listed[i], err = store.Listed(ctx, v.store, prefixes[i])
		return err
	})
}

func (v *verifier) checkFile(ctx context.Context, f lake.File, size int64, present bool) error {
	fault := func(check Check, format string, args ...any) {
		v.markUnsound(f)
		v.report(Finding{Check: check, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf(format, args...)})
	}
	shape, err := shapeOf(f, v.log.Format)
	switch {
	case errors.Is(err, errLaterTable):
		v.report(Finding{Check: NotChecked, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf("%v: the file has schema version %d, and this program knows only up to %d: its rows were not checked", err, f.SchemaVersion, lake.SchemaVersion)})
	case err != nil:
		fault(FilePath, "%v", err)
	}
	shaped := err == nil
	switch {
	case !present:
		fault(FilePresent, "the log names the file, but it does not exist")
		return nil
	case size != f.Bytes:
		fault(FileSize, "got %d bytes, want %d as in the commit", size, f.Bytes)
		return nil
	}
	if v.cfg.reads(f.Path) {
		if err := v.checkBytes(ctx, f); err != nil { // first: from then on there may be a local copy
			return err
		}
	}
	if shaped && f.Table != lake.QuarantineTable {
		if err := v.checkFooter(ctx, f, shape); err != nil {
			return err
		}
	}
	switch {
	case !v.cfg.reads(f.Path) || !shaped || !v.isSound(f):
		return nil
	case f.Table == lake.QuarantineTable:
		return v.checkQuarantine(ctx, f)
	case !v.cfg.full():
		return v.checkRowsAlone(ctx, f, shape)
	}
	return nil
}

// checkBytes compares the SHA-256 of a file's bytes with its commit.
func (v *verifier) checkBytes(ctx context.Context, f lake.File) error {
	watch := watchstore.New(v.store)
	sum, n, err := v.files.Hash(ctx, watch, &f)
	v.bytes.Add(n)
	if err != nil {
		return v.recordReadError(ctx, f, watch, err)
	}
	v.whole.Add(1)
	if sum != f.SHA256 {
		v.markUnsound(f)
		v.report(Finding{Check: FileHash, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf("got SHA-256 %.12s, want %.12s as in the commit", sum, f.SHA256)})
	}
	return nil
}

// checkQuarantine checks the records of a quarantine file.
func (v *verifier) checkQuarantine(ctx context.Context, f lake.File) error {
	watch := watchstore.New(v.files)
	records, err := load.ReadQuarantine(ctx, watch, f.Path)
	if err != nil {
		return v.recordReadError(ctx, f, watch, err)
	}
	v.rows.Add(int64(len(records)))
	if int64(len(records)) != f.Rows {
		v.report(Finding{Check: FileRows, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf("got %d records, want %d as in the commit", len(records), f.Rows)})
	}
	for i := range records {
		if feed := records[i].Feed.String(); feed != f.Partition["feed"] {
			v.report(Finding{Check: RowPartition, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf("record %d: got feed %s, want %s as in the commit", i+1, feed, f.Partition["feed"])})
		}
	}
	return nil
}

// checkFooter compares a file's footer with its commit and its table.
func (v *verifier) checkFooter(ctx context.Context, f lake.File, shape *shape) error {
	watch := watchstore.New(v.files)
	foot, err := parquet.ReadFooter(ctx, watch, f.Path)
	if err != nil {
		return v.recordReadError(ctx, f, watch, err)
	}
	fault := func(check Check, format string, args ...any) {
		v.report(Finding{Check: check, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf(format, args...)})
	}
	if foot.Rows != f.Rows {
		fault(FileRows, "the footer has %d rows, want %d as in the commit", foot.Rows, f.Rows)
	}
	for _, d := range parquet.MetadataDifferences(foot.Metadata, f, v.log.Format) {
		fault(FileMetadata, "%s", d)
	}
	if f.SchemaVersion > lake.SchemaVersion {
		fault(NotChecked, "the file has schema version %d, but this program knows only up to %d: the columns that came later were not checked", f.SchemaVersion, lake.SchemaVersion)
	}
	if difference := shape.difference(foot.Schema, f.SchemaVersion); difference != "" {
		v.markUnsound(f)
		fault(FileSchema, "%s", difference)
	}
	return nil
}
