package jsonread

import (
	"bytes"
	"hash/maphash"
)

// Members identifies an open object whose names are checked by Reader.Distinct.
type Members int

// EnterObject opens such an object. The caller closes it with LeaveObject.
func (r *Reader) EnterObject() Members { return Members(len(r.names.stack)) }

// Distinct stops the reader if the name read last occurred before in the object, in any spelling. The object must be
// the innermost open one.
func (r *Reader) Distinct(object Members) {
	if r.fault == nil && !r.names.add(object, r) {
		r.FailDuplicate()
	}
}

// LeaveObject drops the names of the object opened last.
func (r *Reader) LeaveObject(object Members) { r.names.leave(object) }

// names are the names of all open objects: a hash table with open addressing. Names leave in reverse order. So each
// removal restores the earlier table, and emptying a slot never breaks another name's chain. The seed is random, so
// that no input can put all names into one chain.
type names struct {
	seed  maphash.Seed
	slots []int // index in stack plus 1; 0 is a free slot. At least half of the slots are free
	stack []name
	arena []byte // unescaped texts
}

type name struct {
	object Members
	text   []byte
	slot   int
	arena  int // size of the arena before this name was added
}

// add adds the name read last. It returns false, and adds nothing, if the object already has that name.
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

// find returns the slot of a name: the slot that contains it, or the free slot at the end of its chain.
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

// leave drops the names of an object and of the objects inside it.
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

// grow doubles the table and inserts the names in their earlier order.
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
