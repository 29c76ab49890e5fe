package verify

import (
	"context"
	"errors"
	"io"
	"sync"

	"dealflow/load/store"
)

// watch is a store that remembers the first fault of its own while objects are read. Readers of formats
// wrap or lose it; and that a store does not answer must not be taken for damage.
type watch struct {
	store.Store
	mu    sync.Mutex
	first error
}

func watchStore(s store.Store) *watch { return &watch{Store: s} }

// note remembers an error that is neither the end of an object nor its absence.
func (w *watch) note(err error) {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, store.ErrNotFound) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first == nil {
		w.first = err
	}
}

func (w *watch) fault() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first
}

// Get implements store.Store.
func (w *watch) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := w.Store.Get(ctx, key)
	w.note(err)
	if err != nil {
		return nil, err
	}
	return &watchedBody{r, w}, nil
}

// OpenAt implements store.RandomReader.
func (w *watch) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	r, err := store.OpenAt(ctx, w.Store, key)
	w.note(err)
	if err != nil {
		return nil, err
	}
	return &watchedReader{r, w}, nil
}

type watchedBody struct {
	io.ReadCloser
	watch *watch
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.watch.note(err)
	return n, err
}

type watchedReader struct {
	store.ReaderAtCloser
	watch *watch
}

func (r *watchedReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAtCloser.ReadAt(p, off)
	r.watch.note(err)
	return n, err
}
