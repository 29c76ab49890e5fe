// Package watchstore tells errors of a store from damage of what it keeps.
// Takes: a store.Store.
// Gives: a store that reads from it, and the first error of its own.
// Keeps: what is read is unchanged. The end of an object and its absence are no errors.
// Fails: as the store does.
// May change here: which errors say nothing about an object.
package watchstore

import (
	"context"
	"errors"
	"io"
	"sync"

	"dealflow/load/store"
)

// Store is a store that keeps the first error of the store itself while objects are read. Readers of formats wrap or
// lose such errors, and a store that does not answer must not count as damage. It is safe for concurrent use.
type Store struct {
	store.Store
	mu    sync.Mutex
	first error
}

// New returns a Store that reads from s.
func New(s store.Store) *Store { return &Store{Store: s} }

// record keeps the first error, except the end of an object and its absence.
func (w *Store) record(err error) {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, store.ErrNotFound) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first == nil {
		w.first = err
	}
}

// Fault returns the first error that was recorded.
func (w *Store) Fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first
}

// Get implements store.Store.
func (w *Store) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := w.Store.Get(ctx, key)
	w.record(err)
	if err != nil {
		return nil, err
	}
	return &watchedBody{r, w}, nil
}

// OpenAt implements store.RandomReader.
func (w *Store) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	r, err := store.OpenAt(ctx, w.Store, key)
	w.record(err)
	if err != nil {
		return nil, err
	}
	return &watchedReader{r, w}, nil
}

type watchedBody struct {
	io.ReadCloser
	watch *Store
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.watch.record(err)
	return n, err
}

type watchedReader struct {
	store.ReaderAtCloser
	watch *Store
}

func (r *watchedReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAtCloser.ReadAt(p, off)
	r.watch.record(err)
	return n, err
}
