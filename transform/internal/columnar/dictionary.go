package columnar

import (
	"bytes"
	"hash/maphash"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// dictionary contains each text of a column once, numbered in the order of first appearance. That is also
// the order in the file, so the Parquet writer uses it unchanged; on a first run, for both snapshot and
// history. It is a hash table with open addressing.
type dictionary struct {
	texts Column
	room  int // rows reserved in texts
	slots []slot
	seed  maphash.Seed
	last  int // number of the text put last, which is often the next one too
}

// slot is an entry of the hash table. The number of slots is a power of two, and at least half of them
// are free.
type slot struct {
	hash  uint32
	from1 uint32 // number of its text, counted from 1; 0: free
}

func newDictionary(mem memory.Allocator) *dictionary {
	return &dictionary{texts: NewColumn(mem, arrow.BinaryTypes.String), seed: maphash.MakeSeed()}
}

// numberOf returns the number of a text, and adds the text if it is new.
func (d *dictionary) numberOf(text []byte) int {
	if d.last < d.texts.rows && bytes.Equal(d.texts.text(d.last), text) {
		return d.last
	}
	if 2*d.texts.rows >= len(d.slots) {
		d.grow()
	}
	hash := uint32(maphash.Bytes(d.seed, text))
	entry := d.find(hash, text)
	if entry.from1 == 0 {
		*entry = slot{hash: hash, from1: uint32(d.add(text))}
	}
	d.last = int(entry.from1) - 1
	return d.last
}

// find returns the slot of a text: a free one if the text is new.
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

// add appends a new text, and returns the number of texts.
func (d *dictionary) add(text []byte) int {
	if d.texts.rows == d.room {
		d.room = max(16, 2*d.room)
		d.texts.Reserve(d.room)
	}
	d.texts.Put(d.texts.rows, &Cell{Text: text})
	return d.texts.rows
}

// take returns the texts and empties the dictionary. The caller releases the array.
func (d *dictionary) take() arrow.Array {
	clear(d.slots)
	d.room, d.last = 0, 0
	return d.texts.Take(d.texts.rows)
}

func (d *dictionary) release() { d.texts.Release() }
