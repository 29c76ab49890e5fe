package serve

import (
	"bytes"
	"net/url"
	"slices"

	"dealflow/schemas/api"
)

// The parameters of lists (API document, Query parameter sets).
const (
	paramPageSize     = "pageSize"
	paramSeeker       = "seeker"
	paramUpdatedSince = "updatedSince"
)

// appendPage appends a page of a list: its deals, and links to the first and the next page that
// carry the client's other parameters on.
func appendPage(dst []byte, base string, params url.Values, query Query, page Page) []byte {
	size := 512
	for _, record := range page.Records {
		size += len(record.Body) + 4*len(base) + 1
	}
	dst = slices.Grow(dst, size)
	dst = append(dst, `{"_embedded":{"`...)
	dst = append(dst, query.Feed.ListKey()...)
	dst = append(dst, `":[`...)
	for i, record := range page.Records {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendBased(dst, record.Body, base)
	}
	dst = append(dst, `]},"_links":{"first":`...)
	dst = appendLink(dst, base, query.Feed, params, "")
	if page.More && len(page.Records) > 0 {
		last := page.Records[len(page.Records)-1]
		dst = append(dst, `,"next":`...)
		dst = appendLink(dst, base, query.Feed, params, encodeSeeker(query.Feed, Position{last.UpdatedAt, last.ID}))
	}
	return append(dst, `}}`...)
}

// appendLink appends a link object to the list. Encoded parameters hold nothing that JSON would
// have to escape.
func appendLink(dst []byte, base string, feed api.Feed, params url.Values, seeker string) []byte {
	carried := url.Values{}
	for _, name := range []string{paramPageSize, paramUpdatedSince} {
		if value := params.Get(name); value != "" {
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

// hrefOpening is how an href under the API begins in a Record's Body. Inside a JSON string the
// quotes would be escaped, so this can only be a real member.
var hrefOpening = []byte(`"href":"/`)

// appendBased appends a record with base put before its hrefs.
func appendBased(dst, body []byte, base string) []byte {
	for {
		i := bytes.Index(body, hrefOpening)
		if i < 0 {
			return append(dst, body...)
		}
		slash := i + len(hrefOpening) - 1
		dst = append(dst, body[:slash]...)
		dst = append(dst, base...)
		dst = append(dst, '/')
		body = body[slash+1:]
	}
}
