package store_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
)

// careless is a store that breaks a promise.
type careless struct {
	*memstore.Mem
	create, applies, tags bool // ignores CreateOnly; says ErrExists but replaces; ignores tags
	tagless               bool // gives none
}

func (c careless) Tag(ctx context.Context, key string) (string, error) {
	if c.tagless {
		return "", store.ErrNoTag
	}
	return c.Mem.Tag(ctx, key)
}

func (c careless) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if c.applies && mode == store.CreateOnly {
		_, err := c.Tag(ctx, key)
		if putErr := c.Mem.Put(ctx, key, body, store.Replace); putErr != nil || err != nil {
			return putErr
		}
		return store.ErrExists
	}
	return c.Mem.Put(ctx, key, body, mode && store.PutMode(!c.create))
}

func (c careless) ReplaceIf(ctx context.Context, key string, body io.ReadSeeker, tag string) error {
	if c.tags {
		return c.Mem.Put(ctx, key, body, store.Replace)
	}
	return c.Mem.ReplaceIf(ctx, key, body, tag)
}

func wantEmpty(t *testing.T, s store.Store) {
	t.Helper()
	for o, err := range s.List(t.Context(), "") {
		t.Errorf("left: %s, %v", o.Key, err)
	}
}

func TestProbe(t *testing.T) {
	for name, c := range map[string]struct {
		store careless
		want  error
	}{
		"careful":                     {careless{}, nil},
		"ignores create-only":         {careless{create: true}, store.ErrIgnoresCreateOnly},
		"refuses, and yet applies it": {careless{applies: true}, store.ErrIgnoresCreateOnly},
		"ignores tags":                {careless{tags: true}, store.ErrIgnoresReplaceIf},
		"gives no tags":               {careless{tagless: true}, store.ErrIgnoresReplaceIf},
		"ignores both":                {careless{create: true, tags: true}, store.ErrIgnoresCreateOnly},
	} {
		t.Run(name, func(t *testing.T) {
			c.store.Mem = new(memstore.Mem)
			if err := store.Probe(t.Context(), c.store); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			wantEmpty(t, c.store)
		})
	}
}

// TestProbeFails checks that a failing store does not count as a careless one, and that the probe removes its object if
// the store allows it, even after its context has ended.
func TestProbeFails(t *testing.T) {
	count := &faultstore.Store{Store: new(memstore.Mem)}
	if err := store.Probe(t.Context(), count); err != nil {
		t.Fatal(err)
	}
	for call := int64(1); call < count.Calls(); call++ {
		for _, kind := range faultstore.Kinds {
			s := &faultstore.Store{Store: new(memstore.Mem), FailAt: call, Kind: kind, Once: true}
			err := store.Probe(t.Context(), s)
			if errors.Is(err, store.ErrIgnoresCreateOnly) || errors.Is(err, store.ErrIgnoresReplaceIf) {
				t.Errorf("call %d, %v: %v", call, kind, err)
			}
			wantEmpty(t, s.Store)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := new(memstore.Mem)
	err := store.Probe(ctx, cancelAfterPut{s, cancel})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	wantEmpty(t, s)
}

// cancelAfterPut cancels the context after a put.
type cancelAfterPut struct {
	store.Store
	cancel context.CancelFunc
}

func (c cancelAfterPut) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	defer c.cancel()
	return c.Store.Put(ctx, key, body, mode)
}
