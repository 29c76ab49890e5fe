package storetest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"dealflow/load/store"
	"dealflow/load/store/memstore"
)

func put(t *testing.T, s store.Store, key, body string, mode store.PutMode) {
	t.Helper()
	if err := s.Put(t.Context(), key, strings.NewReader(body), mode); err != nil {
		t.Fatal(err)
	}
}

// Bytes returns an object's bytes.
func Bytes(t testing.TB, s store.Store, key string) []byte {
	t.Helper()
	r, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return data
}

// Copy copies all objects of a store into another that has none of their keys.
func Copy(t testing.TB, from, to store.Store) {
	t.Helper()
	for object, err := range from.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if err := to.Put(t.Context(), object.Key, bytes.NewReader(Bytes(t, from, object.Key)), store.CreateOnly); err != nil {
			t.Fatal(err)
		}
	}
}

func get(t *testing.T, s store.Store, key string) string {
	t.Helper()
	return string(Bytes(t, s, key))
}

// list returns the keys under a prefix. It fails if they are out of order or repeated.
func list(t *testing.T, s store.Store, prefix string) []string {
	t.Helper()
	var keys []string
	for o, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) > 0 && o.Key <= keys[len(keys)-1] {
			t.Errorf("list %q: %q comes after %q", prefix, o.Key, keys[len(keys)-1])
		}
		keys = append(keys, o.Key)
	}
	return keys
}

// wantNothing fails if the store has an object or an unfinished put.
func wantNothing(t *testing.T, s store.Store) {
	t.Helper()
	if got := list(t, s, ""); got != nil {
		t.Errorf("left: %v", got)
	}
	wantNoLeftovers(t, s)
}

// large returns n bytes that do not compress and do not repeat.
func large(n int64) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data) // it never fails
	return data
}

// wantObject compares an object with what was put.
func wantObject(t *testing.T, s store.Store, key string, want []byte) {
	t.Helper()
	if got := get(t, s, key); got != string(want) {
		t.Errorf("%s has %d bytes, want %d, or they differ", key, len(got), len(want))
	}
}

// onlySeeker hides all but the methods of io.ReadSeeker.
type onlySeeker struct{ io.ReadSeeker }

var errBroken = errors.New("the body breaks")

// breaking is a body whose reading fails from an offset on.
type breaking struct {
	*bytes.Reader
	limit int64
}

func (b *breaking) Read(p []byte) (int, error) {
	place, err := b.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	if place >= b.limit {
		return 0, errBroken
	}
	return b.Reader.Read(p[:min(int64(len(p)), b.limit-place)])
}

func (b *breaking) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) > b.limit {
		return 0, errBroken
	}
	return b.Reader.ReadAt(p, offset)
}

// WriteTo makes io.Copy use Read.
func (b *breaking) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{b})
}

// Overwrite puts data under key. It replaces an object that exists.
func Overwrite(t testing.TB, s store.Store, key string, data []byte) {
	t.Helper()
	if err := s.Put(t.Context(), key, bytes.NewReader(data), store.Replace); err != nil {
		t.Fatal(err)
	}
}

// Clone copies all objects of a store into memory.
func Clone(t testing.TB, from store.Store) *memstore.Mem {
	t.Helper()
	to := new(memstore.Mem)
	Copy(t, from, to)
	return to
}

// Remove deletes an object.
func Remove(t testing.TB, s store.Store, key string) {
	t.Helper()
	if err := s.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
}
