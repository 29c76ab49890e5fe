package main

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"syscall"
)

// A binding is an address to serve on, and what a network may see there.
type binding struct {
	address   string // HOST:PORT
	sockets   bool   // the address may be unix:PATH
	guarded   bool   // readers need a secret that only they have
	encrypted bool   // by TLS of this server, or of a proxy in front of it
	insecure  bool   // the lack of encryption is asked for

	unguarded string // says what to do if an address that is not guarded can be reached from another machine
	exposed   string // names what crosses the network
}

// listen opens the listener. Another machine can reach it only if it is guarded, and encrypted or insecure. A socket of
// Unix is the user's alone.
func (b binding) listen(ctx context.Context) (net.Listener, error) {
	if path, ok := strings.CutPrefix(b.address, "unix:"); ok && b.sockets {
		return b.listenUnix(ctx, path)
	}
	host, _, err := net.SplitHostPort(b.address)
	if err != nil {
		return nil, usagef("--listen %q: %w", b.address, err)
	}
	ip, err := netip.ParseAddr(host)
	loopback := host == "localhost" || err == nil && ip.Unmap().IsLoopback()
	switch {
	case !loopback && !b.guarded:
		return nil, usagef("--listen %s: %s", b.address, b.unguarded)
	case !loopback && !b.encrypted && !b.insecure:
		return nil, usagef("--listen %s: %s would cross the network unencrypted; pass --tls-cert and --tls-key, or --behind-proxy if a proxy with TLS is in front of this server, or --insecure-http", b.address, b.exposed)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", b.address)
}

// listenUnix makes the socket with its permissions: before a chmod, others could connect. The umask is that of the process;
// what else is made at this time stays of use to its user.
func (b binding) listenUnix(ctx context.Context, path string) (net.Listener, error) {
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, usagef("--listen %s: %w", b.address, err)
	}
	return listener, nil
}
