package longlake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"dealflow/load/store"
	"dealflow/load/store/dirstore"
)

// unsynced is a folder as a store that does not wait for the disk, which would take most of the time. The lake is read
// only after it is complete, and an incomplete one is thrown away.
type unsynced struct{ *dirstore.Dir }

var _ store.Store = unsynced{}

// Put implements store.Store, except what it promises about durability and concurrent readers.
func (u unsynced) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if err := errors.Join(ctx.Err(), store.CheckKey(key)); err != nil {
		return err
	}
	path := filepath.Join(u.URL(), filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if mode == store.CreateOnly {
		flags |= os.O_EXCL
	}
	to, err := os.OpenFile(path, flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("put %s: %w", key, store.ErrExists)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(to, body)
	return errors.Join(err, to.Close())
}
