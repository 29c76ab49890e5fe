package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"dealflow/load/store"
	"dealflow/load/store/dirstore"
)

// TestOverlap checks which folders are in one another, also through symbolic links and before they exist.
func TestOverlap(t *testing.T) {
	base := t.TempDir()
	if err := os.MkdirAll(filepath.Join(base, "lake", "history"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"inside": "lake/history", "same": "lake"} {
		if err := os.Symlink(filepath.Join(base, to), filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	open := func(name string) store.Store {
		dir, err := dirstore.New(filepath.Join(base, name))
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for name, want := range map[string]bool{
		"lake": true, "same": true, "inside": true, "inside/new/one": true, "same/new": true, "lake/new": true, ".": true,
		"lake2": false, "other": false, "other/lake": false,
	} {
		if a, b := store.Overlap(open("lake"), open(name)), store.Overlap(open(name), open("lake")); a != want || b != want {
			t.Errorf("lake and %s: got %t, and the other way round %t; want %t", name, a, b, want)
		}
	}
}
