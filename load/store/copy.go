package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Overlap says whether one of two stores is in the folder or prefix of the other, or both are one. Symbolic links are followed.
func Overlap(x, y Store) bool {
	a, b := strings.TrimSuffix(place(x), "/")+"/", strings.TrimSuffix(place(y), "/")+"/"
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// Contains says whether a path, which need not exist yet, is in the local folder of a store's objects. Symbolic links are followed.
func Contains(s Store, path string) bool {
	path, err := filepath.Abs(path)
	return err == nil && LocalPath(s) != "" && strings.HasPrefix(withoutLinks(path)+"/", strings.TrimSuffix(place(s), "/")+"/")
}

// place returns the address of a store; of a folder, the path without symbolic links.
func place(s Store) string {
	if path := LocalPath(s); path != "" {
		return withoutLinks(path)
	}
	return s.URL()
}

// withoutLinks returns an absolute path without symbolic links. Its end need not exist.
func withoutLinks(path string) string {
	for above, below := path, ""; ; above, below = filepath.Dir(above), filepath.Join(filepath.Base(above), below) {
		found, err := filepath.EvalSymlinks(above)
		if err == nil {
			return filepath.Join(found, below)
		}
		if above == filepath.Dir(above) {
			return path
		}
	}
}

// Copier is an optional interface of a Store: taking an object over from another store of the same kind, without
// sending its bytes through this program.
type Copier interface {
	// CopyFrom creates the object to from the object key of another store, with the same bytes. It is create-only, like
	// Put: ErrExists. If it cannot copy from that store it returns errors.ErrUnsupported.
	CopyFrom(ctx context.Context, from Store, key, to string) error
}

// Copy creates the object to in a store from the object key of another, with the same bytes. It is create-only:
// ErrExists. Unless the store is a Copier for that other store, the object is read into memory.
func Copy(ctx context.Context, from Store, key string, s Store, to string) error {
	if copier, ok := s.(Copier); ok {
		if err := copier.CopyFrom(ctx, from, key, to); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	data, err := Read(ctx, from, key)
	if err != nil {
		return fmt.Errorf("copy %s: %w", key, err)
	}
	return s.Put(ctx, to, bytes.NewReader(data), CreateOnly)
}
