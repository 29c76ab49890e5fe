package serve

import (
	"net/http"
	"testing"
)

// TestAddressBehindProxy checks that only a proxy's own word counts in X-Forwarded-For.
func TestAddressBehindProxy(t *testing.T) {
	r := &http.Request{RemoteAddr: "127.0.0.1:5000", Header: http.Header{"X-Forwarded-For": {"198.51.100.1", "203.0.113.9, 192.0.2.7"}}}
	for proxy, want := range map[bool]string{true: "192.0.2.7", false: "127.0.0.1"} {
		s := &Server{config: Config{BehindProxy: proxy}}
		if got := s.addressOf(r); got != want {
			t.Errorf("behind a proxy: %t: got %s, want %s", proxy, got, want)
		}
	}
}
