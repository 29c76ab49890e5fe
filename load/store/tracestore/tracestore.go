// Package tracestore writes down every call of a store, so that a test can hold the order of side
// effects.
//
// Takes: a store.
// Gives: the same store, and the calls that changed it.
// Keeps: calls in the order in which they ended.
// Fails: as the store below it.
// May change here: what a line says.
package tracestore

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"

	"dealflow/load/store"
)

// Store records puts and deletes. It is safe for concurrent use.
type Store struct {
	store.Store

	mu    sync.Mutex
	lines []string
}

// Lines returns the calls so far, such as "create a/b" or "replace a/b" or "delete a/b".
func (s *Store) Lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

func (s *Store) add(line string, err error) error {
	if err != nil {
		line += ": " + err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
	return err
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	verb := "replace "
	if mode == store.CreateOnly {
		verb = "create "
	}
	return s.add(verb+key, s.Store.Put(ctx, key, body, mode))
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	return s.add("delete "+strings.Join(keys, " "), s.Store.Delete(ctx, keys...))
}
