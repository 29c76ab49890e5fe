package api

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
)

// Link is a HAL link object (openapi.yaml: Link). Only Href is required.
type Link struct {
	Href        string `json:"href"`
	Hreflang    string `json:"hreflang,omitempty"`
	Title       string `json:"title,omitempty"`
	Type        string `json:"type,omitempty"`
	Deprecation string `json:"deprecation,omitempty"`
	Profile     string `json:"profile,omitempty"`
	Name        string `json:"name,omitempty"`
	Templated   bool   `json:"templated,omitempty"`
}

// Links maps a link's name to the link.
type Links map[string]Link

// The names of the API's links.
const (
	LinkFirst        = "first"
	LinkNext         = "next"
	LinkSelf         = "self"
	LinkOriginal     = "original"
	LinkPricedDeal   = "pricedDeal"
	LinkUpdatedSince = "updatedSince"
)

// Base is the base URL of the API, parsed for making links relative to it. It may have a path. The zero Base leaves all
// links unchanged.
type Base struct {
	prefix string // scheme://host[:port]/path without a trailing slash, as given
	scheme string // lower case
	host   string // lower case, default port removed
	path   string // without a trailing slash
}

// ParseBase parses a base URL: absolute, http or https, without query, fragment and credentials.
func ParseBase(text string) (Base, error) {
	u, err := url.Parse(text)
	if err != nil { // it may contain a part of a password
		return Base{}, &url.Error{Op: "parse", URL: ShownURL(text), Err: errNotAbsolute}
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return Base{}, &url.Error{Op: "parse", URL: ShownURL(text), Err: errNotAbsolute}
	}
	if _, err := strconv.ParseUint(cmp.Or(u.Port(), "0"), 10, 16); err != nil {
		return Base{}, &url.Error{Op: "parse", URL: ShownURL(text), Err: errPort}
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return Base{}, &url.Error{Op: "parse", URL: ShownURL(text), Err: errNotBase}
	}
	if u.User != nil {
		return Base{}, &url.Error{Op: "parse", URL: ShownURL(text), Err: errUserInfo}
	}
	scheme := strings.ToLower(u.Scheme)
	b := Base{scheme: scheme, host: canonicalHost(scheme, u.Host), path: strings.TrimRight(u.EscapedPath(), "/")}
	b.prefix = b.scheme + "://" + b.host + b.path
	return b, nil
}

// ShownURL returns an address for people, without the parts that may be secrets: user and password, query, fragment. It
// takes any text, also one that is no URL.
func ShownURL(text string) string {
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		text = text[:i+1] + "…"
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 { // a password may have a slash
		return scheme + "://…" + rest[i:]
	}
	return text
}

// String returns the base URL in its canonical spelling, without a trailing slash.
func (b Base) String() string { return b.prefix }

// Origin returns the base's scheme://host[:port] in canonical spelling.
func (b Base) Origin() string { return b.scheme + "://" + b.host }

// Relative returns href relative to the base ("/v3/bond/ig/priced-deal/12"), or href unchanged if it leads elsewhere.
// Scheme, host and default port may be spelled in any way or left out; path, query and fragment are not changed.
func (b Base) Relative(href string) string {
	scheme, rest, absolute := strings.Cut(href, "://")
	switch {
	case strings.HasPrefix(href, "//"):
		rest = href[2:]
	case strings.HasPrefix(href, "/"):
		return b.underPath(href, href)
	case !absolute || !strings.EqualFold(scheme, b.scheme):
		return href
	}
	end := strings.IndexAny(rest, "/?#")
	if end <= 0 || rest[end] != '/' || canonicalHost(b.scheme, rest[:end]) != b.host {
		return href
	}
	return b.underPath(rest[end:], href)
}

// underPath removes the base's path from path. It returns whole if path is not under the base's path, or if the rest
// would read as a link to another host.
func (b Base) underPath(path, whole string) string {
	rest, ok := strings.CutPrefix(path, b.path)
	if !ok || !strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "//") {
		return whole
	}
	return rest
}

// canonicalHost returns a host in lower case, without the scheme's default port.
func canonicalHost(scheme, host string) string {
	host = strings.Map(lowerASCII, host) // only ASCII: changing other letters may give another host
	if scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}

// RelativeBytes is Relative for bytes. The result may share href's memory. For a link in the base's own spelling it
// does not allocate.
func (b Base) RelativeBytes(href []byte) []byte {
	if n := len(b.prefix); n > 0 && len(href) > n+1 && href[n] == '/' && href[n+1] != '/' && string(href[:n]) == b.prefix {
		return href[n:]
	}
	return []byte(b.Relative(string(href)))
}

func lowerASCII(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		return r - 'A' + 'a'
	}
	return r
}
