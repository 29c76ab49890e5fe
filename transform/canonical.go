package transform

import (
	"bytes"
	"crypto/sha256"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
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
	base    api.Base
	dec     *jsontext.Decoder
	input   bytes.Buffer
	out     []byte
	members []member // of the objects being read, inner ones last
	sorted  []byte   // scratch for putting members in order
	text    []byte   // scratch for unescaping
	names   map[string]string
}

// member is one member of an object, as spans of out.
type member struct {
	start, end int // of `"name":value`
	name       string
}

// NewCanonicalizer prepares to read records whose links are relative to base.
func NewCanonicalizer(base api.Base) *Canonicalizer {
	return &Canonicalizer{base: base, dec: jsontext.NewDecoder(&bytes.Buffer{}), names: map[string]string{}}
}

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
	if !utf8.Valid(payload) {
		return nil, &api.Reject{Reason: api.RejectInvalidUTF8}
	}
	startDecoder(c.dec, &c.input, payload)
	c.out, c.members = c.out[:0], c.members[:0]
	if err := c.record(); err != nil {
		return nil, rejection(err)
	}
	return c.out, nil
}

func (c *Canonicalizer) record() error {
	if err := wantObject(c.dec); err != nil {
		return err
	}
	if err := c.object(false); err != nil {
		return err
	}
	return wantEnd(c.dec)
}

// value writes the next value; asLinks says that it is the value of a _links member.
func (c *Canonicalizer) value(asLinks bool) error {
	switch c.dec.PeekKind() {
	case '{':
		return c.object(asLinks)
	case '[':
		return c.list()
	}
	raw, err := c.dec.ReadValue()
	if err != nil {
		return err
	}
	switch raw.Kind() {
	case '"':
		c.out = appendCanonicalString(c.out, c.unquote(raw))
	case '0':
		c.out = appendCanonicalNumber(c.out, raw)
	default:
		c.out = append(c.out, raw...)
	}
	return nil
}

func (c *Canonicalizer) list() error {
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	c.out = append(c.out, '[')
	for first := true; c.dec.PeekKind() != ']'; first = false {
		if !first {
			c.out = append(c.out, ',')
		}
		if err := c.value(false); err != nil {
			return err
		}
	}
	c.out = append(c.out, ']')
	_, err := c.dec.ReadToken()
	return err
}

func (c *Canonicalizer) object(asLinks bool) error {
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	first := len(c.members)
	c.out = append(c.out, '{')
	for c.dec.PeekKind() != '}' {
		raw, err := c.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := c.member(c.unquote(raw), asLinks); err != nil {
			return err
		}
	}
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	c.order(c.members[first:])
	c.members = c.members[:first]
	c.out = append(c.out, '}')
	return nil
}

// member writes one member behind those before it, without a comma.
func (c *Canonicalizer) member(name []byte, asLinks bool) error {
	if asLinks && string(name) == api.LinkUpdatedSince {
		return c.dec.SkipValue()
	}
	isLinks := string(name) == "_links"
	m := member{start: len(c.out), name: c.intern(name)}
	c.out = appendCanonicalString(c.out, name)
	c.out = append(c.out, ':')
	var err error
	if asLinks && c.dec.PeekKind() == '{' {
		err = c.link()
	} else {
		err = c.value(isLinks)
	}
	m.end = len(c.out)
	c.members = append(c.members, m)
	return err
}

// maxNames bounds the member names kept between records; maps may have any number of keys.
const maxNames = 4096

// intern gives a name as a string; the same few names come in every record.
func (c *Canonicalizer) intern(name []byte) string {
	if s, ok := c.names[string(name)]; ok {
		return s
	}
	if len(c.names) >= maxNames {
		clear(c.names)
	}
	s := string(name)
	c.names[s] = s
	return s
}

// link writes a link object: its href alone.
func (c *Canonicalizer) link() error {
	if _, err := c.dec.ReadToken(); err != nil {
		return err
	}
	c.out = append(c.out, '{')
	for c.dec.PeekKind() != '}' {
		name, err := c.dec.ReadValue()
		if err != nil {
			return err
		}
		if string(c.unquote(name)) != "href" {
			if err := c.dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		c.out = append(c.out, `"href":`...)
		if c.dec.PeekKind() != '"' {
			if err := c.value(false); err != nil {
				return err
			}
			continue
		}
		raw, err := c.dec.ReadValue()
		if err != nil {
			return err
		}
		c.out = appendCanonicalString(c.out, c.base.RelativeBytes(c.unquote(raw)))
	}
	c.out = append(c.out, '}')
	_, err := c.dec.ReadToken()
	return err
}

// order puts an object's members, which end the output one behind the other, in the order of their
// names with commas between them.
func (c *Canonicalizer) order(members []member) {
	if len(members) == 0 {
		return
	}
	start := members[0].start
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	c.sorted = c.sorted[:0]
	for i, m := range members {
		if i > 0 {
			c.sorted = append(c.sorted, ',')
		}
		c.sorted = append(c.sorted, c.out[m.start:m.end]...)
	}
	c.out = append(c.out[:start], c.sorted...)
}

// unquote gives a JSON string's text, valid until the next call.
func (c *Canonicalizer) unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	// The error tells of lone surrogates only: the decoder has judged the rest.
	c.text, _ = jsontext.AppendUnquote(c.text[:0], raw)
	return c.text
}

func appendCanonicalString(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	written := 0
	for i, b := range text {
		if b >= 0x20 && b != '"' && b != '\\' {
			continue
		}
		dst = append(dst, text[written:i]...)
		written = i + 1
		if b < 0x20 {
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		} else {
			dst = append(dst, '\\', b)
		}
	}
	dst = append(dst, text[written:]...)
	return append(dst, '"')
}

func appendCanonicalNumber(dst, text []byte) []byte {
	n := parseNumber(text)
	if n.digits == 0 {
		return append(dst, '0')
	}
	if n.neg {
		dst = append(dst, '-')
	}
	for _, b := range n.text {
		if b != '.' {
			dst = append(dst, b)
		}
	}
	if n.exponent > -maxExponent/2 && n.exponent < maxExponent/2 {
		if n.exponent == 0 {
			return dst
		}
		return strconv.AppendInt(append(dst, 'e'), n.exponent, 10)
	}
	return append(append(dst, 'e'), exactExponent(text)...)
}

// exactExponent is the exponent of the last nonzero digit where it is too large for a machine word:
// two such numbers still must not look equal.
func exactExponent(text []byte) []byte {
	mantissa, written, _ := bytes.Cut(bytes.ToLower(text), []byte("e"))
	e, _ := new(big.Int).SetString(string(bytes.TrimPrefix(written, []byte("+"))), 10)
	e.Add(e, big.NewInt(parseNumber(mantissa).exponent))
	return e.Append(nil, 10)
}
