package parquet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"

	"dealflow/schemas/lake"
)

// RowGroupBytes is the approximate size of a row group in memory, 8 MiB, in which each row's text counts by itself. The
// caller writes a record when its rows have grown that large.
const RowGroupBytes = 8 << 20

// createdBy is the writer's identity in every file. It does not change with the program's version, because the same
// rows give the same bytes.
const createdBy = "dealflow lake format 1"

// PutFunc stores a finished file. It reads body from its start, and closes it when it needs it no more: that may be after it
// has returned.
type PutFunc func(ctx context.Context, file lake.File, body *Finished) error

// Finished is a complete local file. Close deletes it.
type Finished struct{ *os.File }

// Close closes and deletes the file.
func (f *Finished) Close() error { return errors.Join(f.File.Close(), os.Remove(f.Name())) }

// Writer writes one Parquet file to a local folder, then hands it to its PutFunc. It ends in exactly one of Finish or
// Abort. It is not safe for concurrent use.
type Writer struct {
	put     PutFunc
	file    lake.File
	disk    *os.File
	counter *countingWriter
	parquet *rowGroups
}

// Create begins a file with the given columns in workDir. file is the entry of the commit; Finish sets its rows, bytes,
// SHA-256 and deal_ids.
func Create(mem memory.Allocator, workDir string, file lake.File, columns []lake.Column, put PutFunc) (*Writer, error) {
	disk, err := os.CreateTemp(workDir, "*.parquet")
	if err != nil {
		return nil, fmt.Errorf("work folder: %w", err)
	}
	counter := &countingWriter{w: disk, hash: sha256.New()}
	groups, err := newRowGroups(mem, counter, columns)
	metadata := Metadata(file)
	for _, key := range metadataKeys {
		if err == nil {
			err = groups.footer.AppendKeyValueMetadata(key, metadata[key])
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", file.Path, err), disk.Close(), os.Remove(disk.Name()))
	}
	return &Writer{put: put, file: file, disk: disk, counter: counter, parquet: groups}, nil
}

// writerProperties determines how columns are encoded; more are added. A column either always has a dictionary or never: a chunk that
// falls back from its dictionary lists its encodings in a random order, and the bytes would differ from write to write.
// No row group reaches the dictionary's size limit.
func writerProperties(mem memory.Allocator, columns []lake.Column, more ...parquet.WriterProperty) *parquet.WriterProperties {
	properties := []parquet.WriterProperty{
		// Released memory must keep its content: statistics of wide decimals point into it until their column is
		// closed. Go's allocator leaves it to the garbage collector; an allocator that reuses it is wrong here.
		parquet.WithAllocator(mem),
		parquet.WithCreatedBy(createdBy),
		parquet.WithVersion(parquet.V2_6),
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithDictionaryDefault(true),
		parquet.WithDictionaryPageSizeLimit(1 << 40),
		parquet.WithStoreDecimalAsInteger(true),
		parquet.WithStats(true),
	}
	for i := range columns {
		if !columns[i].HasDictionary() {
			properties = append(properties, parquet.WithDictionaryFor(columns[i].Name, false))
		}
	}
	return parquet.NewWriterProperties(append(properties, more...)...)
}

// Write appends a record as one row group. The caller keeps the record. minDealID and maxDealID are the least and
// greatest deal_id of its rows.
func (w *Writer) Write(record arrow.Record, minDealID, maxDealID int64) error {
	if record.NumRows() == 0 {
		return nil
	}
	if err := cmp.Or(w.parquet.write(record), w.counter.err); err != nil {
		return fmt.Errorf("write %s: %w", w.file.Path, err)
	}
	w.count(record, minDealID, maxDealID)
	return nil
}

// WriteBoth is Write of a record into w, and of its first columns, which first has, into other. What both files have in
// common is encoded once: that is most of the work.
func (w *Writer) WriteBoth(record arrow.Record, other *Writer, first arrow.Record, minDealID, maxDealID int64) error {
	if record.NumRows() == 0 {
		return nil
	}
	if err := cmp.Or(w.parquet.writeBoth(record, other.parquet, first), w.counter.err, other.counter.err); err != nil {
		return fmt.Errorf("write %s and %s: %w", w.file.Path, other.file.Path, err)
	}
	w.count(record, minDealID, maxDealID)
	other.count(first, minDealID, maxDealID)
	return nil
}

// count adds rows to what the commit says of the file.
func (w *Writer) count(record arrow.Record, minDealID, maxDealID int64) {
	if w.file.Rows == 0 {
		w.file.MinDealID, w.file.MaxDealID = minDealID, maxDealID
	}
	w.file.Rows += record.NumRows()
	w.file.MinDealID, w.file.MaxDealID = min(w.file.MinDealID, minDealID), max(w.file.MaxDealID, maxDealID)
}

// Rows is the number of rows written so far.
func (w *Writer) Rows() int64 { return w.file.Rows }

// Finish completes the file and hands it to the PutFunc.
func (w *Writer) Finish(ctx context.Context) error {
	if err := cmp.Or(w.parquet.close(), w.counter.err); err != nil {
		return errors.Join(fmt.Errorf("finish %s: %w", w.file.Path, err), w.Abort())
	}
	w.file.Bytes = w.counter.n
	w.file.SHA256 = hex.EncodeToString(w.counter.hash.Sum(nil))
	return w.put(ctx, w.file, &Finished{w.disk})
}

// Abort deletes the file.
func (w *Writer) Abort() error { return (&Finished{w.disk}).Close() }

// countingWriter counts and hashes the bytes that it writes, up to the first error. It keeps that error from the
// Parquet writer, which does not return some errors, and after others panics when it is closed. It also hides the
// file's Close.
type countingWriter struct {
	w    io.Writer
	hash hash.Hash
	n    int64
	err  error // the first
}

func (c *countingWriter) Write(p []byte) (int, error) {
	if c.err == nil {
		var n int
		n, c.err = c.w.Write(p)
		c.hash.Write(p[:n])
		c.n += int64(n)
	}
	return len(p), nil
}
