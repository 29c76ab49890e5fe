package main

import (
	"testing"
	"time"
)

// TestAgo checks that nothing in the future is said to be ago.
func TestAgo(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "in the future", 59 * time.Second: "59 s ago", 119 * time.Minute: "1 h 59 min ago", 72 * time.Hour: "3 days ago",
	} {
		if got := ago(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
