package extract

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"dealflow/schemas/api"
)

// origin is the one place that requests may go to: the base's scheme, host and port, under its path.
type origin struct {
	base api.Base
	path string // the base's path, without a trailing slash
}

func newOrigin(base api.Base) (origin, error) {
	u, err := url.Parse(base.String())
	if err != nil {
		return origin{}, fmt.Errorf("base URL: %w", err)
	}
	return origin{base: base, path: u.Path}, nil
}

// resolve makes a link that stood in the answer to the request from absolute, and refuses it where it
// leaves the origin. The error is a *LinkError.
func (o origin) resolve(from, link string) (string, error) {
	u, err := url.Parse(from)
	if err == nil {
		u, err = u.Parse(link)
	}
	if err != nil {
		return "", &LinkError{Link: link, Reason: "cannot be read as a URL"}
	}
	u.Fragment, u.RawFragment = "", ""
	if reason := o.refuses(u); reason != "" {
		return "", &LinkError{Link: link, Reason: reason}
	}
	return u.String(), nil
}

// refuses says why a request must not go to u; "" if it may.
func (o origin) refuses(u *url.URL) string {
	if u.User != nil {
		return "carries credentials"
	}
	target, err := api.ParseBase(u.Scheme + "://" + u.Host)
	if err != nil || target.Origin() != o.base.Origin() {
		return fmt.Sprintf("leaves %s, so it is not followed: the token stays with that address; if the API has moved, set --api", o.base.Origin())
	}
	// Dot segments, escaped ones too, must not climb out of the base's path.
	if clean := path.Clean("/" + u.Path); o.path != "" && clean != o.path && !strings.HasPrefix(clean, o.path+"/") {
		return fmt.Sprintf("lies outside %s, so it is not followed", o.base)
	}
	return ""
}

// redirect is the http.Client's CheckRedirect.
func (o origin) redirect(request *http.Request, via []*http.Request) error {
	const most = 5
	link := request.URL.String()
	if reason := o.refuses(request.URL); reason != "" {
		return &LinkError{Link: link, Reason: "redirect " + reason}
	}
	if len(via) >= most {
		return &LinkError{Link: link, Reason: fmt.Sprintf("redirected %d times", len(via))}
	}
	return nil
}
