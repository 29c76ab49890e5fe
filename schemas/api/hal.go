package api

import (
	"net/url"
	"strings"
)

// Link is a HAL link object (API document, Link objects). Only Href is ever required.
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

// The link names of the API document.
const (
	LinkFirst        = "first"
	LinkNext         = "next"
	LinkSelf         = "self"
	LinkOriginal     = "original"
	LinkPricedDeal   = "pricedDeal"
	LinkUpdatedSince = "updatedSince"
)

// Base is {base_url}, the address under which the API lies, prepared to make hrefs relative to it.
// It may have a path of its own. The zero Base has no origin: hrefs stay as they are, but for
// those that start with a single slash.
type Base struct {
	prefix string // scheme://host[:port]/path without a trailing slash, as given
	scheme string // lower case
	host   string // lower case, default port removed
	path   string // without a trailing slash
}

// ParseBase prepares a base URL. The error names what is wrong with it.
func ParseBase(text string) (Base, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Base{}, err
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return Base{}, &url.Error{Op: "parse", URL: text, Err: errNotAbsolute}
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return Base{}, &url.Error{Op: "parse", URL: text, Err: errNotBase}
	}
	if u.User != nil {
		return Base{}, &url.Error{Op: "parse", URL: u.Redacted(), Err: errUserInfo}
	}
	scheme := strings.ToLower(u.Scheme)
	b := Base{scheme: scheme, host: canonicalHost(scheme, u.Host), path: strings.TrimRight(u.EscapedPath(), "/")}
	b.prefix = b.scheme + "://" + b.host + b.path
	return b, nil
}

// String is the base URL in its canonical spelling, without a trailing slash.
func (b Base) String() string { return b.prefix }

// Origin is the base's scheme://host[:port] in canonical spelling.
func (b Base) Origin() string { return b.scheme + "://" + b.host }

// Relative gives href relative to the base ("/v3/bond/ig/priced-deal/12"), or href as it is where it
// points elsewhere. The spelling of scheme, host and default port does not matter, nor whether they
// are left out; path, query and fragment stay as they are written.
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

// underPath removes the base's own path from path. Where path lies outside it, and where the rest
// would read as a link to another host, whole is returned.
func (b Base) underPath(path, whole string) string {
	rest, ok := strings.CutPrefix(path, b.path)
	if !ok || !strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "//") {
		return whole
	}
	return rest
}

// canonicalHost is a host in lower case, without the scheme's default port.
func canonicalHost(scheme, host string) string {
	host = strings.Map(lowerASCII, host) // other letters may be another host's
	if scheme == "https" {
		return strings.TrimSuffix(host, ":443")
	}
	return strings.TrimSuffix(host, ":80")
}

// RelativeBytes is Relative over bytes. The result may share href's memory; the usual case, a link
// in the base's own spelling, allocates nothing.
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
