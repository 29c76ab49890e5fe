package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/load/store"
)

func putAndGet(t *testing.T, s store.Store, _ Config) {
	before := time.Now().Add(-time.Minute)
	put(t, s, "a/b/c.txt", "one", store.Replace)
	put(t, s, "a/b/c.txt", "two!", store.Replace)
	if got := get(t, s, "a/b/c.txt"); got != "two!" {
		t.Errorf("got %q, want two!", got)
	}
	for o, err := range s.List(t.Context(), "a/") {
		if err != nil {
			t.Fatal(err)
		}
		if o.Size != 4 || o.Modified.Before(before) || o.Modified.After(time.Now().Add(time.Minute)) {
			t.Errorf("listed as %+v, want 4 bytes of just now", o)
		}
	}
}

func getAbsent(t *testing.T, s store.Store, _ Config) {
	if _, err := s.Get(t.Context(), "absent"); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "absent") {
		t.Errorf("got %v, want ErrNotFound that names the key", err)
	}
}

func emptyBody(t *testing.T, s store.Store, _ Config) {
	put(t, s, "empty", "", store.CreateOnly)
	if got := get(t, s, "empty"); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
	if err := s.Put(t.Context(), "empty", strings.NewReader(""), store.CreateOnly); !errors.Is(err, store.ErrExists) {
		t.Errorf("second create: got %v, want ErrExists", err)
	}
}

func largeBody(t *testing.T, s store.Store, cfg Config) {
	body := large(cfg.LargeBytes)
	for key, reader := range map[string]io.ReadSeeker{"at": bytes.NewReader(body), "seek": onlySeeker{bytes.NewReader(body)}} {
		if err := s.Put(t.Context(), key, reader, store.CreateOnly); err != nil {
			t.Fatal(err)
		}
		wantObject(t, s, key, body)
	}
}

func laterStart(t *testing.T, s store.Store, cfg Config) {
	for key, body := range map[string][]byte{"small": []byte("headbody"), "large": large(cfg.LargeBytes + 4)} {
		for kind, reader := range map[string]io.ReadSeeker{"at": bytes.NewReader(body), "seek": onlySeeker{bytes.NewReader(body)}} {
			if _, err := reader.Seek(4, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if err := s.Put(t.Context(), key+kind, reader, store.Replace); err != nil {
				t.Fatal(err)
			}
			wantObject(t, s, key+kind, body[4:])
		}
	}
}

func oddKeys(t *testing.T, s store.Store, _ Config) {
	keys := []string{
		"market=IG/year=2026/x.parquet", "with space/a b", "plus+plus", "per%20cent%", "quote'\"", "ünï/çode", "日本語/キー",
		"<xml>&amp;", "a?b#c", "star*", "tilde~", "comma,semi;colon:", "@at", "[brackets]{braces}",
	}
	slices.Sort(keys)
	for _, key := range keys {
		put(t, s, key, "body of "+key, store.CreateOnly)
		if got := get(t, s, key); got != "body of "+key {
			t.Errorf("%q holds %q", key, got)
		}
		if got := list(t, s, key); !slices.Equal(got, []string{key}) {
			t.Errorf("list %q: %q", key, got)
		}
	}
	if got := list(t, s, ""); !slices.Equal(got, keys) {
		t.Errorf("list all:\n got %q\nwant %q", got, keys)
	}
	if err := s.Delete(t.Context(), keys...); err != nil {
		t.Fatal(err)
	}
	wantNothing(t, s)
}

func createOnce(t *testing.T, s store.Store, _ Config) {
	put(t, s, "k", "first", store.CreateOnly)
	err := s.Put(t.Context(), "k", strings.NewReader("second"), store.CreateOnly)
	if !errors.Is(err, store.ErrExists) {
		t.Errorf("second create: got %v, want ErrExists", err)
	}
	if err := s.Put(t.Context(), "k", strings.NewReader("first"), store.CreateOnly); !errors.Is(err, store.ErrExists) {
		t.Errorf("create of the same bytes: got %v, want ErrExists", err)
	}
	if got := get(t, s, "k"); got != "first" {
		t.Errorf("got %q, want first", got)
	}
}

func createLargeOnce(t *testing.T, s store.Store, cfg Config) {
	put(t, s, "k", "first", store.CreateOnly)
	if err := s.Put(t.Context(), "k", bytes.NewReader(large(cfg.LargeBytes)), store.CreateOnly); !errors.Is(err, store.ErrExists) {
		t.Errorf("second create: got %v, want ErrExists", err)
	}
	if got := get(t, s, "k"); got != "first" {
		t.Errorf("the object has %d bytes, want first", len(got))
	}
	wantNoLeftovers(t, s)
}

const racers = 16

func race(t *testing.T, s store.Store, _ Config) {
	wins := compete(t, store.ErrExists, func(body string) error {
		return s.Put(t.Context(), "commit", strings.NewReader(body), store.CreateOnly)
	})
	if len(wins) != 1 || get(t, s, "commit") != wins[0] {
		t.Errorf("winners %v, object %q", wins, get(t, s, "commit"))
	}
}

// compete starts all racers at once, each with its own body, and returns the bodies of the winners. All others must
// fail with lost.
func compete(t *testing.T, lost error, try func(body string) error) []string {
	t.Helper()
	var all sync.WaitGroup
	start := make(chan struct{})
	wins := make(chan string, racers)
	for i := range racers {
		all.Go(func() {
			<-start
			body := fmt.Sprint("racer ", i)
			switch err := try(body); {
			case err == nil:
				wins <- body
			case !errors.Is(err, lost):
				t.Errorf("racer %d: got %v, want %v", i, err, lost)
			}
		})
	}
	close(start)
	all.Wait()
	close(wins)
	var won []string
	for body := range wins {
		won = append(won, body)
	}
	return won
}

func listing(t *testing.T, s store.Store, _ Config) {
	for _, key := range []string{"b/2", "a/1", "b/10", "b0", "b-/1"} {
		put(t, s, key, key, store.Replace)
	}
	for prefix, want := range map[string][]string{
		"b/":       {"b/10", "b/2"},
		"b/1":      {"b/10"},
		"b":        {"b-/1", "b/10", "b/2", "b0"},
		"":         {"a/1", "b-/1", "b/10", "b/2", "b0"},
		"b-":       {"b-/1"},
		"nothing/": nil,
		"b/2/":     nil, // below an object
	} {
		if got := list(t, s, prefix); !slices.Equal(got, want) {
			t.Errorf("list %q: got %v, want %v", prefix, got, want)
		}
	}
}

// many puts numbered objects concurrently and returns their keys, in order.
func many(t *testing.T, s store.Store, n int) []string {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(8)
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("many/%05d", i)
		group.Go(func() error { return s.Put(t.Context(), keys[i], strings.NewReader("x"), store.Replace) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	return keys
}

func longListing(t *testing.T, s store.Store, cfg Config) {
	keys := many(t, s, cfg.Objects)
	if got := list(t, s, "many/"); !slices.Equal(got, keys) {
		t.Errorf("listed %d objects, want all %d", len(got), len(keys))
	}
}

func stopListing(t *testing.T, s store.Store, _ Config) {
	many(t, s, 3)
	n := 0
	for _, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("saw %d objects, want 2", n)
	}
}

// laterListing asks for what is after a key that exists, one that does not, one before all, one after all, and one of other
// objects. It asks each store: one that is no LaterLister lists all.
func laterListing(t *testing.T, s store.Store, cfg Config) {
	keys := many(t, s, cfg.Objects)
	put(t, s, "more", "x", store.Replace)
	put(t, s, "many-more", "x", store.Replace)
	at := len(keys) / 2
	for after, want := range map[string][]string{
		"": keys, "many/": keys, "a": keys, keys[at]: keys[at+1:], keys[at] + "-": keys[at+1:], keys[len(keys)-2]: keys[len(keys)-1:], keys[len(keys)-1]: nil, "more": nil,
	} {
		var got []string
		for object, err := range store.ListAfter(t.Context(), s, "many/", after) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, object.Key)
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %q: got %d objects, want %d: %.5q and so on", after, len(got), len(want), want)
		}
	}
}

func deletion(t *testing.T, s store.Store, _ Config) {
	put(t, s, "x", "x", store.Replace)
	put(t, s, "y", "y", store.Replace)
	if err := s.Delete(t.Context(), "x", "never/was"); err != nil {
		t.Fatal(err)
	}
	if got := list(t, s, ""); !slices.Equal(got, []string{"y"}) {
		t.Errorf("left: %v", got)
	}
	if err := s.Delete(t.Context(), "never/was"); err != nil {
		t.Errorf("delete what is not there: %v", err)
	}
	if err := s.Delete(t.Context(), "../x", "y"); err == nil || !strings.Contains(err.Error(), "../x") {
		t.Errorf("got %v, want an error that names the bad key", err)
	}
	wantNothing(t, s) // a bad key does not spare the others
}

// deleteMany deletes more objects than any store deletes in one request; most of them do not exist.
func deleteMany(t *testing.T, s store.Store, cfg Config) {
	there := many(t, s, cfg.Objects)
	var keys []string
	for i := range 1500 {
		if len(there) > 0 && i%(1+1500/(cfg.Objects+1)) == 0 {
			keys, there = append(keys, there[0]), there[1:]
		} else {
			keys = append(keys, fmt.Sprintf("absent/%05d", i))
		}
	}
	put(t, s, "stays", "x", store.Replace)
	if err := s.Delete(t.Context(), append(keys, there...)...); err != nil {
		t.Fatal(err)
	}
	if got := list(t, s, ""); !slices.Equal(got, []string{"stays"}) {
		t.Errorf("left: %d objects, such as %v", len(got), got[:min(len(got), 3)])
	}
}

func badKeys(t *testing.T, s store.Store, _ Config) {
	for _, key := range []string{"", "/etc/x", "../x", "a/../../x", "a//b", "a/", "a\\b", "a\nb", "a\x00b", "a\xffb", store.TempPrefix + "x"} {
		if err := s.Put(t.Context(), key, strings.NewReader("x"), store.Replace); err == nil {
			t.Errorf("put %q was allowed", key)
		}
	}
	wantNothing(t, s)
}

func brokenBody(t *testing.T, s store.Store, _ Config) {
	breakHalfway(t, s, []byte("a small body"))
}

func brokenLargeBody(t *testing.T, s store.Store, cfg Config) {
	breakHalfway(t, s, large(cfg.LargeBytes))
}

func breakHalfway(t *testing.T, s store.Store, data []byte) {
	t.Helper()
	for _, mode := range []store.PutMode{store.CreateOnly, store.Replace} {
		body := &breaking{bytes.NewReader(data), int64(len(data)) / 2}
		if err := s.Put(t.Context(), "k", body, mode); !errors.Is(err, errBroken) {
			t.Errorf("got %v, want the body's own error", err)
		}
	}
	wantNothing(t, s)
}

func cancelledPut(t *testing.T, s store.Store, _ Config) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Put(ctx, "k", strings.NewReader("x"), store.CreateOnly); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	wantNothing(t, s)
}

// cancelling is a body that cancels the put which reads it.
type cancelling struct {
	*breaking
	cancel context.CancelFunc
}

func (c *cancelling) Read(p []byte) (int, error) {
	n, err := c.breaking.Read(p)
	if err != nil {
		c.cancel()
		return c.Reader.Read(p)
	}
	return n, nil
}

func (c *cancelling) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) > c.limit {
		c.cancel()
	}
	return c.Reader.ReadAt(p, offset)
}

func (c *cancelling) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{c})
}

func cancelledLargePut(t *testing.T, s store.Store, cfg Config) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body := &cancelling{&breaking{bytes.NewReader(large(cfg.LargeBytes)), cfg.LargeBytes / 2}, cancel}
	if err := s.Put(ctx, "k", body, store.CreateOnly); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	wantNothing(t, s)
}

func cancelled(t *testing.T, s store.Store, _ Config) {
	put(t, s, "k", "x", store.Replace)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := s.Get(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("get: %v, %v, want context.Canceled", r, err)
	}
	if err := s.Delete(ctx, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("delete: %v, want context.Canceled", err)
	}
	var listed error
	for _, err := range s.List(ctx, "") {
		listed = err
	}
	if !errors.Is(listed, context.Canceled) {
		t.Errorf("list: %v, want context.Canceled", listed)
	}
	if got := get(t, s, "k"); got != "x" {
		t.Errorf("got %q, want x", got)
	}
}
