package limits

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Turns lets a few requests at a time do costly work. The others wait, each in the queue of its address and client.
// Addresses take turns, and within an address its clients do. So those who guess secrets delay another client by at most
// one turn of theirs for each of its own, and fill only their own queues.
type Turns struct {
	mu        sync.Mutex
	free      int
	addresses []*addressQueue // those that wait, the next one first
}

// The most requests that wait: for one client at one address, and at one address. An address may be a proxy with many
// clients.
const (
	waitingOfClient  = 64
	waitingOfAddress = 512
)

type addressQueue struct {
	address string
	waiting int
	clients []*clientQueue // those that wait, the next one first
}

type clientQueue struct {
	client  string
	waiters []chan struct{} // each is closed when it is its turn
}

// NewTurns returns turns of which atOnce requests have one at a time.
func NewTurns(atOnce int) *Turns { return &Turns{free: atOnce} }

// ErrBusy means that too many requests wait already.
var ErrBusy = errors.New("too many requests wait")

// Take waits for a turn. After it returned nil, the caller must call Done. It fails with ErrBusy if too many wait
// already, or with the context's error.
func (t *Turns) Take(ctx context.Context, address, client string) error {
	t.mu.Lock()
	if t.free > 0 {
		t.free--
		t.mu.Unlock()
		return nil
	}
	turn, ok := t.enqueue(address, client)
	t.mu.Unlock()
	if !ok {
		return ErrBusy
	}
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	left := t.leave(address, client, turn)
	t.mu.Unlock()
	if !left {
		t.Done() // its turn came in between
	}
	return context.Cause(ctx)
}

// Done ends a turn: the next waiter has it.
func (t *Turns) Done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.addresses) == 0 {
		t.free++
		return
	}
	a := t.addresses[0]
	c := a.clients[0]
	close(c.waiters[0])
	c.waiters = c.waiters[1:]
	a.waiting--
	// The client and the address go to the end of their queues, or leave them.
	a.clients = a.clients[1:]
	if len(c.waiters) > 0 {
		a.clients = append(a.clients, c)
	}
	t.addresses = t.addresses[1:]
	if a.waiting > 0 {
		t.addresses = append(t.addresses, a)
	}
}

// enqueue adds a waiter; false if too many wait.
func (t *Turns) enqueue(address, client string) (turn chan struct{}, ok bool) {
	a := t.find(address)
	if a == nil {
		a = &addressQueue{address: address}
		t.addresses = append(t.addresses, a)
	}
	c := a.find(client)
	if a.waiting >= waitingOfAddress || c != nil && len(c.waiters) >= waitingOfClient {
		return nil, false
	}
	if c == nil {
		c = &clientQueue{client: client}
		a.clients = append(a.clients, c)
	}
	turn = make(chan struct{})
	c.waiters = append(c.waiters, turn)
	a.waiting++
	return turn, true
}

// leave removes a waiter; false if its turn has come.
func (t *Turns) leave(address, client string, turn chan struct{}) bool {
	a := t.find(address)
	if a == nil {
		return false
	}
	c := a.find(client)
	if c == nil {
		return false
	}
	i := slices.Index(c.waiters, turn)
	if i < 0 {
		return false
	}
	c.waiters = slices.Delete(c.waiters, i, i+1)
	a.waiting--
	if len(c.waiters) == 0 {
		a.clients = slices.DeleteFunc(a.clients, func(q *clientQueue) bool { return q == c })
	}
	if a.waiting == 0 {
		t.addresses = slices.DeleteFunc(t.addresses, func(q *addressQueue) bool { return q == a })
	}
	return true
}

func (t *Turns) find(address string) *addressQueue {
	for _, a := range t.addresses {
		if a.address == address {
			return a
		}
	}
	return nil
}

func (a *addressQueue) find(client string) *clientQueue {
	for _, c := range a.clients {
		if c.client == client {
			return c
		}
	}
	return nil
}
