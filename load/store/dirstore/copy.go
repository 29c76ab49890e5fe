package dirstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"dealflow/load/store"
)

// CopyFrom implements store.Copier with a hard link: both names are one file on disk, which no store ever writes to.
func (d *Dir) CopyFrom(ctx context.Context, from store.Store, key, to string) error {
	folder := store.LocalPath(from)
	if folder == "" {
		return errors.ErrUnsupported
	}
	if err := errors.Join(ctx.Err(), store.CheckKey(key)); err != nil {
		return err
	}
	name, err := d.path(to)
	if err != nil {
		return err
	}
	if err := makeFolder(filepath.Dir(name)); err != nil {
		return fmt.Errorf("link %s: %w", to, err)
	}
	err = os.Link(filepath.Join(folder, filepath.FromSlash(key)), name)
	switch {
	case err == nil:
		return syncFolder(filepath.Dir(name))
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("link %s: %w", to, store.ErrExists)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("link %s: %w", key, store.ErrNotFound)
	case errors.Is(err, syscall.EXDEV), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EMLINK):
		return errors.ErrUnsupported // another filesystem, a file of another owner, or too many links: copy the bytes
	}
	return fmt.Errorf("link %s: %w", to, err)
}
