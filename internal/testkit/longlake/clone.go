package longlake

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dealflow/load/store"
)

// Clone returns a lake for one test that shares its files with the lake at root. An object that the test puts, replaces
// or deletes does not change the other lake. A file must not be written in place, because it is one file under two
// names: to damage it, replace it.
func Clone(tb testing.TB, root string) string {
	tb.Helper()
	clone := filepath.Join(tb.TempDir(), "lake")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(entry.Name(), store.TempPrefix) {
			return nil // no object: the lock of those who write there, or what a put has not finished
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		to := filepath.Join(clone, relative)
		if entry.IsDir() {
			return os.Mkdir(to, 0o755)
		}
		if os.Link(path, to) == nil {
			return nil
		}
		return duplicate(path, to) // the two folders are on different filesystems
	})
	if err != nil {
		tb.Fatal(err)
	}
	return clone
}

func duplicate(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
