package serve

import (
	"bytes"
	"net/url"
	"slices"

	"dealflow/schemas/api"
)

// appendPage appends a page of a list: its deals, and links to the first and the next page that
// carry the client's other parameters on. Without a cursor for it there is no next page.
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

// appendLink appends a link object to the list. Encoded parameters hold nothing that JSON would
// have to escape.
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

// hrefOpening is how an href under the API begins in a Record's Body, before its slash. Inside a JSON
// string the quotes would be escaped, so this can only be a real member.
var hrefOpening = []byte(`"href":"`)

// appendBased appends a record with base put before its hrefs. It looks for slashes, which are rare,
// and then at what stands before them.
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
