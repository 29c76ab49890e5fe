package parquet

import (
	"cmp"
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
)

// TextsAt reads text columns at some rows of the file. rows are sorted numbers of rows in the file, from 0, each once. yield gets the
// index of a row in rows, and its texts in the order of columns: nil is NULL. They are valid during the call only. An error of
// yield ends the reading.
//
// The texts are not copied to Arrow arrays: where few rows are wanted, that is most of the work of a Scan.
func (f *File) TextsAt(ctx context.Context, columns []string, rows []int64, yield func(i int, texts [][]byte) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("read %s: %w", f.key, err)
		}
	}()
	indices, err := f.indices(columns)
	if err != nil {
		return err
	}
	texts := make([][]byte, len(columns))
	var begin, end int64 // of the row group
	for g, i := 0, 0; i < len(rows); g, begin = g+1, end {
		if g == f.footer.NumRowGroups() {
			return fmt.Errorf("no row %d: the file has %d", rows[i], end)
		}
		group := f.footer.RowGroup(g)
		if end = begin + group.NumRows(); rows[i] >= end {
			continue
		}
		cursors := make([]*cursor, len(columns))
		for c, index := range indices {
			if cursors[c], err = newCursor(group, index); err != nil {
				return fmt.Errorf("row group %d: %w", g, err)
			}
		}
		for ; i < len(rows) && rows[i] < end; i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			for c := range cursors {
				if texts[c], err = cursors[c].at(rows[i] - begin); err != nil {
					return fmt.Errorf("row group %d, column %s, row %d: %w", g, columns[c], rows[i]-begin, err)
				}
			}
			if err := yield(i, texts); err != nil {
				return err
			}
		}
	}
	return nil
}

// cursor reads one text after the other of a column in a row group, forwards only.
type cursor struct {
	column *file.ByteArrayColumnChunkReader
	next   int64 // row
	texts  [256]parquet.ByteArray
	levels [256]int16
}

func newCursor(group *file.RowGroupReader, index int) (*cursor, error) {
	column, err := group.Column(index)
	if err != nil {
		return nil, err
	}
	texts, ok := column.(*file.ByteArrayColumnChunkReader)
	if !ok {
		return nil, fmt.Errorf("column %s has %s, want texts", column.Descriptor().Name(), column.Type())
	}
	return &cursor{column: texts}, nil
}

// at returns the text of a row, nil for NULL. It is valid until the next call.
func (c *cursor) at(row int64) ([]byte, error) {
	if row < c.next {
		return nil, fmt.Errorf("asked after row %d: rows are not sorted", c.next-1)
	}
	// Rows are skipped by reading them: the library's Skip puts levels and texts into the same memory, where the garbage
	// collector can take a level for part of a pointer, and ends the program.
	for c.next < row {
		if _, err := c.read(row - c.next); err != nil {
			return nil, err
		}
	}
	// One at a time, because a batch may end in another page than it begins, and a page is overwritten by the next.
	present, err := c.read(1)
	switch {
	case err != nil:
		return nil, err
	case present == 0:
		return nil, nil
	case c.texts[0] == nil:
		return []byte{}, nil
	}
	return c.texts[0], nil
}

// read reads at most this number of rows, and returns how many of them are not NULL.
func (c *cursor) read(most int64) (present int, err error) {
	read, present, err := c.column.ReadBatch(min(most, int64(len(c.texts))), c.texts[:], c.levels[:], nil)
	if err == nil && read == 0 { // ReadBatch itself does not return the error of a page that cannot be read
		err = cmp.Or(c.column.Err(), fmt.Errorf("the column ends after %d rows", c.next))
	}
	c.next += read
	return present, err
}
