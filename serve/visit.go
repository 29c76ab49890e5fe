package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// visit is what the server comes to know about a request on its way.
type visit struct {
	source  Source
	route   string   // the route's path, "" if there is none
	account *account // nil before the request is let in
	instant string   // the instant of an as-of path, in one spelling; "" under the plain path
	prefix  string   // "/as-of/…" as the client spells it: its links must begin as its base does
	errorID string

	oddLinks bool // links are spelled as they usually are not
}

type visitKey struct{}

// visitOf is the request's visit; wrap has put it there.
func visitOf(r *http.Request) *visit { return r.Context().Value(visitKey{}).(*visit) }

func withVisit(r *http.Request, v *visit) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
}

// enter is the way in for a request whose account is known: its rate, and the past that it asks for.
func (s *Server) enter(r *http.Request) error {
	v := visitOf(r)
	if wait := v.account.admit(); wait > 0 {
		return tooMany(wait)
	}
	text := r.PathValue("instant")
	if text == "" {
		return nil
	}
	traveler, ok := s.config.Source.(TimeTraveler)
	if !ok {
		return errNoPath
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || strings.Contains(text, ",") {
		return badRequest("as-of %s: want an instant such as 2026-11-01T06:00:00Z", quote(text))
	}
	source, err := traveler.AsOf(r.Context(), at)
	if errors.Is(err, ErrNotFound) {
		return failure{status: http.StatusNotFound, message: "nothing is known as of " + text}
	}
	if err != nil {
		return err
	}
	spelled, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.URL.EscapedPath(), (&url.URL{Path: s.path}).EscapedPath()), asOfPath), "/")
	v.source, v.instant, v.prefix = source, at.UTC().Format(time.RFC3339Nano), asOfPath+spelled
	return nil
}

// asOfPath begins the paths under which the API answers as of an instant.
const asOfPath = "/as-of/"

// base is {base_url} without a trailing slash: the configured one, or the one the client used. It goes
// into JSON as it is: wrap has refused hosts with characters that do not belong there, and
// Config.Validate base URLs.
func (s *Server) base(r *http.Request) string {
	base := s.config.BaseURL
	switch {
	case base != "":
	case r.TLS != nil:
		base = "https://" + r.Host
	default:
		base = "http://" + r.Host
	}
	if visitOf(r).oddLinks {
		base = oddly(base)
	}
	return base + visitOf(r).prefix
}

// plainHost says whether a Host header holds only what a host and a port may.
func plainHost(host string) bool {
	return host != "" && !strings.ContainsFunc(host, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("-._:[]", c)
	})
}

// atHome says whether the request came over this machine's loopback, by an address of it and from no
// page of another site: only then is what it asks for no matter of who asks.
func atHome(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || !isLoopback(local.String()) || !isLoopback(r.RemoteAddr) || !isLoopback(r.Host) {
		return false
	}
	return http.NewCrossOriginProtection().Check(r) == nil
}

// isLoopback looks at host or host:port.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
