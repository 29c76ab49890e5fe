package extract

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// pipes is a network in memory, which keeps the time of a synctest bubble: a listener, and the dialer of
// those who call it.
type pipes struct {
	calls chan net.Conn
	ended chan struct{}
}

func newPipes() *pipes { return &pipes{calls: make(chan net.Conn), ended: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.calls:
		return conn, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.calls <- there:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.ended); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// inBubble serves a market by Go's own HTTP server over pipes, and returns the configuration of a client.
func (m *market) inBubble(t testing.TB, handler http.Handler) Config {
	t.Helper()
	network := newPipes()
	server := &http.Server{Handler: handler}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(network)
	}()
	transport := tunedTransport()
	transport.Proxy, transport.DialContext = nil, network.Dial
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		<-served
	})
	m.base = "http://127.0.0.1/flow"
	cfg := m.config()
	cfg.Transport = transport
	return cfg
}

// onNetwork serves a market over TCP, and returns the configuration of a client.
func (m *market) onNetwork(t testing.TB, handler http.Handler) Config {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	m.base = server.URL + "/flow"
	cfg := m.config()
	cfg.Transport = nil
	return cfg
}

// raw answers with the given bytes and ends the connection: by a reset, or properly.
func raw(t testing.TB, w http.ResponseWriter, reset bool, text string) {
	t.Helper()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	writeAll(buffered, text)
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
}

func writeAll(w *bufio.ReadWriter, text string) {
	_, _ = w.WriteString(text)
	_ = w.Flush()
}

// head writes the head of an answer.
func head(extra string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nDate: %s\r\n%s\r\n", time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC).Format(http.TimeFormat), extra)
}
