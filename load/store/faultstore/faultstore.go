// Package faultstore makes a store fail at a chosen call, for tests of what a crash leaves behind.
//
// Takes: a store, the number of the call to fail, and how.
// Gives: the same store, which fails that call and, as after a crash, all later ones; or, with Once, that
// call alone.
// Keeps: calls are counted in the order in which they come, those of the optional interfaces too.
// Fails: with ErrInjected, which stands beside the error that the kind of fault has.
// May change here: further kinds of fault.
package faultstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync/atomic"
	"time"

	"dealflow/load/store"
)

// ErrInjected is the error of a failed call.
var ErrInjected = errors.New("injected fault")

// Kind is how a call fails.
type Kind int

// The kinds of fault. All but Plain with Applied leave the store as it was.
const (
	// Plain says nothing but that the call failed.
	Plain Kind = iota
	// Timeout is context.DeadlineExceeded, although the caller's context has not ended.
	Timeout
	// Unavailable is what a provider's 503 is.
	Unavailable
	// Conflict is what a provider's 409 is: another request is under way. It says nothing about who won.
	Conflict
	// Refused is a provider's 412: store.ErrExists of a create-only put, and store.ErrChanged of ReplaceIf,
	// although it is not so. Other calls cannot meet it and fail as with Plain.
	Refused
	// Truncated breaks the body: a reader gives the first half, then io.ErrUnexpectedEOF; a put fails with
	// it. Other calls fail as with Plain.
	Truncated
)

// Kinds are all kinds of fault.
var Kinds = []Kind{Plain, Timeout, Unavailable, Conflict, Refused, Truncated}

// String names the kind in tests.
func (k Kind) String() string {
	return [...]string{"plain", "timeout", "unavailable", "conflict", "refused", "truncated"}[k]
}

// error is what a call fails with; refused is what a 412 means there, nil where there is none.
func (k Kind) error(refused error) error {
	switch {
	case k == Timeout:
		return fmt.Errorf("%w: no answer: %w", ErrInjected, context.DeadlineExceeded)
	case k == Unavailable:
		return fmt.Errorf("%w: 503 SlowDown", ErrInjected)
	case k == Conflict:
		return fmt.Errorf("%w: 409 ConditionalRequestConflict", ErrInjected)
	case k == Refused && refused != nil:
		return fmt.Errorf("%w: 412: %w", ErrInjected, refused)
	case k == Truncated:
		return fmt.Errorf("%w: %w", ErrInjected, io.ErrUnexpectedEOF)
	}
	return ErrInjected
}

// Store fails its FailAt-th call (from 1; 0: none) by Kind and, unless Once, all after it plainly: before
// the call is applied, or, with Applied and Plain, after it. It is safe for concurrent use.
//
// It has the methods of all optional interfaces. Where the store below lacks one they fail with
// errors.ErrUnsupported, but for Leftovers, which finds none.
type Store struct {
	store.Store
	FailAt  int64
	Kind    Kind
	Applied bool
	Once    bool

	calls atomic.Int64
}

var (
	_ store.Local        = (*Store)(nil)
	_ store.RandomReader = (*Store)(nil)
	_ store.Replacer     = (*Store)(nil)
	_ store.Cleaner      = (*Store)(nil)
)

// Calls is the number of calls made so far.
func (s *Store) Calls() int64 { return s.calls.Load() }

// fault counts a call; before says what to fail with before applying it, after what to fail with behind.
func (s *Store) fault(refused error) (before, after error) {
	n := s.calls.Add(1)
	switch {
	case s.FailAt == 0 || n < s.FailAt || n > s.FailAt && s.Once:
		return nil, nil
	case n > s.FailAt:
		return ErrInjected, nil
	case s.Applied && s.Kind == Plain:
		return nil, ErrInjected
	}
	return s.Kind.error(refused), nil
}

// write makes a call that changes the store.
func (s *Store) write(refused error, apply func() error) error {
	before, after := s.fault(refused)
	if before != nil {
		return before
	}
	return errors.Join(apply(), after)
}

// look makes a call that changes nothing.
func (s *Store) look() error {
	return errors.Join(s.fault(nil))
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	var refused error
	if mode == store.CreateOnly {
		refused = store.ErrExists
	}
	return s.write(refused, func() error { return s.Store.Put(ctx, key, body, mode) })
}

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	fault := s.look()
	if errors.Is(fault, io.ErrUnexpectedEOF) {
		return s.half(ctx, key, fault)
	}
	if fault != nil {
		return nil, fault
	}
	return s.Store.Get(ctx, key)
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	if fault := s.look(); fault != nil {
		return func(yield func(store.Object, error) bool) { yield(store.Object{}, fault) }
	}
	return s.Store.List(ctx, prefix)
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	return s.write(nil, func() error { return s.Store.Delete(ctx, keys...) })
}

// OpenAt implements store.RandomReader. Opening is the call; reading is not counted.
func (s *Store) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	random, ok := s.Store.(store.RandomReader)
	if !ok {
		return nil, unsupported("open", key)
	}
	fault := s.look()
	if fault != nil && !errors.Is(fault, io.ErrUnexpectedEOF) {
		return nil, fault
	}
	r, err := random.OpenAt(ctx, key)
	if fault == nil || err != nil {
		return r, err
	}
	size, err := r.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = r.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &halfReaderAt{r, size / 2, fault}, nil
}

// Tag implements store.Replacer.
func (s *Store) Tag(ctx context.Context, key string) (string, error) {
	replacer, ok := s.Store.(store.Replacer)
	if !ok {
		return "", unsupported("look at", key)
	}
	if fault := s.look(); fault != nil {
		return "", fault
	}
	return replacer.Tag(ctx, key)
}

// ReplaceIf implements store.Replacer.
func (s *Store) ReplaceIf(ctx context.Context, key string, body io.ReadSeeker, tag string) error {
	replacer, ok := s.Store.(store.Replacer)
	if !ok {
		return unsupported("replace", key)
	}
	return s.write(store.ErrChanged, func() error { return replacer.ReplaceIf(ctx, key, body, tag) })
}

// Leftovers implements store.Cleaner.
func (s *Store) Leftovers(ctx context.Context, before time.Time) ([]store.Leftover, error) {
	cleaner, ok := s.Store.(store.Cleaner)
	if !ok {
		return nil, nil
	}
	if fault := s.look(); fault != nil {
		return nil, fault
	}
	return cleaner.Leftovers(ctx, before)
}

// Clean implements store.Cleaner.
func (s *Store) Clean(ctx context.Context, leftovers ...store.Leftover) error {
	cleaner, ok := s.Store.(store.Cleaner)
	if !ok {
		return unsupported("clean up", "")
	}
	return s.write(nil, func() error { return cleaner.Clean(ctx, leftovers...) })
}

func unsupported(op, key string) error {
	return fmt.Errorf("%s %s: %w", op, key, errors.ErrUnsupported)
}

// Path implements store.Local. A program that reads the files there passes this store by.
func (s *Store) Path() string { return store.LocalPath(s.Store) }
