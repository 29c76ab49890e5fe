package oracle

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// base contains the parts of a base URL: scheme and host in lower case without the default port, and the path without a
// final slash.
type base struct{ scheme, host, path string }

func parseBase(url string) (base, error) {
	scheme, host, path, ok := splitURL(url)
	if !ok || host == "" || strings.ContainsAny(url, "?#") || strings.Contains(host, "@") {
		return base{}, fmt.Errorf("base URL %q: want scheme://host with an optional port and path", url)
	}
	return base{scheme, host, strings.TrimRight(path, "/")}, nil
}

// relative returns a link's address without the base URL, with an initial slash. If the link points elsewhere or is
// incomplete, it returns the complete text.
func (b base) relative(href string) string {
	address := href
	switch {
	case strings.HasPrefix(href, "//"):
		address = b.scheme + ":" + href
	case strings.HasPrefix(href, "/"):
		address = b.scheme + "://" + b.host + href
	}
	scheme, host, path, ok := splitURL(address)
	if !ok || scheme != b.scheme || host != b.host {
		return href
	}
	rest, ok := strings.CutPrefix(path, b.path)
	if !ok || !strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "//") {
		return href // a rest that starts with two slashes would read as a link to another host
	}
	return rest
}

// splitURL splits an absolute URL. path is the raw text with query and fragment.
func splitURL(url string) (scheme, host, path string, ok bool) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/?#") {
		return "", "", "", false
	}
	host = rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	scheme, host = strings.ToLower(scheme), strings.ToLower(host)
	switch scheme {
	case "https":
		host = strings.TrimSuffix(host, ":443")
	case "http":
		host = strings.TrimSuffix(host, ":80")
	}
	return scheme, host, path, true
}

var lastSegment = regexp.MustCompile(`(?:^|/)([0-9]+)$`)

// numberAtEnd returns the last segment of a link's path as a JSON number if it is all digits; else nil.
func numberAtEnd(href string) any {
	if i := strings.IndexAny(href, "?#"); i >= 0 {
		href = href[:i]
	}
	if rest, ok := strings.CutPrefix(href, "//"); ok {
		href = "scheme://" + rest
	}
	if _, _, path, ok := splitURL(href); ok {
		href = path
	}
	m := lastSegment.FindStringSubmatch(href)
	if m == nil {
		return nil
	}
	return json.Number(m[1])
}
