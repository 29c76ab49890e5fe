package columnar

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// Cell is one value for a row of a Column. The column's type decides which field is read.
type Cell struct {
	Set  bool           // the row is not NULL; the caller puts only such cells
	Text []byte         // UTF-8: strings and dictionaries of strings
	N    int64          // booleans (0 is false), integers, dates (days) and timestamps (µs)
	Num  decimal128.Num // decimals, unscaled
}

// Column collects the cells of one column in the layout of an Arrow array, and is reused from array to
// array. A row that is not put is NULL and costs almost nothing: most cells of a deal are NULL, and
// Arrow's own builders need a call per NULL. It is not safe for concurrent use.
type Column struct {
	layout layout
	rows   int    // number of rows up to the last one put
	values int    // number of rows that are not NULL
	size   int    // bytes of texts
	valid  buffer // one bit per row
	fixed  buffer // the layout's part of each row
	texts  buffer
	dict   *dictionary // nil in a column without one

	typ   arrow.DataType
	mem   memory.Allocator
	taken int // bytes of texts in the previous batch
}

// NewColumn returns an empty column of a type: values of 1, 32, 64 or 128 bits, strings, or a dictionary of strings
// with 32-bit indices. mem allocates all memory of the arrays; Release frees what was not taken.
func NewColumn(mem memory.Allocator, typ arrow.DataType) Column {
	c := Column{typ: typ, layout: layoutOf(typ), mem: mem}
	if c.layout == numbers {
		c.dict = newDictionary(mem)
	}
	return c
}

// Reserve allocates memory for a total number of rows. Only bits are set to zero in advance: doing that for a complete
// batch would drive everything else out of the processor's caches.
func (c *Column) Reserve(rows int) {
	c.valid.reserveZero(c.mem, bitmapBytes(rows))
	if c.layout == bits1 {
		c.fixed.reserveZero(c.mem, bitmapBytes(rows))
		return
	}
	c.fixed.reserve(c.mem, c.layout.bytes(rows))
}

// Put sets a row, which must come after all rows put before and be less than the number reserved. The text is copied.
func (c *Column) Put(row int, v *Cell) {
	c.fillNulls(row)
	c.rows++
	c.values++
	c.valid.setBit(row)
	switch c.layout {
	case bits1:
		if v.N != 0 {
			c.fixed.setBit(row)
		}
	case bits32:
		binary.NativeEndian.PutUint32(c.fixed.bytes[4*row:], uint32(v.N))
	case bits64:
		binary.NativeEndian.PutUint64(c.fixed.bytes[8*row:], uint64(v.N))
	case bits128:
		binary.NativeEndian.PutUint64(c.fixed.bytes[16*row:], v.Num.LowBits())
		binary.NativeEndian.PutUint64(c.fixed.bytes[16*row+8:], uint64(v.Num.HighBits()))
	case numbers:
		binary.NativeEndian.PutUint32(c.fixed.bytes[4*row:], uint32(c.dict.numberOf(v.Text)))
	case offsets:
		c.putOffset(row)
		c.putText(v.Text)
	}
}

func (c *Column) putText(text []byte) {
	if end := c.size + len(text); end > len(c.texts.bytes) {
		// As many bytes as in the previous batch and an eighth more, or twice the current size.
		c.texts.reserve(c.mem, max(c.taken+c.taken/8, 2*end))
	}
	c.size += copy(c.texts.bytes[c.size:], text)
}

// putOffset records that the text of a row begins at the current end of the texts.
func (c *Column) putOffset(row int) {
	binary.NativeEndian.PutUint32(c.fixed.bytes[4*row:], uint32(c.size))
}

// text returns the text of a row that was put. It is valid until the next Put.
func (c *Column) text(row int) []byte {
	end := c.size
	if row+1 < c.rows {
		end = c.offset(row + 1)
	}
	return c.texts.bytes[c.offset(row):end]
}

func (c *Column) offset(row int) int { return int(binary.NativeEndian.Uint32(c.fixed.bytes[4*row:])) }

// fillNulls makes the rows NULL that were not put before row.
func (c *Column) fillNulls(row int) {
	switch {
	case c.rows == row:
		return
	case c.layout == offsets:
		for ; c.rows < row; c.rows++ {
			c.putOffset(c.rows)
		}
	case c.layout != bits1:
		clear(c.fixed.bytes[c.layout.bytes(c.rows):c.layout.bytes(row)])
	}
	c.rows = row
}

// Take returns the first rows and empties the column. Rows after the last one put are NULL. The caller releases the
// array.
func (c *Column) Take(rows int) arrow.Array {
	c.fillNulls(rows)
	if c.layout == offsets && rows > 0 {
		c.putOffset(rows)
	}
	buffers := []*memory.Buffer{c.valid.take(bitmapBytes(rows)), c.fixed.take(c.layout.bytes(rows))}
	if c.layout == offsets {
		buffers = append(buffers, c.texts.take(c.size))
	}
	data := array.NewData(c.typ, rows, buffers, nil, rows-c.values, 0)
	defer data.Release()
	for _, b := range buffers {
		b.Release() // data keeps its own reference
	}
	if c.dict != nil {
		texts := c.dict.take()
		defer texts.Release()
		data.SetDictionary(texts.Data())
	}
	c.taken, c.rows, c.values, c.size = c.size, 0, 0, 0
	return array.MakeFromData(data)
}

// Release frees the rows that were not taken.
func (c *Column) Release() {
	for _, b := range []*buffer{&c.valid, &c.fixed, &c.texts} {
		b.take(0).Release()
	}
	if c.dict != nil {
		c.dict.release()
	}
}

// layout is what the fixed part of a column contains for a row.
type layout uint8

const (
	bits1 layout = iota // a value; the name contains its size in bits
	bits32
	bits64
	bits128
	numbers // number of the text in the column's dictionary, in 32 bits
	offsets // start of the row's text, in 32 bits; after the last row, the end of its text
)

// layoutOf returns the layout of a type that a flattened table may have.
func layoutOf(typ arrow.DataType) layout {
	switch typ := typ.(type) {
	case *arrow.DictionaryType:
		return numbers
	case arrow.FixedWidthDataType:
		return map[int]layout{1: bits1, 32: bits32, 64: bits64, 128: bits128}[typ.BitWidth()]
	default:
		return offsets
	}
}

// bytes returns the size in bytes of the fixed part of a number of rows.
func (l layout) bytes(rows int) int {
	switch l {
	case bits32, numbers:
		return 4 * rows
	case bits64:
		return 8 * rows
	case bits128:
		return 16 * rows
	case offsets:
		return 4 * (rows + 1)
	default:
		return bitmapBytes(rows)
	}
}

func bitmapBytes(rows int) int { return (rows + 7) / 8 }
