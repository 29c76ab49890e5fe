package transform

import (
	"bytes"
	"hash/maphash"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// dictionary holds each text of a column once, and numbers them in the order in which they first come: that of
// the dictionary in a file, so that the writer takes it as it is, and on a first night for two files. It is a hash
// table with open addressing.
type dictionary struct {
	texts column
	room  int // texts that there is room for
	slots []slot
	seed  maphash.Seed
	last  int // number of the text that came last: often the next one
}

// slot of the table. Their number is a power of two, and at least half of them are free.
type slot struct {
	hash  uint32
	from1 uint32 // number of its text, counted from 1; 0: free
}

func newDictionary(mem memory.Allocator) *dictionary {
	return &dictionary{texts: newColumn(mem, arrow.BinaryTypes.String), seed: maphash.MakeSeed()}
}

// number gives the number of a text.
func (d *dictionary) number(text []byte) int {
	if d.last < d.texts.rows && bytes.Equal(d.texts.text(d.last), text) {
		return d.last
	}
	if 2*d.texts.rows >= len(d.slots) {
		d.grow()
	}
	hash := uint32(maphash.Bytes(d.seed, text))
	at := d.find(hash, text)
	if at.from1 == 0 {
		*at = slot{hash: hash, from1: uint32(d.add(text))}
	}
	d.last = int(at.from1) - 1
	return d.last
}

// find gives the slot of a text: a free one if it has none yet.
func (d *dictionary) find(hash uint32, text []byte) *slot {
	mask := uint32(len(d.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &d.slots[i]
		if s.from1 == 0 || s.hash == hash && bytes.Equal(d.texts.text(int(s.from1)-1), text) {
			return s
		}
	}
}

// grow doubles the table.
func (d *dictionary) grow() {
	old := d.slots
	d.slots = make([]slot, max(64, 2*len(old)))
	mask := uint32(len(d.slots) - 1)
	for _, s := range old {
		if s.from1 == 0 {
			continue
		}
		i := s.hash & mask
		for d.slots[i].from1 != 0 {
			i = (i + 1) & mask
		}
		d.slots[i] = s
	}
}

// add puts a new text behind the others, and gives how many there are.
func (d *dictionary) add(text []byte) int {
	if d.texts.rows == d.room {
		d.room = max(16, 2*d.room)
		d.texts.reserve(d.room)
	}
	d.texts.put(d.texts.rows, &cell{text: text})
	return d.texts.rows
}

// take gives the texts and starts afresh. The caller releases the array.
func (d *dictionary) take() arrow.Array {
	clear(d.slots)
	d.room, d.last = 0, 0
	return d.texts.take(d.texts.rows)
}

func (d *dictionary) release() { d.texts.release() }
