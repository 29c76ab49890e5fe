package limits

import (
	"net"
	"net/http"
	"testing"
)

// TestIdleForLongest checks that a connection counts as idle from its last request on, and not while it has one.
func TestIdleForLongest(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Listen(inner, 4, 0)
	defer l.Close()
	var accepted []net.Conn
	accept := func() {
		t.Helper()
		client, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		accepted = append(accepted, conn)
	}
	for range 4 {
		accept()
	}
	l.Changed(accepted[0], http.StateActive) // all the time
	l.Changed(accepted[1], http.StateActive)
	l.Changed(accepted[1], http.StateIdle)
	for i, want := range []int{2, 3, 1} {
		accept()
		for n, conn := range accepted[:4] {
			gone := conn.(*connection).gone
			if closed := n == want || i > 0 && n == 2 || i > 1 && n == 3; gone != closed {
				t.Errorf("after %d more: connection %d is closed: %t, want %t", i+1, n, gone, closed)
			}
		}
	}
}

// TestClientAddress checks which addresses are one client.
func TestClientAddress(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7:443": "192.0.2.7", "192.0.2.7": "192.0.2.7", "[::ffff:192.0.2.7]:443": "192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:443": "2001:db8:1:2::/64", "2001:db8:1:2::9": "2001:db8:1:2::/64", "[::1]:80": "::1", "[fe80::1%eth0]:80": "fe80::/64", "unknown": "unknown",
	} {
		if got := Client(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}
