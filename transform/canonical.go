package transform

import (
	"crypto/sha256"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform/jsonread"
)

// Canonicalizer writes records in the canonical form, from which content_hash is computed: two spellings of the same
// content have the same form. A Canonicalizer is reused from record to record and is not safe for concurrent use.
//
// The form (lake.HashVersion 1) is JSON without white space. Members are sorted by name as UTF-8 bytes. In strings only
// quote, backslash and control characters are escaped (control characters as \u00xx); a lone surrogate is U+FFFD. A
// number is its sign, its digits without leading or trailing zeros, and "e" with the exponent unless that is 0 (1475e6,
// 995e-1, 0). A link object inside a _links object keeps only href, relative to the API's base URL; the link
// updatedSince is left out. Lists keep their order. A null is written; an absent member is not.
type Canonicalizer struct {
	base      api.Base
	in        jsonread.Reader
	out       []byte
	members   []member // members of the objects being read, inner objects last
	names     []byte   // unescaped names of members
	packed    []uint64 // scratch memory of sortByName
	unsorted  []member // scratch memory of sortByName
	sorted    []byte   // scratch memory of sortObject
	text      []byte   // scratch memory for unescaping
	duplicate bool     // a name occurred twice in an object
}

// NewCanonicalizer returns a Canonicalizer for records whose links are relative to base.
func NewCanonicalizer(base api.Base) *Canonicalizer { return &Canonicalizer{base: base} }

// Hash returns the SHA-256 of a record's canonical form. The error is an *api.Reject.
func (c *Canonicalizer) Hash(payload []byte) (lake.Digest, error) {
	form, err := c.Form(payload)
	if err != nil {
		return lake.Digest{}, err
	}
	return sha256.Sum256(form), nil
}

// ContentHash returns the Hash of a new Canonicalizer.
func ContentHash(base api.Base) func(payload []byte) (lake.Digest, error) {
	return NewCanonicalizer(base).Hash
}

// Form returns a record's canonical form, which is valid until the next call. The error is an *api.Reject.
func (c *Canonicalizer) Form(payload []byte) ([]byte, error) {
	if err := beginObject(&c.in, payload); err != nil {
		return nil, err
	}
	c.out, c.members, c.names = c.out[:0], c.members[:0], c.names[:0]
	c.writeObject(plain)
	c.in.End()
	if c.in.Err() != nil || c.duplicate {
		return nil, c.firstFault(payload)
	}
	return c.out, nil
}

// firstFault reads an invalid payload again from the start and returns its first fault. The first reading compares
// names only at the end of an object, so it may have met a later fault before a duplicate name.
func (c *Canonicalizer) firstFault(payload []byte) error {
	c.duplicate = false
	c.in.Reset(payload)
	c.in.Value()
	c.in.End()
	return rejection(c.in.Err())
}

// role is the function of an object in a record. It decides which of the object's members are content.
type role uint8

const (
	plain role = iota // all members are content
	links             // the value of a member _links: all members except the link updatedSince
	link              // an object inside the value of _links: only href
)

// writeValue writes the next value. If the value is an object, as is its role.
func (c *Canonicalizer) writeValue(as role) {
	switch c.in.Peek() {
	case '{':
		c.writeObject(as)
	case '[':
		c.writeList()
	default:
		c.writeScalar()
	}
}

func (c *Canonicalizer) writeList() {
	c.out = append(c.out, '[')
	first := true
	for more := c.in.Open(jsonread.List); more; more = c.in.More(jsonread.List) {
		if !first {
			c.out = append(c.out, ',')
		}
		first = false
		c.writeValue(plain)
	}
	c.out = append(c.out, ']')
}

// writeScalar writes a string, number or literal.
func (c *Canonicalizer) writeScalar() {
	switch raw := c.in.Value(); {
	case raw == nil:
	case raw[0] == '"':
		c.appendString(raw)
	case jsonread.IsNumber(raw):
		c.out = appendCanonicalNumber(c.out, raw)
	default:
		c.out = append(c.out, raw...)
	}
}

// appendString writes the string that was read last. A string without escape sequences needs none in the canonical form
// either, and is copied.
func (c *Canonicalizer) appendString(quoted []byte) {
	if c.in.Plain() {
		c.out = append(c.out, quoted...)
		return
	}
	var text []byte
	text, c.text, _ = c.in.Text(c.text[:0])
	c.out = appendCanonicalString(c.out, text)
}

// writeHref writes the address of a link, relative to the base.
func (c *Canonicalizer) writeHref() {
	if c.in.Value() == nil {
		return
	}
	var text []byte
	text, c.text, _ = c.in.Text(c.text[:0])
	c.out = appendCanonicalString(c.out, c.base.RelativeBytes(text))
}

func (c *Canonicalizer) writeObject(as role) {
	first, names := len(c.members), len(c.names)
	c.out = append(c.out, '{')
	start := len(c.out)
	for more := c.in.Open(jsonread.Object); more; more = c.in.More(jsonread.Object) {
		c.writeMember(as, start)
	}
	c.sortObject(c.members[first:], start)
	c.members, c.names = c.members[:first], c.names[:names]
	c.out = append(c.out, '}')
}

// writeMember writes a member of an object with the role parent. The object's members begin at start in c.out.
func (c *Canonicalizer) writeMember(parent role, start int) {
	name := c.in.Name()
	c.in.Colon()
	if c.in.Err() != nil {
		return
	}
	m := c.addName()
	as, content := parent.ofMember(c.names[m.name:m.nameEnd])
	if !content {
		c.in.Value()
		c.members = append(c.members, m)
		return
	}
	if len(c.out) > start {
		c.out = append(c.out, ',')
	}
	m.start = len(c.out)
	c.appendString(name)
	c.out = append(c.out, ':')
	if parent == link && c.in.Peek() == '"' {
		c.writeHref()
	} else {
		c.writeValue(as)
	}
	m.end = len(c.out)
	c.members = append(c.members, m)
}

// ofMember returns the role that a member's value has if it is an object, and whether the member is content.
func (r role) ofMember(name []byte) (as role, content bool) {
	switch {
	case r == plain && string(name) == "_links":
		return links, true
	case r == links:
		return link, string(name) != api.LinkUpdatedSince
	case r == link:
		return plain, string(name) == "href"
	}
	return plain, true
}
