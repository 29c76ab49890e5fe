package limits

import (
	"net/http"
	"testing"
)

// TestClientBehindProxy checks that only a proxy's own word counts in X-Forwarded-For: a client can send lines of it, and a proxy may add one more
// line to them in place of adding to the last one.
func TestClientBehindProxy(t *testing.T) {
	for _, c := range []struct {
		lines   []string
		proxied bool
		want    string
	}{
		{[]string{"198.51.100.1", "203.0.113.9, 192.0.2.7"}, true, "192.0.2.7"},
		{[]string{"198.51.100.1", "192.0.2.7"}, true, "192.0.2.7"},
		{[]string{"192.0.2.7"}, true, "192.0.2.7"},
		{nil, true, "127.0.0.1"},
		{[]string{"192.0.2.7"}, false, "127.0.0.1"},
	} {
		r := &http.Request{RemoteAddr: "127.0.0.1:5000", Header: http.Header{"X-Forwarded-For": c.lines}}
		if got := ClientOf(r, c.proxied); got != c.want {
			t.Errorf("%q, behind a proxy: %t: got %s, want %s", c.lines, c.proxied, got, c.want)
		}
	}
}
