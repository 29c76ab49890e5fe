// Package tracestore records the calls that change a store, so that a test can check the order of side effects.
// Takes: a store.
// Gives: the same store, and the calls that changed it.
// Keeps: calls in the order in which they ended.
// Fails: as the store below it.
// May change here: what a line says.
package tracestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"dealflow/load/store"
)

// Store records the calls that change the store below. It is safe for concurrent use.
type Store struct {
	store.Store

	mu    sync.Mutex
	lines []string
}

var (
	_ store.Local        = (*Store)(nil)
	_ store.RandomReader = (*Store)(nil)
	_ store.Replacer     = (*Store)(nil)
	_ store.Cleaner      = (*Store)(nil)
)

// Lines returns the calls so far, such as "create a/b", "replace a/b", "replace seen a/b" or "delete
// a/b".
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

// OpenAt implements store.RandomReader if the store below does.
func (s *Store) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	random, ok := s.Store.(store.RandomReader)
	if !ok {
		return nil, fmt.Errorf("open %s: %w", key, errors.ErrUnsupported)
	}
	return random.OpenAt(ctx, key)
}

// Tag implements store.Replacer if the store below does.
func (s *Store) Tag(ctx context.Context, key string) (string, error) {
	replacer, ok := s.Store.(store.Replacer)
	if !ok {
		return "", fmt.Errorf("look at %s: %w", key, errors.ErrUnsupported)
	}
	return replacer.Tag(ctx, key)
}

// ReplaceIf implements store.Replacer if the store below does.
func (s *Store) ReplaceIf(ctx context.Context, key string, body io.ReadSeeker, tag string) error {
	err := fmt.Errorf("replace %s: %w", key, errors.ErrUnsupported)
	if replacer, ok := s.Store.(store.Replacer); ok {
		err = replacer.ReplaceIf(ctx, key, body, tag)
	}
	return s.add("replace seen "+key, err)
}

// Leftovers implements store.Cleaner if the store below does.
func (s *Store) Leftovers(ctx context.Context, before time.Time) ([]store.Leftover, error) {
	if cleaner, ok := s.Store.(store.Cleaner); ok {
		return cleaner.Leftovers(ctx, before)
	}
	return nil, nil
}

// Clean implements store.Cleaner if the store below does.
func (s *Store) Clean(ctx context.Context, leftovers ...store.Leftover) error {
	keys := make([]string, len(leftovers))
	for i, l := range leftovers {
		keys[i] = l.Key
	}
	err := fmt.Errorf("clean up: %w", errors.ErrUnsupported)
	if cleaner, ok := s.Store.(store.Cleaner); ok {
		err = cleaner.Clean(ctx, leftovers...)
	}
	return s.add("clean "+strings.Join(keys, " "), err)
}

// Path implements store.Local. Calls that use the files there directly are not recorded.
func (s *Store) Path() string { return store.LocalPath(s.Store) }
