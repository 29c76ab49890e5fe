package jsonread

import (
	"bytes"
	"hash/maphash"
)

// Members is an object whose names go to Reader.Distinct.
type Members int

// EnterObject begins such an object.
func (r *Reader) EnterObject() Members { return Members(len(r.names.stack)) }

// Distinct stops the reader where the name that was read last came before in the object, whatever its
// spelling. The object must be the innermost one entered.
func (r *Reader) Distinct(object Members) {
	if r.fault == nil && !r.names.add(object, r) {
		r.FailDuplicate()
	}
}

// LeaveObject forgets the names of the object entered last.
func (r *Reader) LeaveObject(object Members) { r.names.leave(object) }

// names are the names met in the objects that are open: a hash table with open addressing. Names leave
// it in the reverse order of their coming; so each leaves the table as it found it, and emptying a slot
// never breaks the chain of another. The seed is random: nobody can write names that all fall into one
// chain.
type names struct {
	seed  maphash.Seed
	slots []int // places in stack, counted from 1; 0 is free, as at least half of them are
	stack []name
	arena []byte // texts that had to be unescaped
}

type name struct {
	object Members
	text   []byte
	slot   int
	arena  int // size of the arena before it
}

// add says whether the name read last is new in its object, and if so keeps it.
func (n *names) add(object Members, r *Reader) bool {
	if 2*len(n.stack) >= len(n.slots) {
		n.grow()
	}
	entry := name{object: object, arena: len(n.arena)}
	entry.text, n.arena, _ = r.Text(n.arena)
	entry.slot = n.find(&entry)
	if n.slots[entry.slot] != 0 {
		return false
	}
	n.stack = append(n.stack, entry)
	n.slots[entry.slot] = len(n.stack)
	return true
}

// find is the slot of a name: the one that holds it, or the free one at the end of its chain.
func (n *names) find(wanted *name) int {
	mask := len(n.slots) - 1
	slot := (int(maphash.Bytes(n.seed, wanted.text)) + int(wanted.object)) & mask
	for ; n.slots[slot] != 0; slot = (slot + 1) & mask {
		other := &n.stack[n.slots[slot]-1]
		if other.object == wanted.object && bytes.Equal(other.text, wanted.text) {
			break
		}
	}
	return slot
}

// leave drops the names of an object and of those inside it.
func (n *names) leave(object Members) {
	if len(n.stack) == int(object) {
		return
	}
	for i := len(n.stack) - 1; i >= int(object); i-- {
		n.slots[n.stack[i].slot] = 0
	}
	n.arena = n.arena[:n.stack[object].arena]
	n.stack = n.stack[:object]
}

// grow doubles the table. The names come into it in the order in which they came before.
func (n *names) grow() {
	if n.slots == nil {
		n.seed = maphash.MakeSeed()
	}
	n.slots = make([]int, max(64, 2*len(n.slots)))
	for i := range n.stack {
		n.stack[i].slot = n.find(&n.stack[i])
		n.slots[n.stack[i].slot] = i + 1
	}
}
