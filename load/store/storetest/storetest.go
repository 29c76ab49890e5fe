// Package storetest is the conformance suite that every kind of store passes.
//
// Takes: a function that gives a fresh, empty store.
// Gives: subtests.
// Keeps: imported by tests only.
// Fails: through testing.T.
// May change here: a property that some store was found to lack.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"dealflow/load/store"
)

// Run checks all that a store promises.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Run("put and get", func(t *testing.T) {
		s := open(t)
		put(t, s, "a/b/c.txt", "one", store.Replace)
		put(t, s, "a/b/c.txt", "two", store.Replace)
		if got := get(t, s, "a/b/c.txt"); got != "two" {
			t.Errorf("got %q, want two", got)
		}
	})
	t.Run("get what is not there", func(t *testing.T) {
		s := open(t)
		if _, err := s.Get(t.Context(), "absent"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	})
	t.Run("create only once", func(t *testing.T) {
		s := open(t)
		put(t, s, "k", "first", store.CreateOnly)
		err := s.Put(t.Context(), "k", strings.NewReader("second"), store.CreateOnly)
		if !errors.Is(err, store.ErrExists) {
			t.Errorf("second create: got %v, want ErrExists", err)
		}
		if got := get(t, s, "k"); got != "first" {
			t.Errorf("got %q, want first", got)
		}
	})
	t.Run("a race to create has one winner", func(t *testing.T) { race(t, open(t)) })
	t.Run("list", func(t *testing.T) {
		s := open(t)
		for _, key := range []string{"b/2", "a/1", "b/10", "b0", "b-/1"} {
			put(t, s, key, key, store.Replace)
		}
		if got := list(t, s, "b/"); !slices.Equal(got, []string{"b/10", "b/2"}) {
			t.Errorf("list b/: %v", got)
		}
		if got := list(t, s, ""); !slices.Equal(got, []string{"a/1", "b-/1", "b/10", "b/2", "b0"}) {
			t.Errorf("list all: %v", got)
		}
		if got := list(t, s, "nothing/"); got != nil {
			t.Errorf("list of nothing: %v", got)
		}
	})
	t.Run("delete", func(t *testing.T) {
		s := open(t)
		put(t, s, "x", "x", store.Replace)
		put(t, s, "y", "y", store.Replace)
		if err := s.Delete(t.Context(), "x", "never/was"); err != nil {
			t.Fatal(err)
		}
		if got := list(t, s, ""); !slices.Equal(got, []string{"y"}) {
			t.Errorf("left: %v", got)
		}
	})
	t.Run("keys cannot leave the root", func(t *testing.T) {
		s := open(t)
		for _, key := range []string{"", "/etc/x", "../x", "a/../../x", "a//b", "a/", store.TempPrefix + "x"} {
			if err := s.Put(t.Context(), key, strings.NewReader("x"), store.Replace); err == nil {
				t.Errorf("put %q was allowed", key)
			}
		}
	})
	t.Run("a cancelled put leaves nothing", func(t *testing.T) {
		s := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Put(ctx, "k", strings.NewReader("x"), store.CreateOnly); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		if got := list(t, s, ""); got != nil {
			t.Errorf("left: %v", got)
		}
	})
}

func race(t *testing.T, s store.Store) {
	const writers = 16
	var wg sync.WaitGroup
	wins := make(chan string, writers)
	for i := range writers {
		wg.Go(func() {
			body := fmt.Sprint(i)
			err := s.Put(t.Context(), "commit", strings.NewReader(body), store.CreateOnly)
			switch {
			case err == nil:
				wins <- body
			case !errors.Is(err, store.ErrExists):
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	close(wins)
	var winners []string
	for w := range wins {
		winners = append(winners, w)
	}
	if len(winners) != 1 || get(t, s, "commit") != winners[0] {
		t.Errorf("winners %v, object %q", winners, get(t, s, "commit"))
	}
}

func put(t *testing.T, s store.Store, key, body string, mode store.PutMode) {
	t.Helper()
	if err := s.Put(t.Context(), key, strings.NewReader(body), mode); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s store.Store, key string) string {
	t.Helper()
	r, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func list(t *testing.T, s store.Store, prefix string) []string {
	t.Helper()
	var keys []string
	for o, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, o.Key)
	}
	return keys
}
