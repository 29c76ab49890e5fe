package limits

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
)

// Listener is a listener that limits the open connections: of all clients together, and of each address, unless all
// come from one proxy. At a limit it first closes the connection that has been idle for longest: of all, or of the
// address. A client at its own limit that has no idle connection is turned away; at the limit of all a new connection
// waits. So one client cannot shut others out.
type Listener struct {
	net.Listener
	most    int // of all clients
	mostOne int // of one address; 0: no limit

	mu     sync.Mutex
	change *sync.Cond // a connection was closed or became idle, or the listener was closed
	closed bool
	open   map[*connection]bool
	count  map[string]int // open connections of each address
	clock  int64          // counts the changes to idle
}

// connection is an open connection. Its fields after the first two are guarded by Listener.mu.
type connection struct {
	net.Conn
	limits  *Listener
	address string
	idle    int64 // when it became idle, by Listener.clock; 0 if it is not idle
	gone    bool
}

// Listen limits the connections that l accepts: most of all clients, and mostOne of each address; 0 for no such limit.
// ConnState of the HTTP server must be set to Changed.
func Listen(l net.Listener, most, mostOne int) *Listener {
	c := &Listener{Listener: l, most: most, mostOne: mostOne, open: map[*connection]bool{}, count: map[string]int{}}
	c.change = sync.NewCond(&c.mu)
	return c
}

// Accept implements net.Listener.
func (c *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		admitted := &connection{Conn: conn, limits: c, address: Client(conn.RemoteAddr().String())}
		if c.admit(admitted) {
			return admitted, nil
		}
		_ = conn.Close() // nothing was sent on it
	}
}

// admit makes room for a connection. It returns false if the connection is turned away.
func (c *Listener) admit(n *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mostOne > 0 && c.count[n.address] >= c.mostOne && !c.closeIdle(n.address) {
		return false
	}
	for len(c.open) >= c.most && !c.closeIdle("") {
		if c.closed {
			return false
		}
		c.change.Wait()
	}
	// A connection that is new waits for its request, as an idle one does.
	c.clock++
	n.idle = c.clock
	c.open[n] = true
	c.count[n.address]++
	return true
}

// closeIdle closes the connection that has been idle for longest, of an address or of all (""). It returns false if none
// is idle.
func (c *Listener) closeIdle(address string) bool {
	var oldest *connection
	for n := range c.open {
		if n.idle > 0 && (address == "" || n.address == address) && (oldest == nil || n.idle < oldest.idle) {
			oldest = n
		}
	}
	if oldest == nil {
		return false
	}
	c.forget(oldest)
	_ = oldest.Conn.Close() // its server goroutine reads the end, and calls Close again
	return true
}

// forget removes a connection from the counts.
func (c *Listener) forget(n *connection) {
	if n.gone {
		return
	}
	n.gone = true
	delete(c.open, n)
	if c.count[n.address]--; c.count[n.address] == 0 {
		delete(c.count, n.address)
	}
	c.change.Broadcast()
}

// Close implements net.Listener.
func (c *Listener) Close() error {
	c.mu.Lock()
	c.closed = true
	c.change.Broadcast()
	c.mu.Unlock()
	return c.Listener.Close()
}

// Close implements net.Conn.
func (n *connection) Close() error {
	n.limits.mu.Lock()
	n.limits.forget(n)
	n.limits.mu.Unlock()
	return n.Conn.Close()
}

// Changed is the ConnState hook of the HTTP server. The first bytes of a request make a connection active.
func (c *Listener) Changed(conn net.Conn, state http.ConnState) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	n, ok := conn.(*connection)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateIdle:
		c.clock++
		n.idle = c.clock
		c.change.Broadcast()
	case http.StateActive, http.StateHijacked:
		n.idle = 0
	}
}

// Client returns the client that an address belongs to: the host of an IPv4 address, and the /64 network of an
// IPv6 address, because one client has all addresses of such a network.
func Client(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	ip = ip.Unmap().WithZone("")
	if network, err := ip.Prefix(64); ip.Is6() && !ip.IsLoopback() && err == nil {
		return network.String()
	}
	return ip.String()
}

// ClientOf returns the client that a request comes from. If all requests come through a proxy, that is the client of the last address of the
// last X-Forwarded-For, which the proxy has added: what is before it comes from the client, who can write anything there.
func ClientOf(r *http.Request, behindProxy bool) string {
	address := r.RemoteAddr
	if chain := r.Header.Values("X-Forwarded-For"); behindProxy && len(chain) > 0 {
		last := chain[len(chain)-1]
		address = strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
	}
	return Client(address)
}
