package lakesource

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"dealflow/schemas/api"
)

// rewriter turns payloads into records of this API. Only links change; all other bytes stay. Hrefs under the address
// that a payload came from become "/v3/…", and the server adds its own address. The href of the record's updatedSince
// link gets the known_at of the version, in whole seconds as the API writes instants. A payload without such a link stays without: the record says what its source
// said. A rewriter is not safe for concurrent use.
type rewriter struct {
	feed  api.Feed
	bases map[string]api.Base

	base   api.Base
	root   string // path of base, "" if it has none
	since  string // new href of the record's updatedSince link; "" leaves it as it is
	dec    *jsontext.Decoder
	input  bytes.Buffer
	source []byte // the payload
	copied int    // bytes of source that are in out
	out    []byte
}

func newRewriter(feed api.Feed) *rewriter {
	return &rewriter{feed: feed, bases: map[string]api.Base{}, dec: jsontext.NewDecoder(&bytes.Buffer{})}
}

// body returns the record of a payload that was pulled from an address and became known at an instant. The caller owns
// the result.
func (w *rewriter) body(payload []byte, from string, known instant) ([]byte, error) {
	if err := w.setBase(from); err != nil {
		return nil, err
	}
	w.since = ""
	if w.feed.HasUpdatedSince() {
		w.since = w.feed.Path() + "?updatedSince=" + known.time().Truncate(time.Second).Format(time.RFC3339)
	}
	w.input = *bytes.NewBuffer(payload)
	w.dec.Reset(&w.input, jsontext.AllowInvalidUTF8(true)) // lone surrogates are allowed: they are content
	w.source, w.copied, w.out = payload, 0, make([]byte, 0, len(payload)+64)
	if err := w.value(plain); err != nil {
		return nil, err
	}
	if _, err := w.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &api.Reject{Reason: api.RejectInvalidJSON, Detail: "text after the record"}
	}
	return append(w.out, payload[w.copied:]...), nil
}

func (w *rewriter) setBase(from string) error {
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

// role is the meaning of a JSON object in HAL.
type role uint8

const (
	plain    role = iota // no part of HAL
	links                // value of a _links member of an embedded object
	ownLinks             // value of the record's own _links member
	link                 // a link
	since                // the record's updatedSince link
)

// roleOf returns the role of a member's value in an object of role r. depth is that of the object, 1 for the record.
func roleOf(r role, name []byte, depth int) role {
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

// value reads the next value and rewrites the links in it.
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
			err = w.value(roleOf(r, name, depth))
		}
		if err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

// href rewrites a member href if it is a link of the API. The member's name begins at start.
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
	// The server puts its address before every href that starts with a slash. This href is not under the API. An
	// escaped slash means the same and is not replaced.
	if raw[1] == '/' {
		w.splice(end-len(raw)+1, end-len(raw)+1, `\`)
	}
	return nil
}

// under says whether a link is under the API that the payload came from. relative is the href without the API's
// address.
func (w *rewriter) under(href, relative string) bool {
	if !strings.HasPrefix(relative, "/") || strings.HasPrefix(relative, "//") {
		return false
	}
	return relative != href || w.root == "" // otherwise the href is a path of another service of the same host
}

// replace writes a member href with another value, in the spelling that the server searches for.
func (w *rewriter) replace(start, end int, href string) {
	quoted, _ := jsontext.AppendQuote(nil, href) // its error means invalid UTF-8, which becomes U+FFFD
	w.splice(start, end, `"href":`+string(quoted))
}

func (w *rewriter) splice(start, end int, text string) {
	w.out = append(w.out, w.source[w.copied:start]...)
	w.out = append(w.out, text...)
	w.copied = end
}

// unquote returns the text of a JSON string. The result can share raw's memory.
func unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // its error means lone surrogates, which are allowed
	return text
}
