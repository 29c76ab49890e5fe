package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"dealflow/load"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// checkFiles checks each file that the log names as a unit: presence, size, footer and, if it is to be read, bytes. It
// counts the other files in the data folders as garbage.
func (v *verifier) checkFiles(ctx context.Context, files []lake.File) error {
	// The listing comes after the log: a file that is committed in between is not missing.
	sizes := map[string]int64{}
	for _, prefix := range lake.DataPrefixes() {
		for object, err := range v.store.List(ctx, prefix) {
			if err != nil {
				return err
			}
			if _, live := v.log.files[object.Key]; live {
				sizes[object.Key] = object.Size
				continue
			}
			v.garbage.Files++
			v.garbage.Bytes += object.Size
		}
	}
	return v.each(ctx, len(files), func(ctx context.Context, i int) error {
		size, present := sizes[files[i].Path]
		return v.checkFile(ctx, files[i], size, present)
	})
}

func (v *verifier) checkFile(ctx context.Context, f lake.File, size int64, present bool) error {
	fault := func(check Check, format string, args ...any) {
		v.markUnsound(f)
		v.report(Finding{Check: check, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf(format, args...)})
	}
	shape, err := shapeOf(f, v.log.Format)
	if err != nil {
		fault(FilePath, "%v", err)
	}
	switch {
	case !present:
		fault(FilePresent, "the log names the file, but it does not exist")
		return nil
	case size != f.Bytes:
		fault(FileSize, "got %d bytes, want %d as in the commit", size, f.Bytes)
		return nil
	}
	if err == nil && f.Table != lake.QuarantineTable {
		if err := v.checkFooter(ctx, f, shape); err != nil {
			return err
		}
	}
	if !v.cfg.reads(f.Path) {
		return nil
	}
	if err := v.checkBytes(ctx, f); err != nil {
		return err
	}
	switch {
	case !v.isSound(f):
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
	watch := watchStore(v.store)
	sum, n, err := hashObject(ctx, watch, f.Path)
	v.files.Add(1)
	v.bytes.Add(n)
	if err != nil {
		return v.recordReadError(ctx, f, watch, err)
	}
	if sum != f.SHA256 {
		v.markUnsound(f)
		v.report(Finding{Check: FileHash, Path: f.Path, Table: f.Table, Detail: fmt.Sprintf("got SHA-256 %.12s, want %.12s as in the commit", sum, f.SHA256)})
	}
	return nil
}

func hashObject(ctx context.Context, s store.Store, key string) (sum string, n int64, err error) {
	r, err := s.Get(ctx, key)
	if err != nil {
		return "", 0, err
	}
	defer r.Close() // read-only: a failing close loses nothing
	hash := sha256.New()
	n, err = io.Copy(hash, contextReader{ctx, r})
	return hex.EncodeToString(hash.Sum(nil)), n, err
}

// contextReader fails with the context's error after the context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// checkQuarantine checks the records of a quarantine file.
func (v *verifier) checkQuarantine(ctx context.Context, f lake.File) error {
	watch := watchStore(v.store)
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
	watch := watchStore(v.store)
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
