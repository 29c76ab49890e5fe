package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Errors of Probe; compare with errors.Is.
var (
	// ErrIgnoresCreateOnly means that a create-only put can replace an object: two writers could both believe that they
	// made a commit.
	ErrIgnoresCreateOnly = errors.New("the store ignores If-None-Match: two writers at the same time could lose a commit; use a store that honours it; if only one program ever writes to the lake, `dealflow run --single-writer` does without, and no other command that writes")
	// ErrIgnoresReplaceIf means that ReplaceIf replaces an object that has changed since its tag was read. Commits are
	// safe on such a store, but what is derived from them may be replaced by something older.
	ErrIgnoresReplaceIf = errors.New("the store ignores If-Match: after two runs at the same time, the published catalog may be the older one; `dealflow catalog` publishes it again")
)

// ProbePrefix begins the keys of the objects that Probe puts and removes. An old one is of a process that was killed.
const ProbePrefix = "_dealflow/probe-"

// probeTimeout bounds the removal of the probe's object after ctx has ended.
const probeTimeout = 30 * time.Second

// Probe checks that a store keeps the promises that commits depend on. It puts an object of its own twice, create-only,
// and tries to replace it under an outdated tag. It fails with ErrIgnoresCreateOnly, with ErrIgnoresReplaceIf if only
// that promise is broken, or with the store's error. It always removes its object.
func Probe(ctx context.Context, s Store) (err error) {
	key := ProbePrefix + strings.ToLower(rand.Text())
	defer func() {
		clean, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), probeTimeout, errors.New("removing the probe took too long"))
		defer cancel()
		err = errors.Join(err, s.Delete(clean, key))
	}()
	if err := probeCreateOnly(ctx, s, key); err != nil {
		return fmt.Errorf("probe %s: %w", s.URL(), err)
	}
	if replacer, ok := s.(Replacer); ok {
		if err := probeReplaceIf(ctx, s, replacer, key); err != nil {
			return fmt.Errorf("probe %s: %w", s.URL(), err)
		}
	}
	return nil
}

// probeCreateOnly checks the content too: a store could refuse the second put and still apply it.
func probeCreateOnly(ctx context.Context, s Store, key string) error {
	if err := s.Put(ctx, key, strings.NewReader("first"), CreateOnly); err != nil {
		return err
	}
	if err := s.Put(ctx, key, strings.NewReader("second"), CreateOnly); err == nil {
		return ErrIgnoresCreateOnly
	} else if !errors.Is(err, ErrExists) {
		return err
	}
	return wantContent(ctx, s, key, "first", ErrIgnoresCreateOnly)
}

func probeReplaceIf(ctx context.Context, s Store, replacer Replacer, key string) error {
	seen, err := replacer.Tag(ctx, key)
	if errors.Is(err, ErrNoTag) {
		return fmt.Errorf("%w: %w", ErrIgnoresReplaceIf, err)
	}
	if err != nil {
		return err
	}
	if err := replacer.ReplaceIf(ctx, key, strings.NewReader("third"), seen); err != nil {
		return err
	}
	if err := replacer.ReplaceIf(ctx, key, strings.NewReader("fourth"), seen); err == nil {
		return ErrIgnoresReplaceIf
	} else if !errors.Is(err, ErrChanged) {
		return err
	}
	return wantContent(ctx, s, key, "third", ErrIgnoresReplaceIf)
}

// wantContent returns otherwise if the object's content is different.
func wantContent(ctx context.Context, s Store, key, content string, otherwise error) error {
	r, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	if string(got) != content {
		return otherwise
	}
	return nil
}
