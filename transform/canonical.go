package transform

import (
	"crypto/sha256"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform/jsonread"
)

// Canonicalizer writes records in the canonical form under content_hash: what a record says, whatever
// its spelling. It is reused from record to record and is not safe for concurrent use.
//
// The form (lake.HashVersion 1) is JSON without white space: members sorted by name as UTF-8 bytes;
// strings with only quote, backslash and control characters escaped (\u00xx), lone surrogates as
// U+FFFD; a number as sign, digits without leading or trailing zeros, and "e" with the exponent
// unless it is 0 (1475e6, 995e-1, 0); of a link object inside a _links object only href, relative to
// the API's base URL, and the link updatedSince not at all. Lists keep their order; null is written,
// absent is not.
type Canonicalizer struct {
	base      api.Base
	in        jsonread.Reader
	out       []byte
	members   []member // of the objects being read, inner ones last
	names     []byte   // of members
	packed    []uint64 // scratch for putting members in order
	unsorted  []member // likewise
	sorted    []byte   // likewise
	text      []byte   // scratch for unescaping
	duplicate bool     // a name came twice in an object
}

// NewCanonicalizer prepares to read records whose links are relative to base.
func NewCanonicalizer(base api.Base) *Canonicalizer { return &Canonicalizer{base: base} }

// Hash gives the SHA-256 of a record's canonical form. The error is an *api.Reject.
func (c *Canonicalizer) Hash(payload []byte) (lake.Digest, error) {
	form, err := c.Form(payload)
	if err != nil {
		return lake.Digest{}, err
	}
	return sha256.Sum256(form), nil
}

// Form gives a record's canonical form, valid until the next call. The error is an *api.Reject.
func (c *Canonicalizer) Form(payload []byte) ([]byte, error) {
	if err := begin(&c.in, payload); err != nil {
		return nil, err
	}
	c.out, c.members, c.names = c.out[:0], c.members[:0], c.names[:0]
	c.object(plain)
	c.in.End()
	if c.in.Err() != nil || c.duplicate {
		return nil, c.firstFault(payload)
	}
	return c.out, nil
}

// firstFault reads a payload that is none once more, from its begin. Members are compared when their
// object has ended; so a fault further on may have been met before a name that comes twice.
func (c *Canonicalizer) firstFault(payload []byte) error {
	c.duplicate = false
	c.in.Reset(payload)
	c.in.Value()
	c.in.End()
	return rejection(c.in.Err())
}

// role is what an object is in a record: it decides which of its members are content.
type role uint8

const (
	plain role = iota // all are
	links             // the value of a member _links: all but the link updatedSince
	link              // an object in such a value: href alone
)

// value writes the next value; as says what it is if it is an object.
func (c *Canonicalizer) value(as role) {
	switch c.in.Peek() {
	case '{':
		c.object(as)
	case '[':
		c.list()
	default:
		c.scalar()
	}
}

func (c *Canonicalizer) list() {
	c.out = append(c.out, '[')
	first := true
	for more := c.in.Open(jsonread.List); more; more = c.in.More(jsonread.List) {
		if !first {
			c.out = append(c.out, ',')
		}
		first = false
		c.value(plain)
	}
	c.out = append(c.out, ']')
}

// scalar writes a string, number or literal.
func (c *Canonicalizer) scalar() {
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

// appendString writes the string that was read last: as it stands where nothing in it is escaped, for
// then nothing has to be.
func (c *Canonicalizer) appendString(quoted []byte) {
	if c.in.Plain() {
		c.out = append(c.out, quoted...)
		return
	}
	var text []byte
	text, c.text, _ = c.in.Text(c.text[:0])
	c.out = appendCanonicalString(c.out, text)
}

// href writes the address of a link, relative to the base.
func (c *Canonicalizer) href() {
	if c.in.Value() == nil {
		return
	}
	var text []byte
	text, c.text, _ = c.in.Text(c.text[:0])
	c.out = appendCanonicalString(c.out, c.base.RelativeBytes(text))
}

func (c *Canonicalizer) object(as role) {
	first, names := len(c.members), len(c.names)
	c.out = append(c.out, '{')
	start := len(c.out)
	for more := c.in.Open(jsonread.Object); more; more = c.in.More(jsonread.Object) {
		c.member(as, start)
	}
	c.order(c.members[first:], start)
	c.members, c.names = c.members[:first], c.names[:names]
	c.out = append(c.out, '}')
}

// member writes one member behind those of its object before it; their text begins at start.
func (c *Canonicalizer) member(of role, start int) {
	name := c.in.Name()
	c.in.Colon()
	if c.in.Err() != nil {
		return
	}
	m := c.named()
	as, content := of.member(c.names[m.name:m.nameEnd])
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
	if of == link && c.in.Peek() == '"' {
		c.href()
	} else {
		c.value(as)
	}
	m.end = len(c.out)
	c.members = append(c.members, m)
}

// member says what the value of a member is if it is an object, and whether the member is content.
func (r role) member(name []byte) (as role, content bool) {
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
