package tracestore_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/load/store/storetest"
	"dealflow/load/store/tracestore"
)

func open(t *testing.T) *tracestore.Store {
	t.Helper()
	s, err := dirstore.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &tracestore.Store{Store: s}
}

// TestConformance checks that the wrapper changes nothing.
func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Config{Open: func(t *testing.T) store.Store { return open(t) }, LargeBytes: 1 << 16, Objects: 20})
}

func TestLines(t *testing.T) {
	s := open(t)
	put := func(key string, mode store.PutMode) { _ = s.Put(t.Context(), key, strings.NewReader("x"), mode) }
	put("a/b", store.CreateOnly)
	put("a/b", store.Replace)
	tag, err := s.Tag(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_ = s.ReplaceIf(t.Context(), "a/b", strings.NewReader("y"), tag)
	}
	if err := s.Delete(t.Context(), "a/b", "c"); err != nil {
		t.Fatal(err)
	}
	if err := s.Clean(t.Context(), store.Leftover{Key: "a/.tmp-1"}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"create a/b", "replace a/b", "replace seen a/b",
		"replace seen a/b: replace a/b: " + store.ErrChanged.Error(), "delete a/b c", "clean a/.tmp-1",
	}
	if diff := cmp.Diff(want, s.Lines()); diff != "" {
		t.Error(diff)
	}
}
