package dirstore

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"dealflow/load/store"
)

// TestLinkAgain repeats a link whose answer was lost, as an NFS client does: the file is its own. One of another writer is
// not.
func TestLinkAgain(t *testing.T) {
	dir := t.TempDir()
	mine, other, to := filepath.Join(dir, "mine"), filepath.Join(dir, "other"), filepath.Join(dir, "to")
	for _, path := range []string{mine, other} {
		if err := os.WriteFile(path, []byte("the same bytes"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := link(mine, to); err != nil {
			t.Errorf("a link, and its repetition: %v", err)
		}
	}
	if err := link(other, to); !errors.Is(err, store.ErrExists) {
		t.Errorf("another file: %v, want ErrExists", err)
	}
}
