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

// visit is what the server knows about a request while it handles the request.
type visit struct {
	source  Source
	route   string   // the route's path, "" if there is none
	account *account // nil before the request is authorized
	instant string   // the instant of an as-of path, in normal form; "" under other paths
	prefix  string   // "/as-of/…" as the client spells it, because the client compares links with its base URL
	errorID string

	fault   Fault   // damages the answer; "" for none
	faultAt float64 // where in the body, 0 to 1
}

type visitKey struct{}

// visitOf returns the request's visit, which wrap has added.
func visitOf(r *http.Request) *visit { return r.Context().Value(visitKey{}).(*visit) }

func withVisit(r *http.Request, v *visit) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), visitKey{}, v))
}

// enter counts an authorized request against its account's rate, and opens the past that an as-of path names.
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
	at, err := parseInstant(text)
	if err != nil {
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

// asOfPath is the beginning of the paths under which the API answers as of an instant.
const asOfPath = "/as-of/"

// base returns {base_url} without a trailing slash: the configured one, or the one that the client used. It contains no
// character that JSON must escape: wrap refuses such hosts, and Config.Validate such base URLs.
func (s *Server) base(r *http.Request) string {
	base := s.config.BaseURL
	switch {
	case base != "":
	case r.TLS != nil:
		base = "https://" + r.Host
	default:
		base = "http://" + r.Host
	}
	if visitOf(r).fault == FaultLinkSpelling {
		base = respell(base)
	}
	return base + visitOf(r).prefix
}

// isPlainHost says whether a Host header has only characters of hosts and ports.
func isPlainHost(host string) bool {
	return host != "" && !strings.ContainsFunc(host, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("-._:[]", c)
	})
}

// atHome says whether a request needs no token for the routes of those who run the server: the accounts are the built-in
// ones, whose secrets are public, and the listener is on loopback without a proxy before it. Neither the peer's address
// nor the Host header can give that. A page of another site is refused, also one whose name leads to this machine.
func (s *Server) atHome(r *http.Request) bool {
	home, _ := r.Context().Value(listenerKey{}).(bool)
	return home && s.builtin && isLoopback(r.Host) && http.NewCrossOriginProtection().Check(r) == nil
}

// listenerKey is the key of a request's context under which Serve says that its listener is on loopback.
type listenerKey struct{}

// isLoopback says whether the host of "host" or "host:port" is this machine's loopback.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
