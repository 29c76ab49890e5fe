package extract

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"dealflow/schemas/api"
)

// origin is the only address that requests may go to: the base's scheme, host and port, under its path.
type origin struct {
	base api.Base
	home string // the base's scheme://host[:port] as spelled returns it
	path string // the base's path, without a trailing slash
}

func newOrigin(base api.Base) (origin, error) {
	u, err := url.Parse(base.String())
	if err != nil {
		return origin{}, fmt.Errorf("base URL: %w", err)
	}
	home, err := spelled(u)
	if err != nil {
		return origin{}, fmt.Errorf("base URL: %w", err)
	}
	return origin{base: base, home: home, path: u.Path}, nil
}

// spelled returns scheme://host[:port] as it is dialled: international names in ASCII, lower case, without the default
// port. Lower case must be the last step. In Unicode, the lower case of İ contains a plain i, so a foreign name could
// pass for the API's while the request goes elsewhere.
func spelled(u *url.URL) (string, error) {
	name := u.Hostname()
	ascii, err := name, error(nil)
	if strings.IndexFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 {
		ascii, err = idna.Lookup.ToASCII(name) // what net/http does with it
	}
	if err != nil {
		return "", err
	}
	base, err := api.ParseBase(u.Scheme + "://" + strings.Replace(u.Host, name, ascii, 1))
	return base.Origin(), err
}

// absolute returns the address of a link that was saved relative to the base. The error is a *LinkError.
func (o origin) absolute(saved string) (string, error) {
	whole := saved
	if strings.HasPrefix(saved, "/") && !strings.HasPrefix(saved, "//") {
		whole = o.base.String() + saved
	}
	return o.resolve(o.base.String()+"/", whole)
}

// resolve makes a link absolute that was found in the answer to a request to from. It refuses a link out of the origin
// with a *LinkError. The result always spells the origin in the same way, so that a circle of links is detected.
func (o origin) resolve(from, link string) (string, error) {
	u, err := url.Parse(from)
	if err == nil {
		u, err = u.Parse(link)
	}
	if err != nil {
		return "", &LinkError{Link: link, Reason: "not a valid URL"}
	}
	u.Fragment, u.RawFragment = "", ""
	if reason := o.refuses(u); reason != "" {
		return "", &LinkError{Link: link, Reason: reason}
	}
	u.Scheme, u.Host, _ = strings.Cut(o.home, "://")
	return u.String(), nil
}

// refuses returns why a request must not go to u; "" if it may.
func (o origin) refuses(u *url.URL) string {
	if u.User != nil {
		return "contains credentials, so it is not followed"
	}
	if target, err := spelled(u); err != nil || target != o.home {
		return fmt.Sprintf("leads away from %s, so it is not followed: the token is sent to that address only; if the API has moved, set --api", o.base.Origin())
	}
	// Dot segments, escaped ones too, must not lead out of the base's path.
	if clean := path.Clean("/" + u.Path); o.path != "" && clean != o.path && !strings.HasPrefix(clean, o.path+"/") {
		return fmt.Sprintf("leads outside %s, so it is not followed", o.base)
	}
	return ""
}

// redirect is the CheckRedirect function of the http.Client.
func (o origin) redirect(request *http.Request, via []*http.Request) error {
	const most = 5
	link := request.URL.String()
	if reason := o.refuses(request.URL); reason != "" {
		return &LinkError{Link: link, Reason: "redirect " + reason}
	}
	// The answer would be taken for that of the resource that was asked for: another market's list for this one's.
	if asked := via[0].URL; !strings.EqualFold(path.Clean(request.URL.Path), path.Clean(asked.Path)) {
		return &LinkError{Link: link, Reason: fmt.Sprintf("redirect from %s leads to another resource, so it is not followed", asked.Path)}
	}
	if len(via) >= most {
		return &LinkError{Link: link, Reason: fmt.Sprintf("not followed after %d redirects", len(via))}
	}
	return nil
}
