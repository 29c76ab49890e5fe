package workfolder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dealflow/internal/workfolder"
)

// TestAlias checks that an alias leads to its folder, has no special character, and is gone after Close.
func TestAlias(t *testing.T) {
	base := t.TempDir()
	for name, linked := range map[string]bool{"plain, é [*]": false, "day=1": true, "100%": true, "a#b": true} {
		folder := filepath.Join(base, name, "lake")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "file"), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		alias, err := workfolder.NewAlias(folder)
		if err != nil {
			t.Fatal(err)
		}
		path := alias.Path()
		text, err := os.ReadFile(filepath.Join(path, "file"))
		if err != nil || string(text) != name || strings.ContainsAny(path, workfolder.Special) || (path != folder) != linked {
			t.Errorf("%s: the alias %s has %q, %v", folder, path, text, err)
		}
		if err := alias.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(path); linked == (err == nil) {
			t.Errorf("%s after Close: %v", path, err)
		}
		if _, err := os.Stat(filepath.Join(folder, "file")); err != nil {
			t.Errorf("the folder's file after Close: %v", err)
		}
	}
}
