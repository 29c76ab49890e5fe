package serve_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"dealflow/serve"
)

// dialFrom opens a connection from an address of this machine's loopback.
func dialFrom(t *testing.T, from string, to net.Addr) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", to.String())
	if err != nil {
		t.Skipf("this machine has no %s: %v", from, err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// askOn sends a request on a connection, which is idle afterwards.
func askOn(conn net.Conn, path string) (status int, body string, err error) {
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path); err != nil {
		return 0, "", err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// beginOn sends the beginning of a request, so that the connection is busy. It returns when the server has read it.
func beginOn(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := fmt.Fprint(conn, "POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nAuthorization: Basic ZGVtbzpkZW1v\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 29\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("got %q, %v; want 100 Continue", line, err)
	}
}

// wantClosed waits for the server to close a connection.
func wantClosed(t *testing.T, what string, conn net.Conn) {
	t.Helper()
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("%s: got %d bytes, %v; want it closed", what, n, err)
	}
}

// TestIdleConnectionsShutNobodyOut fills all connections with idle ones of one client. Others are served, and so is that
// client: its connections that were idle for longest are closed.
func TestIdleConnectionsShutNobodyOut(t *testing.T) {
	for name, config := range map[string]serve.Config{
		"by address":     {MaxConnections: 12, MaxConnectionsEach: 4},
		"in all":         {MaxConnections: 4, MaxConnectionsEach: 4},
		"behind a proxy": {MaxConnections: 4, MaxConnectionsEach: 1, BehindProxy: true},
	} {
		t.Run(name, func(t *testing.T) {
			config.Source = newStand()
			at := serving(t, config)
			var idle []net.Conn
			for range 4 {
				idle = append(idle, dialFrom(t, "127.0.0.2", at)) // it sends nothing
			}
			for i := range 2 {
				if status, _, err := askOn(dialFrom(t, "127.0.0.2", at), "/healthz"); status != 200 {
					t.Errorf("connection %d of the same client: %d, %v", 5+i, status, err)
				}
				wantClosed(t, "the one that was idle for longest", idle[i])
			}
			if status, _, err := askOn(idle[3], "/healthz"); status != 200 {
				t.Errorf("the newest idle one: %d, %v", status, err)
			}
			if status, _, err := askOn(dialFrom(t, "127.0.0.3", at), "/healthz"); status != 200 {
				t.Errorf("another client: %d, %v", status, err)
			}
		})
	}
}

// TestConnectionLimits fills the limits with connections that are busy: of one address, further ones are closed; of all,
// they wait.
func TestConnectionLimits(t *testing.T) {
	at := serving(t, serve.Config{Source: newStand(), MaxConnections: 3, MaxConnectionsEach: 2})
	busy := []net.Conn{dialFrom(t, "127.0.0.2", at), dialFrom(t, "127.0.0.2", at)}
	for _, conn := range busy {
		beginOn(t, conn)
	}
	if status, _, err := askOn(dialFrom(t, "127.0.0.2", at), "/healthz"); err == nil {
		t.Errorf("a third connection of one client: got %d, want it closed", status)
	}
	other := dialFrom(t, "127.0.0.3", at)
	beginOn(t, other)
	answered := make(chan error, 1)
	waiting := dialFrom(t, "127.0.0.4", at)
	go func() {
		status, _, err := askOn(waiting, "/healthz")
		answered <- errors.Join(err, map[bool]error{false: fmt.Errorf("status %d", status)}[status == 200])
	}()
	select {
	case err := <-answered:
		t.Errorf("a connection beyond all: got %v before another ended", err)
	default:
	}
	busy[0].Close()
	if err := <-answered; err != nil {
		t.Errorf("when another has ended: %v", err)
	}
}

// TestGuessersDelayNobody has 110 guessers of one client's secret wait at once. The first logins of 35 others, from
// another address and from the same, all succeed.
func TestGuessersDelayNobody(t *testing.T) {
	const guessers, logins = 110, 35
	accounts := []serve.Account{hashed(t, "guessed", "right", serve.VIP, bcrypt.MinCost+2)}
	for i := range 2 * logins {
		accounts = append(accounts, hashed(t, fmt.Sprint("client", i), "right", serve.VIP, bcrypt.MinCost))
	}
	at := serving(t, serve.Config{Source: newStand(), Accounts: accounts, MaxConnectionsEach: 1000})
	login := func(conn net.Conn, id, secret string) (int, error) {
		request, err := http.NewRequest(http.MethodPost, "http://localhost/oauth/token?grant_type=client_credentials", nil)
		if err != nil {
			return 0, err
		}
		request.SetBasicAuth(id, secret)
		if err := request.Write(conn); err != nil {
			return 0, err
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), request)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	var work sync.WaitGroup
	stop := make(chan struct{})
	var refused sync.Once
	full := make(chan struct{})
	for range guessers {
		conn := dialFrom(t, "127.0.0.2", at)
		work.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if status, err := login(conn, "guessed", "wrong"); err != nil || status != 401 && status != 429 {
					t.Errorf("a guess: %d, %v", status, err)
					return
				} else if status == 429 {
					refused.Do(func() { close(full) })
					return // the others keep the queue full
				}
			}
		})
	}
	<-full // more guesses wait than one client may have
	var logged sync.WaitGroup
	for i := range 2 * logins {
		conn := dialFrom(t, []string{"127.0.0.2", "127.0.0.3"}[i%2], at)
		logged.Go(func() {
			if status, err := login(conn, fmt.Sprint("client", i), "right"); status != 200 {
				t.Errorf("the first login of client %d: %d, %v", i, status, err)
			}
		})
	}
	logged.Wait()
	close(stop)
	work.Wait()
}
