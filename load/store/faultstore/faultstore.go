// Package faultstore makes a store fail at a chosen call, for tests of what a crash leaves behind.
//
// Takes: a store and the number of the call to fail.
// Gives: the same store, which fails that call and, as after a crash, all later ones; or, with Once, that
// call alone.
// Keeps: calls are counted in the order in which they come.
// Fails: with ErrInjected.
// May change here: further kinds of fault.
package faultstore

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync/atomic"

	"dealflow/load/store"
)

// ErrInjected is the error of a failed call.
var ErrInjected = errors.New("injected fault")

// Store fails its FailAt-th call (from 1; 0: none) and, unless Once, all after it: before the call is
// applied, or, with Applied, after it. It is safe for concurrent use.
type Store struct {
	store.Store
	FailAt  int64
	Applied bool
	Once    bool

	calls atomic.Int64
}

// Calls is the number of calls made so far.
func (s *Store) Calls() int64 { return s.calls.Load() }

// fault counts a call; before says whether to fail before applying it, after whether to fail behind.
func (s *Store) fault() (before, after error) {
	n := s.calls.Add(1)
	switch {
	case s.FailAt == 0 || n < s.FailAt || n > s.FailAt && s.Once:
		return nil, nil
	case n == s.FailAt && s.Applied:
		return nil, ErrInjected
	}
	return ErrInjected, nil
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	before, after := s.fault()
	if before != nil {
		return before
	}
	return errors.Join(s.Store.Put(ctx, key, body, mode), after)
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if before, after := s.fault(); before != nil || after != nil {
		return nil, errors.Join(before, after)
	}
	return s.Store.Get(ctx, key)
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	if before, after := s.fault(); before != nil || after != nil {
		return func(yield func(store.Object, error) bool) { yield(store.Object{}, errors.Join(before, after)) }
	}
	return s.Store.List(ctx, prefix)
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	before, after := s.fault()
	if before != nil {
		return before
	}
	return errors.Join(s.Store.Delete(ctx, keys...), after)
}
