package lakesource

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"dealflow/schemas/api"
)

// rewriter turns payloads into records of this API. Only links change, everything else stays byte for
// byte: hrefs under the address that a payload came from are written as "/v3/…", before which the
// server puts its own, and an updatedSince link that the payload has tells knowledge time. Where the
// payload has none, none is added: the record says what its source said, and clients must do without
// it there too. It is not safe for concurrent use.
type rewriter struct {
	feed  api.Feed
	bases map[string]api.Base

	base   api.Base
	root   string // path of base
	since  string // href of the record's updatedSince link
	dec    *jsontext.Decoder
	input  bytes.Buffer
	source []byte // the payload
	copied int    // bytes of it that are in out
	out    []byte
}

func newRewriter(feed api.Feed) *rewriter {
	return &rewriter{feed: feed, bases: map[string]api.Base{}, dec: jsontext.NewDecoder(&bytes.Buffer{})}
}

// body gives the record of a payload that was pulled from an address and became known at an instant.
// The result is the caller's.
func (w *rewriter) body(payload []byte, from string, known instant) ([]byte, error) {
	if err := w.comesFrom(from); err != nil {
		return nil, err
	}
	w.since = ""
	if w.feed.HasUpdatedSince() {
		w.since = w.feed.Path() + "?updatedSince=" + known.String()
	}
	w.input = *bytes.NewBuffer(payload)
	w.dec.Reset(&w.input, jsontext.AllowInvalidUTF8(true)) // lone surrogates pass: they are content
	w.source, w.copied, w.out = payload, 0, make([]byte, 0, len(payload)+64)
	if err := w.value(plain); err != nil {
		return nil, err
	}
	if _, err := w.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &api.Reject{Reason: api.RejectInvalidJSON, Detail: "text after the record"}
	}
	return append(w.out, payload[w.copied:]...), nil
}

func (w *rewriter) comesFrom(from string) error {
	if from == "" {
		return errNoBase
	}
	base, ok := w.bases[from]
	if !ok {
		var err error
		if base, err = api.ParseBase(from); err != nil {
			return err
		}
		w.bases[from] = base
	}
	w.base, w.root = base, strings.TrimPrefix(base.String(), base.Origin())
	return nil
}

// role is what an object is in HAL.
type role uint8

const (
	plain    role = iota // no part of HAL
	links                // value of a _links member
	ownLinks             // that of the record itself
	link                 // a link
	since                // the record's updatedSince link
)

// within is the role of a member's value in an object of the given role.
func within(r role, name []byte, depth int) role {
	switch {
	case r == ownLinks && string(name) == api.LinkUpdatedSince:
		return since
	case r == links || r == ownLinks:
		return link
	case r == plain && string(name) == "_links" && depth == 1:
		return ownLinks
	case r == plain && string(name) == "_links":
		return links
	}
	return plain
}

// value moves over the next value and writes its links anew.
func (w *rewriter) value(r role) error {
	switch w.dec.PeekKind() {
	case '{':
		return w.object(r)
	case '[':
		return w.list()
	}
	return w.dec.SkipValue()
}

func (w *rewriter) list() error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	for w.dec.PeekKind() != ']' {
		if err := w.value(plain); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

func (w *rewriter) object(r role) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	depth := w.dec.StackDepth()
	for w.dec.PeekKind() != '}' {
		raw, err := w.dec.ReadValue()
		if err != nil {
			return err
		}
		start := int(w.dec.InputOffset()) - len(raw)
		name := unquote(raw)
		if string(name) == "href" && w.dec.PeekKind() == '"' {
			err = w.href(r, start)
		} else {
			err = w.value(within(r, name, depth))
		}
		if err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

// href writes a member href anew whose name begins at start.
func (w *rewriter) href(r role, start int) error {
	raw, err := w.dec.ReadValue()
	if err != nil {
		return err
	}
	end := int(w.dec.InputOffset())
	if r == since && w.since != "" {
		w.replace(start, end, w.since)
		return nil
	}
	if r == link || r == since {
		href := string(unquote(raw))
		if relative := w.base.Relative(href); w.under(href, relative) {
			w.replace(start, end, relative)
			return nil
		}
	}
	// The server puts its address before every href that starts with a slash. This one is none of its
	// own; a slash that is escaped says the same and is left alone.
	if raw[1] == '/' {
		w.splice(end-len(raw)+1, end-len(raw)+1, `\`)
	}
	return nil
}

// under says whether a link points below the API that the payload came from.
func (w *rewriter) under(href, relative string) bool {
	if !strings.HasPrefix(relative, "/") || strings.HasPrefix(relative, "//") {
		return false
	}
	return relative != href || w.root == "" // else the path of another service at the same host
}

// replace puts a member href with another value, in the form that the server looks for.
func (w *rewriter) replace(start, end int, href string) {
	quoted, _ := jsontext.AppendQuote(nil, href) // the error tells of invalid UTF-8, which becomes U+FFFD
	w.splice(start, end, `"href":`+string(quoted))
}

func (w *rewriter) splice(start, end int, text string) {
	w.out = append(w.out, w.source[w.copied:start]...)
	w.out = append(w.out, text...)
	w.copied = end
}

// unquote gives a JSON string's text; it may share raw's memory.
func unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // the error tells of lone surrogates only
	return text
}
