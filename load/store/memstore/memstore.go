// Package memstore stores a lake in memory, for tests and simulations.
// Takes: nothing.
// Gives: a store.Store that lives as long as the value.
// Keeps: what every store keeps; bodies are copied in and never changed.
// Fails: store.ErrNotFound, store.ErrExists, store.ErrChanged.
// May change here: everything that storetest does not check.
package memstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dealflow/load/store"
)

// Mem is a store in memory; the zero value is empty and ready. It is safe for concurrent use.
type Mem struct {
	mu      sync.RWMutex
	objects map[string]object
	puts    int64 // number of puts, for tags
}

type object struct {
	data     []byte
	modified time.Time
	put      int64 // number of the put that stored it
}

func (o object) tag() string { return strconv.FormatInt(o.put, 10) }

var (
	_ store.Store        = (*Mem)(nil)
	_ store.RandomReader = (*Mem)(nil)
	_ store.Replacer     = (*Mem)(nil)
	_ store.PutAwaiter   = (*Mem)(nil)
)

// AwaitPuts implements store.PutAwaiter: each put is seen at once.
func (m *Mem) AwaitPuts(ctx context.Context, _ string) error { return ctx.Err() }

// URL implements store.Store.
func (m *Mem) URL() string { return "memory" }

// Put implements store.Store.
func (m *Mem) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	return m.put(ctx, key, body, func(_ object, exists bool) error {
		if exists && mode == store.CreateOnly {
			return store.ErrExists
		}
		return nil
	})
}

// Tag implements store.Replacer. Each put gives its object a new tag.
func (m *Mem) Tag(ctx context.Context, key string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	o, ok := m.objects[key]
	if !ok {
		return "", fmt.Errorf("look at %s: %w", key, store.ErrNotFound)
	}
	return o.tag(), nil
}

// ReplaceIf implements store.Replacer.
func (m *Mem) ReplaceIf(ctx context.Context, key string, body io.ReadSeeker, tag string) error {
	return m.put(ctx, key, body, func(o object, exists bool) error {
		if !exists || o.tag() != tag {
			return store.ErrChanged
		}
		return nil
	})
}

// put stores body unless refuse returns an error for the object that exists now.
func (m *Mem) put(ctx context.Context, key string, body io.ReadSeeker, refuse func(o object, exists bool) error) error {
	if err := store.CheckKey(key); err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	data, err := io.ReadAll(body)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, exists := m.objects[key]
	if err := refuse(o, exists); err != nil {
		return fmt.Errorf("put %s: %w", key, err)
	}
	if m.objects == nil {
		m.objects = map[string]object{}
	}
	m.puts++
	m.objects[key] = object{data, time.Now(), m.puts}
	return nil
}

// Get implements store.Store.
func (m *Mem) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := m.OpenAt(ctx, key)
	if err != nil {
		return nil, err
	}
	return r.(io.ReadCloser), nil
}

// OpenAt implements store.RandomReader.
func (m *Mem) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	o, ok := m.objects[key]
	if !ok {
		return nil, fmt.Errorf("get %s: %w", key, store.ErrNotFound)
	}
	return reader{bytes.NewReader(o.data)}, nil
}

type reader struct{ *bytes.Reader }

func (reader) Close() error { return nil }

// List implements store.Store.
func (m *Mem) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var found []store.Object
	for _, key := range slices.Sorted(maps.Keys(m.objects)) {
		if strings.HasPrefix(key, prefix) {
			o := m.objects[key]
			found = append(found, store.Object{Key: key, Size: int64(len(o.data)), Modified: o.modified})
		}
	}
	return func(yield func(store.Object, error) bool) {
		for _, o := range found {
			if err := ctx.Err(); err != nil {
				yield(store.Object{}, err)
				return
			}
			if !yield(o, nil) {
				return
			}
		}
	}
}

// Delete implements store.Store.
func (m *Mem) Delete(ctx context.Context, keys ...string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var faults []error
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		if err := store.CheckKey(key); err != nil {
			faults = append(faults, fmt.Errorf("delete: %w", err))
		}
		delete(m.objects, key)
	}
	return errors.Join(faults...)
}
