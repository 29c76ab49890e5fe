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
	if u.User != nil {
		return Base{}, &url.Error{Op: "parse", URL: u.Redacted(), Err: errUserInfo}
	}
	b := Base{scheme: strings.ToLower(u.Scheme), host: canonicalHost(u), path: strings.TrimRight(u.Path, "/")}
	b.prefix = b.scheme + "://" + b.host + b.path
	return b, nil
}

// String is the base URL in its canonical spelling, without a trailing slash.
func (b Base) String() string { return b.prefix }

// Origin is the base's scheme://host[:port] in canonical spelling.
func (b Base) Origin() string { return b.scheme + "://" + b.host }

// Relative gives href relative to the base ("/v3/bond/ig/priced-deal/12"), or href as it is where
// it points elsewhere. The spelling of scheme, host and default port does not matter.
func (b Base) Relative(href string) string {
	if rest, ok := strings.CutPrefix(href, b.prefix); ok && b.prefix != "" && strings.HasPrefix(rest, "/") {
		return rest
	}
	if strings.HasPrefix(href, "/") && !strings.HasPrefix(href, "//") {
		return underPath(href, b.path, href)
	}
	u, err := url.Parse(href)
	if err != nil || u.Host == "" || u.User != nil || !strings.EqualFold(u.Scheme, b.scheme) || canonicalHost(u) != b.host {
		return href
	}
	_, rest, _ := strings.Cut(href, "://")
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return href
	}
	return underPath(rest[slash:], b.path, href)
}

// underPath removes the base's own path from path; where path lies outside it, whole is returned.
func underPath(path, base, whole string) string {
	rest, ok := strings.CutPrefix(path, base)
	if !ok || !strings.HasPrefix(rest, "/") {
		return whole
	}
	return rest
}

// canonicalHost is the URL's host in lower case, without the scheme's default port.
func canonicalHost(u *url.URL) string {
	host := strings.ToLower(u.Host)
	switch strings.ToLower(u.Scheme) {
	case "https":
		return strings.TrimSuffix(host, ":443")
	case "http":
		return strings.TrimSuffix(host, ":80")
	}
	return host
}

// RelativeBytes is Relative over bytes. The result may share href's memory; the usual case, a link
// in the base's own spelling, allocates nothing.
func (b Base) RelativeBytes(href []byte) []byte {
	if n := len(b.prefix); n > 0 && len(href) > n && href[n] == '/' && string(href[:n]) == b.prefix {
		return href[n:]
	}
	return []byte(b.Relative(string(href)))
}
