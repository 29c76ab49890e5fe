package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxDepth is the most levels that a page may nest, including the page's own object. The deepest response of API v3.4.0
// nests nine levels.
const maxDepth = 512

var (
	errTruncated    = errors.New("unexpected end")
	errTooDeep      = fmt.Errorf("nests deeper than %d levels", maxDepth)
	errRepeatedName = errors.New("duplicate member name")
)

// Page is one page of a list, split into its records.
type Page struct {
	Records [][]byte // in the page's order; sub-slices of the body
	First   string   // _links.first.href, "" if absent
	Next    string   // _links.next.href, "" on the last page
	Drift   []PageDrift
}

// PageDrift is a member of a page, outside its records, that openapi.yaml does not describe, or a required one that is
// null.
type PageDrift struct {
	Pointer string // JSON pointer in the page, after "page:"
	Missing bool   // required, and null; otherwise unknown
	Example []byte // the member's value; a sub-slice of the body
}

// RecordID is the part of a record that identifies it and orders its list.
type RecordID struct {
	ID           int64  // valid if HasID
	HasID        bool   // the id could be read; the record may be rejected nevertheless
	UpdatedSince string // _links.updatedSince.href, "" if absent
}

// SplitPage splits a list page of the feed into its records, in one pass over the body.
//
// It is strict about the page: the body is one complete JSON object, with nothing but white space after it; _links is
// an object; _embedded contains the list under its name, or nothing; the list is an array or null; _embedded, _links, the
// list and the next link occur at most once; a next link has a form that can be followed, because a missed one would end
// a walk too early. A page without _embedded is an empty list: HAL leaves out what is empty. With errorId it is an error of the API.
//
// It is lenient inside records. Repeated names, invalid UTF-8 and entries that are not objects are left to ReadRecordID and
// to the record's reader, so that one bad record does not make the page unusable.
//
// Records are sub-slices of body: copy what must outlive it. SplitPage never panics and is safe for concurrent use.
func SplitPage(body []byte, feed Feed) (Page, error) {
	var page Page
	s := scanner{data: body, strict: true}
	var embedded, links, isError bool
	err := s.document(func(name []byte) error {
		switch string(name) {
		case "errorId":
			isError = true
		case "_embedded":
			if embedded {
				return s.fault(errRepeatedName, "_embedded")
			}
			embedded = true
			return s.embedded(&page, feed.ListKey())
		case "_links":
			if links {
				return s.fault(errRepeatedName, "_links")
			}
			if links = !s.null(); !links {
				return nil
			}
			return s.pageLinks(&page)
		}
		return s.strictValue()
	})
	if err != nil {
		return Page{}, fmt.Errorf("list page: %w", err)
	}
	if !links {
		return Page{}, errors.New("list page: no object _links: whether another page follows is unknown")
	}
	if isError && !embedded { // with status 200
		return Page{}, errors.New("list page: it has errorId and no _embedded: an error of the API, not an empty list")
	}
	return page, nil
}

// ReadRecordID reads a record's id and its updatedSince link. It checks only the record's outermost level; the record's
// reader finds faults further inside. The error is a *Reject. RecordID is valid together with an error, and contains the id
// if it could be read: then the caller knows that the deal exists.
//
// An id is a JSON number that is a 64-bit integer, in any spelling: 7, 7.0 and 1e2, but not 7.5 or "7". ReadRecordID never
// panics and is safe for concurrent use.
func ReadRecordID(record []byte, feed Feed) (RecordID, error) {
	var found RecordID
	s := scanner{data: record}
	s.space()
	if s.peek() != '{' {
		return found, notObject(record)
	}
	idKey, ids, badID := feed.IDKey(), 0, ""
	err := s.document(func(name []byte) error {
		switch string(name) {
		case idKey:
			ids++
			start := s.pos
			if err := s.strictValue(); err != nil {
				return err
			}
			id, ok := integer(record[start:s.pos])
			if !ok {
				badID = shorten(record[start:s.pos])
			}
			found.HasID = ok && (ids == 1 || found.HasID && found.ID == id)
			found.ID = id
			return nil
		case "_links":
			return s.recordLinks(&found)
		}
		return s.strictValue()
	})
	if !found.HasID {
		found.ID = 0
	}
	switch {
	case !utf8.Valid(record):
		return found, &Reject{Reason: RejectInvalidUTF8}
	case err != nil:
		return found, &Reject{Reason: RejectInvalidJSON, Detail: err.Error()}
	case ids > 1:
		return found, &Reject{Reason: RejectDuplicateMember, Detail: strconv.Quote(idKey)}
	case ids == 0:
		return found, &Reject{Reason: RejectNoID, Detail: fmt.Sprintf("no member %q", idKey)}
	case !found.HasID:
		return found, &Reject{Reason: RejectNoID, Detail: fmt.Sprintf("%q is %s, want an integer of 64 bits", idKey, badID)}
	}
	return found, nil
}

// UpdatedSinceTime returns the instant in a link's updatedSince query parameter; false if there is none that can be
// parsed.
func UpdatedSinceTime(href string) (time.Time, bool) {
	_, query, ok := strings.Cut(href, "?")
	if !ok {
		return time.Time{}, false
	}
	query, _, _ = strings.Cut(query, "#")
	values, _ := url.ParseQuery(query) // an error elsewhere in the query does not matter here
	// An unescaped plus sign of an offset is parsed as a space.
	text := strings.ReplaceAll(values.Get("updatedSince"), " ", "+")
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}

// notObject returns the Reject of a record that is not an object: another JSON value, or not JSON.
func notObject(record []byte) *Reject {
	switch {
	case !utf8.Valid(record):
		return &Reject{Reason: RejectInvalidUTF8}
	case !json.Valid(record):
		return &Reject{Reason: RejectInvalidJSON, Detail: shorten(record)}
	}
	return &Reject{Reason: RejectNotObject, Detail: shorten(record)}
}

// shorten returns the beginning of a text for an error message.
func shorten(text []byte) string {
	const limit = 40
	if len(text) > limit {
		return strconv.QuoteToASCII(string(text[:limit])) + "…"
	}
	return strconv.QuoteToASCII(string(text))
}

// embeddedPointer is the pointer of a page's _embedded in PageDrift.
const embeddedPointer = "page:/_embedded"

// embedded reads the page's member _embedded.
func (s *scanner) embedded(page *Page, listKey string) error {
	if start := s.pos; s.null() {
		page.Drift = append(page.Drift, PageDrift{Pointer: embeddedPointer, Missing: true, Example: s.data[start:s.pos]})
		return nil
	}
	listed := false
	err := s.members(func(name []byte) error {
		start := s.pos
		if string(name) != listKey {
			pointer := embeddedPointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(string(name))
			err := s.strictValue()
			page.Drift = append(page.Drift, PageDrift{Pointer: pointer, Example: s.data[start:s.pos]})
			return err
		}
		if listed {
			return s.fault(errRepeatedName, listKey)
		}
		listed = true
		if s.null() {
			page.Drift = append(page.Drift, PageDrift{Pointer: embeddedPointer + "/" + listKey, Missing: true, Example: s.data[start:s.pos]})
			return nil
		}
		return s.records(page)
	})
	if err == nil && !listed && len(page.Drift) > 0 {
		return fmt.Errorf("_embedded has no list %q, but %s", listKey, page.Drift[0].Pointer)
	}
	return err
}

// records reads the list of a page.
func (s *scanner) records(page *Page) error {
	return s.sequence('[', ']', func() error {
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		page.Records = append(page.Records, s.data[start:s.pos:s.pos])
		return nil
	})
}

// pageLinks reads the page's member _links.
func (s *scanner) pageLinks(page *Page) error {
	next := false
	return s.members(func(name []byte) (err error) {
		switch string(name) {
		case LinkFirst:
			page.First, err = s.lenientHref()
		case LinkNext:
			if next {
				return s.fault(errRepeatedName, LinkNext)
			}
			next = true
			page.Next, err = s.strictHref()
		default:
			err = s.strictValue()
		}
		return err
	})
}

// recordLinks reads updatedSince from a record's member _links.
func (s *scanner) recordLinks(found *RecordID) error {
	if s.peek() != '{' {
		return s.strictValue()
	}
	return s.members(func(name []byte) (err error) {
		if string(name) != LinkUpdatedSince {
			return s.strictValue()
		}
		found.UpdatedSince, err = s.lenientHref()
		if hasControl(found.UpdatedSince) {
			found.UpdatedSince = "" // if it was damaged on the way, the record's reader finds it, and it is asked for again
		}
		return err
	})
}

// lenientHref reads a link object's href; "" for a link of another form.
func (s *scanner) lenientHref() (string, error) {
	if s.peek() != '{' {
		return "", s.strictValue()
	}
	var href string
	err := s.members(func(name []byte) error {
		if string(name) != "href" || s.peek() != '"' {
			return s.strictValue()
		}
		text, err := s.text()
		href = string(text)
		return err
	})
	return href, err
}

// strictHref reads the href of a link that will be followed. The link is an object, an array of one object (HAL allows
// it), or null for none.
func (s *scanner) strictHref() (href string, err error) {
	switch {
	case s.null():
		return "", nil
	case s.peek() == '[':
		links := 0
		err = s.sequence('[', ']', func() error {
			if links++; links > 1 {
				return s.want("one link")
			}
			href, err = s.strictHref()
			return err
		})
		return href, err
	}
	found := false
	err = s.members(func(name []byte) error {
		if string(name) != "href" {
			return s.strictValue()
		}
		if found {
			return s.fault(errRepeatedName, "href")
		}
		found = true
		if s.null() {
			return nil
		}
		text, err := s.text()
		href = string(text)
		return err
	})
	return href, err
}
