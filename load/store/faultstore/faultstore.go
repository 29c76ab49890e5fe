// Package faultstore makes a store fail at a chosen call, for tests of what a crash leaves.
// Takes: a store, the number of the call to fail, and how.
// Gives: the same store, but that call fails. All later calls fail too, as after a crash, unless Once is set.
// Keeps: calls are counted in the order in which they come, those of the optional interfaces too.
// Fails: with ErrInjected, joined to the error of the kind of fault.
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

// The kinds of fault. All leave the store as it was, except Plain with Applied.
const (
	// Plain fails the call without a reason.
	Plain Kind = iota
	// Timeout is context.DeadlineExceeded, although the caller's context has not ended.
	Timeout
	// Unavailable is the error for a provider's 503.
	Unavailable
	// Conflict is the error for a provider's 409: another request is under way. It does not say which request won.
	Conflict
	// Refused is the error for a provider's 412 although its condition was true: store.ErrExists of a create-only put,
	// and store.ErrChanged of ReplaceIf. Other calls fail as with Plain.
	Refused
	// Truncated breaks the body: a reader returns the first half, then io.ErrUnexpectedEOF; a put fails with that
	// error. Other calls fail as with Plain.
	Truncated
)

// Kinds are all kinds of fault.
var Kinds = []Kind{Plain, Timeout, Unavailable, Conflict, Refused, Truncated}

// String returns the kind's name, for tests.
func (k Kind) String() string {
	return [...]string{"plain", "timeout", "unavailable", "conflict", "refused", "truncated"}[k]
}

// error returns what a call fails with. refused is the meaning of a 412 for that call; nil if there is none.
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

// Store fails its FailAt-th call (from 1; 0: none) by Kind, and all later calls plainly, unless Once is set. The call
// fails before it is applied, or, with Applied and Plain, after. It is safe for concurrent use.
//
// It has the methods of all optional interfaces. If the store below lacks one, they fail with errors.ErrUnsupported;
// except that Leftovers finds nothing.
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

// fault counts a call. before is the error to fail with before the call is applied, after the one to fail with after
// it.
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

// write runs a call that changes the store.
func (s *Store) write(refused error, apply func() error) error {
	before, after := s.fault(refused)
	if before != nil {
		return before
	}
	return errors.Join(apply(), after)
}

// read counts a call that changes nothing, and returns its fault.
func (s *Store) read() error {
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
	fault := s.read()
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
	if fault := s.read(); fault != nil {
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
	fault := s.read()
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
	if fault := s.read(); fault != nil {
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
	if fault := s.read(); fault != nil {
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

// Path implements store.Local. Reading the files there directly avoids all faults.
func (s *Store) Path() string { return store.LocalPath(s.Store) }
