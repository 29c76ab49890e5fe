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

// maxDepth is how deep a page may nest, the page's own object counted. The deepest document of API
// v3.4.0 nests nine levels.
const maxDepth = 512

var (
	errTruncated    = errors.New("ends in the middle")
	errTooDeep      = fmt.Errorf("nests deeper than %d levels", maxDepth)
	errRepeatedName = errors.New("repeats a member name")
)

// Page is one page of a list, cut into its records (API document, List behaviour 1).
type Page struct {
	Records [][]byte // in the page's order; sub-slices of the body, valid as long as it is
	First   string   // _links.first.href, "" if absent
	Next    string   // _links.next.href, "" on the last page
	IsList  bool     // the page has an _embedded or a _links member, as every list page should
}

// Head is what identifies a record and orders its list.
type Head struct {
	ID           int64  // valid if HasID
	HasID        bool   // the id could be read, perhaps of a record that is rejected all the same
	UpdatedSince string // _links.updatedSince.href, "" if absent
}

// SplitPage cuts a list page of the feed into its records, in one pass over the body.
//
// It is strict about the page: one JSON object, balanced, whole, with nothing but white space after
// it; the list under _embedded is an array, null or absent; no name that matters stands twice; a next
// link has a form that can be followed, since one that is overlooked would end a walk too early. It is
// lenient about what stands inside records: repeated names, invalid UTF-8 and entries that are no
// objects are for ReadHead and for the record's reader to judge, so that one bad record spoils no
// page.
//
// Records are sub-slices of body: copy what must outlive it. SplitPage never panics and is safe for
// concurrent use.
func SplitPage(body []byte, feed Feed) (Page, error) {
	var page Page
	s := scanner{data: body}
	var embedded, links bool
	err := s.document(func(name []byte) error {
		switch string(name) {
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
			links = true
			return s.pageLinks(&page)
		}
		return s.strictValue()
	})
	if err != nil {
		return Page{}, fmt.Errorf("list page: %w", err)
	}
	page.IsList = embedded || links
	return page, nil
}

// ReadHead reads a record's id and its updatedSince link. It judges the record's outermost level
// only; what is wrong further in is found by whoever reads the whole record. The error is a *Reject;
// the Head beside it carries the id where one could be read, so that the deal is known to stand.
//
// An id is a JSON number that is an integer of 64 bits, however it is spelled: 7, 7.0 and 1e2 are, 7.5
// and "7" are not. ReadHead never panics and is safe for concurrent use.
func ReadHead(record []byte, feed Feed) (Head, error) {
	var head Head
	s := scanner{data: record}
	s.space()
	if s.peek() != '{' {
		return head, notObject(record)
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
			head.HasID = ok && (ids == 1 || head.HasID && head.ID == id)
			head.ID = id
			return nil
		case "_links":
			return s.recordLinks(&head)
		}
		return s.strictValue()
	})
	if !head.HasID {
		head.ID = 0
	}
	switch {
	case !utf8.Valid(record):
		return head, &Reject{Reason: RejectInvalidUTF8}
	case err != nil:
		return head, &Reject{Reason: RejectInvalidJSON, Detail: err.Error()}
	case ids > 1:
		return head, &Reject{Reason: RejectDuplicateMember, Detail: strconv.Quote(idKey)}
	case ids == 0:
		return head, &Reject{Reason: RejectNoID, Detail: fmt.Sprintf("no member %q", idKey)}
	case !head.HasID:
		return head, &Reject{Reason: RejectNoID, Detail: fmt.Sprintf("%q is %s, want an integer of 64 bits", idKey, badID)}
	}
	return head, nil
}

// UpdatedSinceTime is the instant in a link's updatedSince query parameter; false if it has none
// that can be read.
func UpdatedSinceTime(href string) (time.Time, bool) {
	_, query, ok := strings.Cut(href, "?")
	if !ok {
		return time.Time{}, false
	}
	query, _, _ = strings.Cut(query, "#")
	values, _ := url.ParseQuery(query) // an error elsewhere in the query does not matter here
	// An offset's plus sign that was not escaped reads as a space.
	text := strings.ReplaceAll(values.Get("updatedSince"), " ", "+")
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}

// notObject tells a record that is another JSON value from one that is none.
func notObject(record []byte) *Reject {
	switch {
	case !utf8.Valid(record):
		return &Reject{Reason: RejectInvalidUTF8}
	case !json.Valid(record):
		return &Reject{Reason: RejectInvalidJSON, Detail: shorten(record)}
	}
	return &Reject{Reason: RejectNotObject, Detail: shorten(record)}
}

// shorten gives the beginning of a text for an error message.
func shorten(text []byte) string {
	const limit = 40
	if len(text) > limit {
		return strconv.QuoteToASCII(string(text[:limit])) + "…"
	}
	return strconv.QuoteToASCII(string(text))
}

// embedded reads the page's _embedded member.
func (s *scanner) embedded(page *Page, listKey string) error {
	if s.null() {
		return nil
	}
	listed := false
	return s.members(func(name []byte) error {
		if string(name) != listKey {
			return s.strictValue()
		}
		if listed {
			return s.fault(errRepeatedName, listKey)
		}
		listed = true
		if s.null() {
			return nil
		}
		return s.sequence('[', ']', func() error {
			start := s.pos
			if err := s.value(); err != nil {
				return err
			}
			page.Records = append(page.Records, s.data[start:s.pos:s.pos])
			return nil
		})
	})
}

// pageLinks reads the page's _links member.
func (s *scanner) pageLinks(page *Page) error {
	if s.null() {
		return nil
	}
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

// recordLinks reads a record's _links member, of which only updatedSince matters here.
func (s *scanner) recordLinks(head *Head) error {
	if s.peek() != '{' {
		return s.strictValue()
	}
	return s.members(func(name []byte) (err error) {
		if string(name) != LinkUpdatedSince {
			return s.strictValue()
		}
		head.UpdatedSince, err = s.lenientHref()
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

// strictHref reads the href of a link that will be followed: a link object, an array of one (HAL
// allows it), or null for none.
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
