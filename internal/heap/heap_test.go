package heap

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestGrow compares the percentage that is set with the definition, with a live heap that is small and one that is large.
func TestGrow(t *testing.T) {
	before := debug.SetGCPercent(30)
	defer debug.SetGCPercent(before)
	const room = 64 << 20
	stop := Grow(room)
	defer stop()
	runtime.GC()
	if got := afterCollections(t); got < 50 {
		t.Errorf("a live heap of a few MiB may grow by 64: got %d %%", got)
	}
	large := make([]byte, 1<<30)
	if got := afterCollections(t); got != 30 {
		t.Errorf("a live heap of 1 GiB: got %d %%, want 30 as before", got)
	}
	runtime.KeepAlive(large) // from here on it is garbage
	if got := afterCollections(t); got < 50 {
		t.Errorf("after it is small again: got %d %%", got)
	}
	stop()
	stop()
	if got := afterCollections(t); got != 30 {
		t.Errorf("after the end: got %d %%, want 30 as before", got)
	}
}

// afterCollections returns the percentage that is set after the finalizers of a collection have been called.
func afterCollections(t *testing.T) int {
	t.Helper()
	for range 3 {
		done := make(chan struct{})
		runtime.SetFinalizer(&[32]byte{}, func(*[32]byte) { close(done) })
		runtime.GC()
		<-done // one goroutine calls all finalizers
		runtime.GC()
	}
	return percentSet()
}

// TestGrowNothing grows by nothing, and without collections: the setting stays as it is.
func TestGrowNothing(t *testing.T) {
	for _, percent := range []int{50, -1} {
		before := debug.SetGCPercent(percent)
		for _, bytes := range []int64{0, 64 << 20} {
			if bytes > 0 && percent > 0 {
				continue
			}
			stop := Grow(bytes)
			if got := afterCollections(t); got != percent {
				t.Errorf("%d bytes, with %d %%: got %d %%", bytes, percent, got)
			}
			stop()
			if got := percentSet(); got != percent {
				t.Errorf("%d bytes, with %d %%: got %d %% after the end", bytes, percent, got)
			}
		}
		debug.SetGCPercent(before)
	}
}

func TestPercentOf(t *testing.T) {
	for _, c := range []struct {
		bytes, live int64
		want        int
	}{
		{50, 100, 50},
		{50, 50, 100},
		{50, 1000, 5},
		{50, 12, mostPercent},
		{50, 0, mostPercent},
	} {
		if got := percentOf(c.bytes, c.live); got != c.want {
			t.Errorf("%d bytes for a heap of %d: got %d %%, want %d", c.bytes, c.live, got, c.want)
		}
	}
}
