package asof

import (
	"container/list"
	"context"
	"errors"
	"sync"
)

const (
	atOnce      = 4        // statements that run at a time: more would share the same two threads
	waitingMost = 256      // statements that wait for their turn
	answerBytes = 32 << 20 // of one answer
	keptBytes   = 64 << 20 // of all answers that are kept
)

// ErrBusy is the error if too many statements wait.
var ErrBusy = errors.New("too many readers ask at once; try again in a few seconds")

// turns limits the number of statements that run, and of those that wait.
type turns struct {
	running chan struct{}
	waiting chan struct{}
}

func newTurns() *turns {
	return &turns{make(chan struct{}, atOnce), make(chan struct{}, waitingMost)}
}

// take waits for a turn. The caller calls done after it.
func (t *turns) take(ctx context.Context) (done func(), err error) {
	select {
	case t.running <- struct{}{}:
		return func() { <-t.running }, nil
	default:
	}
	select {
	case t.waiting <- struct{}{}:
		defer func() { <-t.waiting }()
	default:
		return nil, ErrBusy
	}
	select {
	case t.running <- struct{}{}:
		return func() { <-t.running }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// answers keeps the answers that were asked for last.
type answers struct {
	mu    sync.Mutex
	size  int
	order *list.List // of *kept, the one used last in front
	found map[answerKey]*list.Element
}

type answerKey struct {
	edition *edition
	query   string
}

type kept struct {
	key    answerKey
	answer *Answer
}

func newAnswers() *answers {
	return &answers{order: list.New(), found: map[answerKey]*list.Element{}}
}

func (a *answers) get(e *edition, query string) *Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	element, ok := a.found[answerKey{e, query}]
	if !ok {
		return nil
	}
	a.order.MoveToFront(element)
	return element.Value.(*kept).answer
}

func (a *answers) put(e *edition, query string, answer *Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := answerKey{e, query}
	if _, ok := a.found[key]; ok || answer.size > keptBytes/4 {
		return
	}
	a.found[key] = a.order.PushFront(&kept{key, answer})
	a.size += answer.size
	for a.size > keptBytes {
		a.remove(a.order.Back())
	}
}

// forget drops the answers of an edition.
func (a *answers) forget(e *edition) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, element := range a.found {
		if key.edition == e {
			a.remove(element)
		}
	}
}

func (a *answers) remove(element *list.Element) {
	k := a.order.Remove(element).(*kept)
	delete(a.found, k.key)
	a.size -= k.answer.size
}
