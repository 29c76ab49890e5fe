package limits

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// TestTurns fills the queue of one client at one address. The same client at another address, and another client at the
// same one, wait for one turn of it each.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := NewTurns(1)
		if err := turns.Take(t.Context(), "A", "desk"); err != nil {
			t.Fatal(err)
		}
		var order []string
		take := func(ctx context.Context, address, client string) {
			go func() {
				if err := turns.Take(ctx, address, client); err != nil {
					order = append(order, err.Error())
					return
				}
				order = append(order, address+" "+client)
			}()
			synctest.Wait()
		}
		for range waitingOfClient {
			take(t.Context(), "A", "desk")
		}
		if err := turns.Take(t.Context(), "A", "desk"); !errors.Is(err, ErrBusy) {
			t.Errorf("one more of the same: got %v, want ErrBusy", err)
		}
		take(t.Context(), "B", "desk")
		take(t.Context(), "A", "other")
		leaving, leave := context.WithCancel(t.Context())
		take(leaving, "C", "desk")
		leave()
		synctest.Wait()
		for range waitingOfClient + 2 {
			turns.Done()
			synctest.Wait()
		}
		if want := []string{"context canceled", "A desk", "B desk", "A other", "A desk"}; !slices.Equal(order[:5], want) || len(order) != waitingOfClient+3 {
			t.Errorf("%d had a turn, the first %q; want %d, %q", len(order), order[:5], waitingOfClient+3, want)
		}
		turns.Done()
		if turns.free != 1 || len(turns.addresses) != 0 {
			t.Errorf("at last %d turns are free, and %d addresses wait; want 1 and 0", turns.free, len(turns.addresses))
		}
		for i := range waitingOfAddress {
			take(t.Context(), "A", string(rune('a'+i)))
		}
		take(t.Context(), "A", "last")
		if err := turns.Take(t.Context(), "A", "beyond"); !errors.Is(err, ErrBusy) {
			t.Errorf("more clients of one address than wait: got %v, want ErrBusy", err)
		}
		for range waitingOfAddress + 1 {
			turns.Done()
			synctest.Wait()
		}
	})
}
