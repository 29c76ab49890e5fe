package transform

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// member is one member of an object. Its unescaped name is Canonicalizer.names[name:nameEnd]. Its text `"name":value`
// is Canonicalizer.out[start:end], which is empty if the member is not content.
type member struct {
	prefix        uint64 // first bytes of the name: enough for most comparisons
	name, nameEnd int
	start, end    int
}

// addName copies the name that was read last to c.names and returns a member with it.
func (c *Canonicalizer) addName() member {
	m := member{name: len(c.names)}
	if text, grown, _ := c.in.Text(c.names); c.in.Plain() {
		c.names = append(c.names, text...)
	} else {
		c.names = grown
	}
	m.nameEnd = len(c.names)
	m.prefix = prefix(c.names[m.name:])
	return m
}

// prefix returns the first eight bytes of a text as a big-endian integer. A shorter text is padded with zeros.
func prefix(text []byte) (p uint64) {
	if len(text) >= 8 {
		return binary.BigEndian.Uint64(text)
	}
	for i, b := range text {
		p |= uint64(b) << (56 - 8*i)
	}
	return p
}

// sortObject sorts an object's members by name, in members and in c.out, where their text begins at start. It sets
// c.duplicate if a name occurs twice.
func (c *Canonicalizer) sortObject(members []member, start int) {
	if c.areAscending(members) {
		return
	}
	c.sortByName(members)
	if !c.areAscending(members) {
		c.duplicate = true
		return
	}
	c.sorted = c.sorted[:0]
	for _, m := range members {
		if m.start == m.end {
			continue
		}
		if len(c.sorted) > 0 {
			c.sorted = append(c.sorted, ',')
		}
		c.sorted = append(c.sorted, c.out[m.start:m.end]...)
	}
	c.out = append(c.out[:start], c.sorted...)
}

// maxPacked is the number of members up to which an index fits into the last byte of a packed name.
const maxPacked = 256

// sortByName sorts members by name. It first sorts integers, each made of the first seven bytes of a name and the
// member's index: that takes a third of the time of comparing names. Names with the same first seven bytes are then put
// into order by insertion.
func (c *Canonicalizer) sortByName(members []member) {
	if len(members) > maxPacked {
		slices.SortFunc(members, c.compare)
		return
	}
	c.packed = c.packed[:0]
	for i, m := range members {
		c.packed = append(c.packed, m.prefix&^(maxPacked-1)|uint64(i))
	}
	slices.Sort(c.packed)
	c.unsorted = append(c.unsorted[:0], members...)
	for i, packed := range c.packed {
		m := c.unsorted[packed%maxPacked]
		for ; i > 0 && c.compare(m, members[i-1]) < 0; i-- {
			members[i] = members[i-1]
		}
		members[i] = m
	}
}

// areAscending reports whether every member's name is greater than the previous one.
func (c *Canonicalizer) areAscending(members []member) bool {
	for i := 1; i < len(members); i++ {
		if c.compare(members[i-1], members[i]) >= 0 {
			return false
		}
	}
	return true
}

// compare orders members by their names as UTF-8 bytes.
func (c *Canonicalizer) compare(a, b member) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	return bytes.Compare(c.names[a.name:a.nameEnd], c.names[b.name:b.nameEnd])
}
