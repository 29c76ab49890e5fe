package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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

// scanner walks over JSON text. Its position stands at the beginning of whatever is read next.
type scanner struct {
	data  []byte
	pos   int
	depth int // objects and arrays entered by members and elements
}

// fault wraps what is wrong with where.
func (s *scanner) fault(err error, what string) error {
	return fmt.Errorf("byte %d: %s: %w", s.pos, what, err)
}

func (s *scanner) want(what string) error {
	if s.pos >= len(s.data) {
		return s.fault(errTruncated, "want "+what)
	}
	return fmt.Errorf("byte %d: want %s, got %s", s.pos, what, shorten(s.data[s.pos:min(s.pos+1, len(s.data))]))
}

// peek is the byte at the position, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// space moves over white space.
func (s *scanner) space() {
	for s.pos < len(s.data) && class[s.data[s.pos]] == isSpace {
		s.pos++
	}
}

// document reads one object with nothing but white space around it.
func (s *scanner) document(visit func(name []byte) error) error {
	if err := s.members(visit); err != nil {
		return err
	}
	s.space()
	if s.pos < len(s.data) {
		return s.want("the end")
	}
	return nil
}

// members reads an object and calls visit for each member with the position at its value; visit
// moves over the value. The name is unescaped and lives until visit returns.
func (s *scanner) members(visit func(name []byte) error) error {
	return s.sequence('{', '}', func() error {
		name, err := s.text()
		if err != nil {
			return err
		}
		s.space()
		if s.peek() != ':' {
			return s.want("':'")
		}
		s.pos++
		s.space()
		return visit(name)
	})
}

// sequence reads what stands between open and end, separated by commas.
func (s *scanner) sequence(open, end byte, item func() error) error {
	s.space()
	if s.peek() != open {
		return s.want(fmt.Sprintf("%q", open))
	}
	if s.depth >= maxDepth {
		return s.fault(errTooDeep, "value")
	}
	s.pos++
	s.depth++
	s.space()
	if s.peek() == end {
		s.pos++
		s.depth--
		return nil
	}
	for {
		s.space()
		if err := item(); err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
		case end:
			s.pos++
			s.depth--
			return nil
		default:
			return s.want(fmt.Sprintf("',' or %q", end))
		}
	}
}

// text reads a string and gives it unescaped; without escapes, as a sub-slice of the data.
func (s *scanner) text() ([]byte, error) {
	if s.peek() != '"' {
		return nil, s.want("a string")
	}
	start := s.pos
	if err := s.skipString(); err != nil {
		return nil, err
	}
	raw := s.data[start+1 : s.pos-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw, nil
	}
	var text string
	if err := json.Unmarshal(s.data[start:s.pos], &text); err != nil {
		return nil, fmt.Errorf("byte %d: %w", start, err)
	}
	return []byte(text), nil
}

// skipString moves over a string.
func (s *scanner) skipString() error {
	end := stringEnd(s.data, s.pos)
	if end < 0 {
		return s.fault(errTruncated, "string")
	}
	s.pos = end
	return nil
}

// stringEnd finds the end of the string whose first quote stands at start: the position after the
// first quote that an even number of backslashes precedes; -1 if there is none.
func stringEnd(data []byte, start int) int {
	first := start + 1
	for at := first; ; {
		i := bytes.IndexByte(data[at:], '"')
		if i < 0 {
			return -1
		}
		at += i
		slash := at
		for slash > first && data[slash-1] == '\\' {
			slash--
		}
		at++
		if (at-1-slash)%2 == 0 {
			return at
		}
	}
}

// strictValue moves over any value; one that is neither object, array nor string must be a literal
// or a number.
func (s *scanner) strictValue() error {
	start := s.pos
	if err := s.value(); err != nil {
		return err
	}
	switch token := s.data[start:s.pos]; token[0] {
	case '{', '[', '"':
		return nil
	default:
		if !isLiteral(token) && !isNumber(token) {
			s.pos = start
			return s.want("a JSON value")
		}
	}
	return nil
}

// value moves over any value, of which it checks no more than that brackets pair up and strings end.
func (s *scanner) value() error {
	switch class[s.peek()] {
	case isOpen:
		return s.skipNested()
	case isQuote:
		return s.skipString()
	}
	start := s.pos
	for s.pos < len(s.data) && class[s.data[s.pos]] == isOther {
		s.pos++
	}
	if s.pos == start {
		return s.want("a value")
	}
	return nil
}

// skipNested moves over an object or an array.
func (s *scanner) skipNested() error {
	var objects [maxDepth / 64]uint64 // bit d: level d is an object
	data, at, depth := s.data, s.pos, 0
	for at < len(data) {
		switch c := data[at]; class[c] {
		case isQuote:
			if at = stringEnd(data, at); at < 0 {
				at = len(data)
			}
			continue
		case isOpen:
			if s.depth+depth >= maxDepth {
				s.pos = at
				return s.fault(errTooDeep, "value")
			}
			if bit := uint64(1) << (depth % 64); c == '{' {
				objects[depth/64] |= bit
			} else {
				objects[depth/64] &^= bit
			}
			depth++
		case isClose:
			depth--
			if object := objects[depth/64]>>(depth%64)&1 == 1; object != (c == '}') {
				s.pos = at
				return s.want("the other closing bracket")
			}
			if depth == 0 {
				s.pos = at + 1
				return nil
			}
		}
		at++
	}
	s.pos = len(data)
	return s.fault(errTruncated, "value")
}

// null moves over a null; false if something else stands there.
func (s *scanner) null() bool {
	if !bytes.HasPrefix(s.data[s.pos:], []byte("null")) {
		return false
	}
	if end := s.pos + 4; end < len(s.data) && class[s.data[end]] == isOther {
		return false
	}
	s.pos += 4
	return true
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

// The classes of bytes that matter to the scanner.
const (
	isOther = iota
	isSpace
	isQuote
	isOpen
	isClose
	isPunct
)

var class = [256]uint8{
	' ': isSpace, '\t': isSpace, '\n': isSpace, '\r': isSpace,
	'"': isQuote, '{': isOpen, '[': isOpen, '}': isClose, ']': isClose, ',': isPunct, ':': isPunct,
}

func isLiteral(token []byte) bool {
	switch string(token) {
	case "true", "false", "null":
		return true
	}
	return false
}

// isNumber says whether a token follows JSON's grammar for numbers.
func isNumber(token []byte) bool {
	_, ok := splitNumber(string(token))
	return ok
}

// number is a JSON number taken apart, its digits as they stand in the text.
type number struct {
	negative        bool
	whole, fraction string
	power           int // of ten, as written, held within ±1e9
}

// integer reads a JSON number that is an integer of 64 bits, in any spelling.
func integer(token []byte) (int64, bool) {
	n, ok := splitNumber(string(token))
	if !ok {
		return 0, false
	}
	digits, power := strings.TrimLeft(n.whole+n.fraction, "0"), n.power-len(n.fraction)
	significant := strings.TrimRight(digits, "0")
	power += len(digits) - len(significant)
	if significant == "" {
		return 0, true
	}
	const most = 19 // digits of the largest int64
	if power < 0 || power > most || len(significant)+power > most {
		return 0, false
	}
	sign := ""
	if n.negative {
		sign = "-"
	}
	id, err := strconv.ParseInt(sign+significant+strings.Repeat("0", power), 10, 64)
	return id, err == nil
}

// splitNumber takes a JSON number apart; false if the text is none.
func splitNumber(text string) (n number, ok bool) {
	text, n.negative = strings.CutPrefix(text, "-")
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if n.power, ok = readPower(text[i+1:]); !ok {
			return number{}, false
		}
		text = text[:i]
	}
	whole, fraction, point := strings.Cut(text, ".")
	if !allDigits(whole) || len(whole) > 1 && whole[0] == '0' || point && !allDigits(fraction) {
		return number{}, false
	}
	n.whole, n.fraction = whole, fraction
	return n, true
}

// readPower reads an exponent; beyond ±1e9 its size no longer matters.
func readPower(text string) (int, bool) {
	unsigned := strings.TrimPrefix(text, "-")
	negative := unsigned != text
	if !negative {
		unsigned = strings.TrimPrefix(text, "+")
	}
	if !allDigits(unsigned) {
		return 0, false
	}
	n, err := strconv.ParseInt(unsigned, 10, 64)
	if err != nil {
		n = math.MaxInt64
	}
	power := int(min(n, 1e9))
	if negative {
		power = -power
	}
	return power, true
}

func allDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}
