package asof

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// TestAnswersAreBounded puts more answers than are kept: those that were asked for last stay, within the bound.
func TestAnswersAreBounded(t *testing.T) {
	a, e := newAnswers(), &edition{}
	const one = 1 << 20
	for i := range 200 {
		a.put(e, fmt.Sprint(i), &Answer{size: one})
		a.get(e, "0") // asked for again and again
		if a.size > keptBytes || a.size != len(a.found)*one || len(a.found) != a.order.Len() {
			t.Fatalf("after %d answers: %d bytes in %d answers", i+1, a.size, len(a.found))
		}
	}
	if a.get(e, "0") == nil || a.get(e, "199") == nil || a.get(e, "1") != nil {
		t.Error("other answers are kept than those that were asked for last")
	}
	if a.put(e, "large", &Answer{size: keptBytes/4 + 1}); a.get(e, "large") != nil {
		t.Error("an answer that would drive out the others is kept")
	}
	other := &edition{}
	a.put(other, "0", &Answer{size: one})
	if a.forget(e); a.size != one || a.get(other, "0") == nil || a.get(e, "0") != nil {
		t.Errorf("after an edition has ended: %d bytes", a.size)
	}
}

// TestTurns checks that four statements run at once, that others wait, that who gives up leaves, and that one more than may
// wait is told to come again.
func TestTurns(t *testing.T) {
	turns := newTurns()
	var running []func()
	for range atOnce {
		done, err := turns.take(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		running = append(running, done)
	}
	ctx, leave := context.WithCancel(t.Context())
	got := make(chan error, waitingMost)
	for range waitingMost {
		go func() {
			done, err := turns.take(ctx)
			if err == nil {
				done()
			}
			got <- err
		}()
	}
	for len(turns.waiting) < waitingMost {
		runtime.Gosched() // each of them comes without waiting for anything
	}
	if _, err := turns.take(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("one too many: %v", err)
	}
	running[0]()
	if err := <-got; err != nil {
		t.Errorf("one that waited: %v", err)
	}
	leave()
	served := 1
	for range waitingMost - 1 {
		if err := <-got; err == nil {
			served++
		} else if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if len(turns.waiting) != 0 || len(turns.running) != atOnce-1 {
		t.Errorf("%d wait and %d run after all have left, %d were served", len(turns.waiting), len(turns.running), served)
	}
}
