package world

import (
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
)

// CopyStore copies all objects from one store to another, and returns the other.
func CopyStore(t testing.TB, from, to store.Store) store.Store {
	t.Helper()
	storetest.Copy(t, from, to)
	return to
}

// Keys lists the keys of all objects of a store.
func Keys(t testing.TB, s store.Store) []string {
	t.Helper()
	var keys []string
	for object, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, object.Key)
	}
	return keys
}

// WantEmpty checks that a folder is empty or does not exist.
func WantEmpty(t testing.TB, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if len(entries) > 0 {
		t.Errorf("left in the folder: %v", entries)
	}
}

// Overtaken is a store that calls Before ahead of each commit of the command that uses it: there another
// command can commit first.
type Overtaken struct {
	store.Store
	Before func()
}

// Put implements store.Store.
func (s *Overtaken) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if strings.HasPrefix(key, lake.CommitsPrefix) {
		s.Before()
	}
	return s.Store.Put(ctx, key, body, mode)
}

// Path implements store.Local.
func (s *Overtaken) Path() string { return store.LocalPath(s.Store) }

// DatedStore is a store in memory whose objects have the age that a test's clock gives them.
type DatedStore struct {
	store.Store
	now func() time.Time

	mu sync.Mutex
	at map[string]time.Time
}

// NewDatedStore returns an empty store that dates objects by now.
func NewDatedStore(now func() time.Time) *DatedStore {
	return &DatedStore{Store: new(memstore.Mem), now: now, at: map[string]time.Time{}}
}

// Put implements store.Store.
func (s *DatedStore) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	err := s.Store.Put(ctx, key, body, mode)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at[key] = s.now()
	}
	return err
}

// List implements store.Store.
func (s *DatedStore) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		for object, err := range s.Store.List(ctx, prefix) {
			s.mu.Lock()
			object.Modified = s.at[object.Key]
			s.mu.Unlock()
			if !yield(object, err) {
				return
			}
		}
	}
}

// OpenAt implements store.RandomReader.
func (s *DatedStore) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	return s.Store.(store.RandomReader).OpenAt(ctx, key)
}

// Copy returns a store with the same objects and dates.
func (s *DatedStore) Copy(t testing.TB) *DatedStore {
	t.Helper()
	c := NewDatedStore(s.now)
	storetest.Copy(t, s, c.Store)
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(c.at, s.at)
	return c
}
