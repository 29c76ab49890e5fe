package serve

import (
	"bytes"
	"net/url"
	"slices"

	"dealflow/schemas/api"
)

// appendPage appends a page of a list: its deals, and links to the first and the next page with the client's other
// parameters. next is the cursor of the next page, "" if there is none.
func appendPage(dst []byte, base string, feed api.Feed, params params, page Page, next string) []byte {
	size := 512
	for _, record := range page.Records {
		size += len(record.Body) + 4*len(base) + 1
	}
	dst = slices.Grow(dst, size)
	dst = append(dst, `{"_embedded":{"`...)
	dst = append(dst, feed.ListKey()...)
	dst = append(dst, `":[`...)
	for i, record := range page.Records {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendBased(dst, record.Body, base)
	}
	dst = append(dst, `]},"_links":{"first":`...)
	dst = appendLink(dst, base, feed, params, "")
	if next != "" {
		dst = append(dst, `,"next":`...)
		dst = appendLink(dst, base, feed, params, next)
	}
	return append(dst, `}}`...)
}

// appendLink appends a link object to a page of the list. Encoded parameters contain no character that JSON must
// escape.
func appendLink(dst []byte, base string, feed api.Feed, params params, seeker string) []byte {
	carried := url.Values{}
	for _, name := range filters(feed) {
		if value := params[name]; value != "" {
			carried.Set(name, value)
		}
	}
	if seeker != "" {
		carried.Set(paramSeeker, seeker)
	}
	dst = append(dst, `{"href":"`...)
	dst = append(dst, base...)
	dst = append(dst, feed.Path()...)
	if len(carried) > 0 {
		dst = append(dst, '?')
		dst = append(dst, carried.Encode()...)
	}
	return append(dst, `"}`...)
}

// hrefOpening is the text before the first slash of an href under the API in a Record's Body. Inside a JSON string the
// quotes would be escaped, so a match is always a member.
var hrefOpening = []byte(`"href":"`)

// appendBased appends a record and inserts base at the beginning of its hrefs. It searches for slashes, which are rare,
// and then compares the text before each one.
func appendBased(dst, body []byte, base string) []byte {
	done := 0
	for from := 0; ; {
		i := bytes.IndexByte(body[from:], '/')
		if i < 0 {
			return append(dst, body[done:]...)
		}
		slash := from + i
		if bytes.HasSuffix(body[done:slash], hrefOpening) {
			dst = append(dst, body[done:slash]...)
			dst = append(dst, base...)
			done = slash
		}
		from = slash + 1
	}
}
