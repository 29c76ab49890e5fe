package parquet

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// GroupDeals is what a file's statistics say of a row group's deals.
type GroupDeals struct {
	Rows      int64
	MinDealID int64
	MaxDealID int64
}

// GroupDeals returns the number of rows of each row group, and the range of their deal_ids.
func (f *File) GroupDeals() ([]GroupDeals, error) {
	meta := f.footer.MetaData()
	column := meta.Schema.ColumnIndexByName("deal_id")
	if column < 0 {
		return nil, fmt.Errorf("read %s: no column deal_id", f.key)
	}
	groups := make([]GroupDeals, len(meta.RowGroups))
	for g := range groups {
		least, greatest, known, err := bounds64(meta.RowGroup(g), column)
		if err == nil && !known {
			err = errors.New("no statistics of deal_id")
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: row group %d: %w", f.key, g, err)
		}
		groups[g] = GroupDeals{meta.RowGroups[g].NumRows, least, greatest}
	}
	return groups, nil
}

// ErrTaken means that a row group of another file cannot be taken over.
var ErrTaken = errors.New("the rows cannot be taken over")

// TakeOver writes a row group of another file as it is: its pages are copied, and what that file says of them. Only the last
// columns, which rest has, are encoded. Both files have the same columns. The caller keeps rest. The bytes are those
// that Write gives for the same rows. After an error the file is useless; one that wraps ErrTaken is of the other file.
func (w *Writer) TakeOver(from *File, group int, deals GroupDeals, rest arrow.Record) error {
	if err := cmp.Or(w.parquet.takeOverGroup(from, group, rest), w.counter.err); err != nil {
		return fmt.Errorf("write %s: %w", w.file.Path, err)
	}
	w.count(rest, deals.MinDealID, deals.MaxDealID)
	return nil
}

// takeOverGroup writes a row group of another file with the same columns; the last ones are those of rest.
func (g *rowGroups) takeOverGroup(from *File, number int, rest arrow.Record) error {
	meta := from.footer.MetaData()
	described := meta.RowGroups[number]
	taken := len(described.Columns) - int(rest.NumCols())
	if !meta.Schema.Equals(g.schema) || taken < 1 {
		return fmt.Errorf("%w: %s has other columns", ErrTaken, from.key)
	}
	if described.NumRows != rest.NumRows() {
		return fmt.Errorf("%w: row group %d of %s has %d rows, its new columns %d", ErrTaken, number, from.key, described.NumRows, rest.NumRows())
	}
	chunks := make([]chunk, taken)
	for i := range chunks {
		c := &chunks[i]
		c.described = metadata.NewColumnChunkMetaDataBuilder(g.properties, g.schema.Column(i))
		*c.described.Contents() = *described.Columns[i]
		pages := described.Columns[i].MetaData
		// FileOffset is the end of the pages.
		c.begin, c.size = described.Columns[i].FileOffset-pages.TotalCompressedSize, pages.TotalCompressedSize
	}
	first, last := chunks[0].begin, described.Columns[taken-1].FileOffset
	if first < int64(len(magic)) || last < first {
		return fmt.Errorf("%w: row group %d of %s: its columns are not in order", ErrTaken, number, from.key)
	}
	encoded := make([]byte, last-first)
	if n, err := from.content.ReadAt(encoded, first); n < len(encoded) {
		return fmt.Errorf("%w: read %s: %w", ErrTaken, from.key, err)
	}
	group := g.begin()
	for i := range chunks {
		place := chunks[i].begin - first
		if place < 0 || place > int64(len(encoded)) {
			return fmt.Errorf("%w: row group %d of %s: its columns are not in order", ErrTaken, number, from.key)
		}
		if err := group.takeOver(chunks[i], encoded[place:]); err != nil {
			return err
		}
	}
	for _, column := range rest.Columns() {
		if _, err := group.encode(column); err != nil {
			return err
		}
	}
	return group.end(rest.NumRows())
}
