package load_test

import (
	"strings"
	"testing"
	"time"

	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store/memstore"
	"dealflow/schemas/lake"
)

// TestHoleInTheLog checks that a lake with a missing commit is refused: a commit with that number would begin a second
// history, and files that later commits added would look like garbage.
func TestHoleInTheLog(t *testing.T) {
	for _, test := range []struct {
		name    string
		missing []int64
	}{
		{"one", []int64{3}},
		{"several, but the hint knows of later ones", []int64{3, 4}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := new(memstore.Mem)
			l := loadtest.Open(t, s)
			for n := range 6 {
				loadtest.Night(t, l, n, loadtest.Added(int64(n+1), 1, 'a'))
			}
			for _, n := range test.missing {
				if err := s.Delete(t.Context(), lake.CommitKey(n)); err != nil {
					t.Fatal(err)
				}
			}
			_, err := load.Open(t.Context(), s)
			if err == nil || !strings.Contains(err.Error(), "commit 3 is missing") || !strings.Contains(err.Error(), "dealflow verify") {
				t.Errorf("open: %v does not say which commit is missing and what to do", err)
			}
		})
	}
}

// TestLeaseOfAWrongClock checks that a lease that would be valid for much longer than LeaseLife is ignored.
func TestLeaseOfAWrongClock(t *testing.T) {
	l := loadtest.Open(t, new(memstore.Mem))
	now := loadtest.Start
	for ahead, stands := range map[time.Duration]bool{time.Minute: true, load.LeaseLife + 5*time.Minute: true, load.LeaseLife + time.Hour: false, -time.Second: false} {
		if err := l.TakeLease(t.Context(), load.Lease{RunID: "x", ExpiresAt: lake.At(now.Add(ahead))}); err != nil {
			t.Fatal(err)
		}
		if got := l.Lease(t.Context(), now) != nil; got != stands {
			t.Errorf("a lease that ends %s from now: stands %t, want %t", ahead, got, stands)
		}
	}
}
