package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/load/store"
)

// optional returns the store as an optional interface, or skips the test.
func optional[T any](t *testing.T, s store.Store) T {
	t.Helper()
	v, ok := s.(T)
	if !ok {
		t.Skipf("this store is no %s", reflect.TypeFor[T]())
	}
	return v
}

func open(t *testing.T, s store.Store, key string) store.ReaderAtCloser {
	t.Helper()
	r, err := optional[store.RandomReader](t, s).OpenAt(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// ranges returns offsets and lengths in an object of n bytes: at its start, at its end, past the end and over all of
// it, in mixed order.
func ranges(n int64) [][2]int64 {
	return [][2]int64{
		{n - 8, 8}, {0, 4}, {n / 2, 100}, {1, 1}, {n - 1, 1}, {0, n}, {n/3 + 1, n / 3}, {n - 5, 10}, {n, 1}, {n + 100, 5},
		{7, 0}, {n, 0}, {0, n + 1}, {n / 2, 100}, {n - 8, 8},
	}
}

// wantRange reads a range and compares it.
func wantRange(t *testing.T, r io.ReaderAt, data []byte, offset, n int64) {
	t.Helper()
	size := int64(len(data))
	want := data[min(offset, size):min(offset+n, size)]
	p := make([]byte, n)
	got, err := r.ReadAt(p, offset)
	if got != len(want) || !bytes.Equal(p[:got], want) {
		t.Errorf("read %d at %d: got %d bytes, want %d, or they differ", n, offset, got, len(want))
	}
	if short := int64(len(want)) < n; short && !errors.Is(err, io.EOF) || !short && err != nil && (!errors.Is(err, io.EOF) || offset+n < size) {
		t.Errorf("read %d at %d: error %v", n, offset, err)
	}
}

func readAt(t *testing.T, s store.Store, cfg Config) {
	for key, data := range map[string][]byte{"large": large(cfg.LargeBytes), "small": []byte("0123456789"), "empty": nil} {
		if err := s.Put(t.Context(), key, bytes.NewReader(data), store.Replace); err != nil {
			t.Fatal(err)
		}
		r := open(t, s, key)
		size := int64(len(data))
		if n, err := r.Seek(0, io.SeekEnd); err != nil || n != size {
			t.Errorf("%s: size %d, %v, want %d", key, n, err, size)
		}
		for _, span := range ranges(size) {
			if span[0] >= 0 {
				wantRange(t, r, data, span[0], span[1])
			}
		}
		if _, err := r.ReadAt(make([]byte, 1), -1); err == nil {
			t.Errorf("%s: reading before the start was allowed", key)
		}
	}
}

func readAtConcurrently(t *testing.T, s store.Store, cfg Config) {
	data := large(cfg.LargeBytes)
	if err := s.Put(t.Context(), "k", bytes.NewReader(data), store.Replace); err != nil {
		t.Fatal(err)
	}
	r := open(t, s, "k")
	var all sync.WaitGroup
	for i := range int64(8) {
		all.Go(func() {
			for step := range int64(20) {
				wantRange(t, r, data, (i*7919+step*104729)%cfg.LargeBytes, 1+(i+step)*1000)
			}
		})
	}
	all.Wait()
}

func openAbsent(t *testing.T, s store.Store, _ Config) {
	random := optional[store.RandomReader](t, s)
	if _, err := random.OpenAt(t.Context(), "absent"); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "absent") {
		t.Errorf("got %v, want ErrNotFound that names the key", err)
	}
	put(t, s, "k", "x", store.Replace)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := random.OpenAt(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// tagOf returns the tag of the object "k".
func tagOf(t *testing.T, r store.Replacer) string {
	t.Helper()
	tag, err := r.Tag(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

func replaceIf(t *testing.T, s store.Store, cfg Config) {
	r := optional[store.Replacer](t, s)
	replace := func(body, tag string) error { return r.ReplaceIf(t.Context(), "k", strings.NewReader(body), tag) }
	if _, err := r.Tag(t.Context(), "k"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("tag of nothing: got %v, want ErrNotFound", err)
	}
	put(t, s, "k", "one", store.Replace)
	one := tagOf(t, r)
	if again := tagOf(t, r); again != one {
		t.Errorf("the tag changed from %q to %q by itself", one, again)
	}
	if err := replace("two", one); err != nil {
		t.Fatal(err)
	}
	if err := replace("three", one); !errors.Is(err, store.ErrChanged) {
		t.Errorf("after a ReplaceIf: got %v, want ErrChanged", err)
	}
	two := tagOf(t, r)
	put(t, s, "k", "four", store.Replace)
	if err := replace("five", two); !errors.Is(err, store.ErrChanged) {
		t.Errorf("after a Put: got %v, want ErrChanged", err)
	}
	if err := replace("six", ""); err == nil {
		t.Error("a replace without a tag was allowed")
	}
	if got := get(t, s, "k"); got != "four" {
		t.Errorf("got %q, want four", got)
	}
	big := large(cfg.LargeBytes)
	if err := r.ReplaceIf(t.Context(), "k", bytes.NewReader(big), tagOf(t, r)); err != nil {
		t.Fatal(err)
	}
	if err := r.ReplaceIf(t.Context(), "k", bytes.NewReader(big[1:]), two); !errors.Is(err, store.ErrChanged) {
		t.Errorf("a large body: got %v, want ErrChanged", err)
	}
	wantObject(t, s, "k", big)
	whole := tagOf(t, r)
	other := bytes.Clone(big)
	other[len(other)/2]++
	if err := s.Put(t.Context(), "k", bytes.NewReader(other), store.Replace); err != nil {
		t.Fatal(err)
	}
	if err := r.ReplaceIf(t.Context(), "k", bytes.NewReader(big), whole); !errors.Is(err, store.ErrChanged) {
		t.Errorf("after a Put of a large object that differs in its middle: got %v, want ErrChanged", err)
	}
	last := tagOf(t, r)
	if err := s.Delete(t.Context(), "k"); err != nil {
		t.Fatal(err)
	}
	if err := replace("seven", last); !errors.Is(err, store.ErrChanged) {
		t.Errorf("of what is gone: got %v, want ErrChanged", err)
	}
	wantNothing(t, s)
}

func replaceRace(t *testing.T, s store.Store, _ Config) {
	r := optional[store.Replacer](t, s)
	put(t, s, "k", "old", store.Replace)
	seen := tagOf(t, r)
	wins := compete(t, store.ErrChanged, func(body string) error {
		return r.ReplaceIf(t.Context(), "k", strings.NewReader(body), seen)
	})
	if len(wins) != 1 || get(t, s, "k") != wins[0] {
		t.Errorf("winners %v, object %q", wins, get(t, s, "k"))
	}
}

// replaceAgainstPut runs a ReplaceIf and a Put at the same time. In either order the put's object remains, because the
// ReplaceIf saw an older one. The old object is large.
func replaceAgainstPut(t *testing.T, s store.Store, _ Config) {
	r := optional[store.Replacer](t, s)
	old := large(1 << 20)
	for round := range 10 {
		if err := s.Put(t.Context(), "k", bytes.NewReader(old), store.Replace); err != nil {
			t.Fatal(err)
		}
		seen := tagOf(t, r)
		var both sync.WaitGroup
		both.Go(func() {
			err := r.ReplaceIf(t.Context(), "k", strings.NewReader("unseen"), seen)
			if err != nil && !errors.Is(err, store.ErrChanged) {
				t.Error(err)
			}
		})
		both.Go(func() {
			if err := s.Put(t.Context(), "k", strings.NewReader("put"), store.Replace); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
		if got := get(t, s, "k"); got != "put" {
			t.Fatalf("round %d: got %q, want put", round, got)
		}
	}
}

func probe(t *testing.T, s store.Store, _ Config) {
	if err := store.Probe(t.Context(), s); err != nil {
		t.Error(err)
	}
	wantNothing(t, s)
}

// wantNoLeftovers fails if a put was left unfinished.
func wantNoLeftovers(t *testing.T, s store.Store) {
	t.Helper()
	if c, ok := s.(store.Cleaner); ok {
		if found, err := c.Leftovers(t.Context(), time.Now().Add(time.Hour)); err != nil || len(found) > 0 {
			t.Errorf("left unfinished: %v, %v", found, err)
		}
	}
}

// nothingLeft checks that successful puts leave no leftovers.
func nothingLeft(t *testing.T, s store.Store, cfg Config) {
	optional[store.Cleaner](t, s)
	put(t, s, "a/k", "x", store.Replace)
	put(t, s, "b/k", "x", store.CreateOnly)
	if err := s.Put(t.Context(), "c/k", bytes.NewReader(large(cfg.LargeBytes)), store.Replace); err != nil {
		t.Fatal(err)
	}
	wantNoLeftovers(t, s)
}

// Leftovers checks a store.Cleaner. leave makes what a killed process leaves of a put of an object: an unfinished one.
func Leftovers(t *testing.T, s store.Store, leave func(key string)) {
	c := optional[store.Cleaner](t, s)
	put(t, s, "a/whole", "x", store.Replace)
	for i := range 3 {
		leave(fmt.Sprint("a/", i))
	}
	if got := list(t, s, ""); !slices.Equal(got, []string{"a/whole"}) {
		t.Errorf("listed: %v", got)
	}
	if found, err := c.Leftovers(t.Context(), time.Now().Add(-time.Hour)); err != nil || len(found) > 0 {
		t.Errorf("older than an hour: %v, %v, want none", found, err)
	}
	found, err := c.Leftovers(t.Context(), time.Now().Add(time.Hour))
	if err != nil || len(found) != 3 {
		t.Fatalf("found %v, %v, want 3", found, err)
	}
	for _, l := range found {
		if !strings.HasPrefix(l.Key, "a/") || time.Since(l.Begun).Abs() > time.Hour {
			t.Errorf("leftover %+v, want one under a/ of just now", l)
		}
	}
	if err := c.Clean(t.Context(), found[0]); err != nil {
		t.Fatal(err)
	}
	if left, err := c.Leftovers(t.Context(), time.Now().Add(time.Hour)); err != nil || len(left) != 2 {
		t.Errorf("after cleaning one: %v, %v, want 2", left, err)
	}
	if err := c.Clean(t.Context(), found...); err != nil {
		t.Errorf("clean again: %v", err)
	}
	wantNoLeftovers(t, s)
	if got := get(t, s, "a/whole"); got != "x" {
		t.Errorf("the object holds %q", got)
	}
}
