package dirstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/load/store/storetest"
)

func folder(t *testing.T) (*dirstore.Dir, string) {
	t.Helper()
	root := t.TempDir()
	s, err := dirstore.New(root)
	if err != nil {
		t.Fatal(err)
	}
	return s, root
}

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Config{
		Open:       func(t *testing.T) store.Store { s, _ := folder(t); return s },
		LargeBytes: 1 << 20,
		Objects:    300,
	})
}

func TestLeftovers(t *testing.T) {
	s, root := folder(t)
	storetest.Leftovers(t, s, func(key string) {
		name := filepath.Join(root, filepath.FromSlash(key))
		if err := os.WriteFile(filepath.Join(filepath.Dir(name), store.TempPrefix+filepath.Base(name)), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCleanRemovesLeftoversOnly checks that Clean refuses objects and files outside the folder.
func TestCleanRemovesLeftoversOnly(t *testing.T) {
	s, root := folder(t)
	outside := filepath.Join(filepath.Dir(root), store.TempPrefix+"outside")
	whole := filepath.Join(root, "whole")
	for _, name := range []string{outside, whole} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(name)
	}
	for _, key := range []string{"whole", "../" + filepath.Base(outside), outside} {
		if err := s.Clean(t.Context(), store.Leftover{Key: key}); err == nil {
			t.Errorf("%s was cleaned", key)
		}
	}
	for _, name := range []string{outside, whole} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
