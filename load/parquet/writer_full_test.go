package parquet

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/internal/testkit"
	"dealflow/schemas/lake"
)

var errFull = errors.New("no space left")

// fullOnce fails one write, after a given number of successful ones, and no other.
type fullOnce struct {
	w    io.Writer
	left int
}

func (f *fullOnce) Write(p []byte) (int, error) {
	if f.left--; f.left == -1 {
		return 0, errFull
	}
	return f.w.Write(p)
}

// TestEveryFailedWriteIsSeen lets each write to the disk fail in turn, of one file and of two that are written together: the
// writer returns an error, keeps no memory and leaves no file.
func TestEveryFailedWriteIsSeen(t *testing.T) {
	mem := testkit.Allocator(t)
	work := t.TempDir()
	put := func(_ context.Context, _ lake.File, body *Finished) error { return body.Close() }
	table := lake.Tables()[1] // a small one
	builder := array.NewRecordBuilder(mem, lake.BatchSchema(table.SnapshotColumns()))
	defer builder.Release()
	for _, field := range builder.Fields() {
		field.AppendEmptyValue()
	}
	record := builder.NewRecord()
	defer record.Release()
	first := lake.Batch{Table: table, Record: record}.History().Record
	defer first.Release()
	create := func(columns []lake.Column) *Writer {
		w, err := Create(mem, work, lake.File{Table: table.Name}, columns, put)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	for name, files := range map[string]func() (write func() error, all []*Writer){
		"one file": func() (func() error, []*Writer) {
			w := create(table.SnapshotColumns())
			return func() error { return w.Write(record, 1, 1) }, []*Writer{w}
		},
		"the first of two": func() (func() error, []*Writer) {
			w, other := create(table.SnapshotColumns()), create(table.HistoryColumns())
			return func() error { return w.WriteBoth(record, other, first, 1, 1) }, []*Writer{w, other}
		},
		"the second of two": func() (func() error, []*Writer) {
			w, other := create(table.SnapshotColumns()), create(table.HistoryColumns())
			return func() error { return w.WriteBoth(record, other, first, 1, 1) }, []*Writer{other, w}
		},
	} {
		for writes := 0; ; writes++ {
			write, all := files()
			disk := &fullOnce{w: all[0].counter.w, left: writes}
			all[0].counter.w = disk
			err := write()
			for _, w := range all {
				if err != nil {
					err = errors.Join(err, w.Abort())
				} else {
					err = w.Finish(t.Context())
				}
			}
			if disk.left >= 0 { // none failed
				if err != nil || writes < len(table.Columns) {
					t.Errorf("%s: got %v after %d writes", name, err, writes)
				}
				break
			}
			if !errors.Is(err, errFull) {
				t.Errorf("%s: write %d failed: got %v", name, writes, err)
			}
		}
	}
	if files, err := os.ReadDir(work); err != nil || len(files) != 0 {
		t.Errorf("the work folder contains %v, %v", files, err)
	}
}
