package dirstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"dealflow/load/store"
)

// lockName is a file in the root that a process locks while it replaces an object. The lock is the operating system's
// and ends with its process, so the file's existence means nothing.
const lockName = store.TempPrefix + "lock"

// tagged is the size in bytes up to which all of an object makes its tag.
const tagged = 64 << 10

// Tag implements store.Replacer: the SHA-256 of the object. Of a large one, such as the catalog, it is that of its end and of what the
// filesystem says of its file: the file that replaces one is written while that is still there, so it has another number.
func (d *Dir) Tag(ctx context.Context, key string) (string, error) {
	f, err := d.open(ctx, key)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	info, err := f.Stat()
	if err == nil {
		if info.Size() > tagged {
			inode := info.Sys().(*syscall.Stat_t).Ino //nolint:forcetypeassert // documented for systems that have it
			fmt.Fprintln(sum, info.Size(), info.ModTime().UnixNano(), inode)
		}
		_, err = io.Copy(sum, io.NewSectionReader(f, max(0, info.Size()-tagged), tagged))
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("look at %s: %w", key, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// ReplaceIf implements store.Replacer. It excludes every Put and ReplaceIf, also of other processes on this machine,
// and on other machines if the filesystem shares locks.
func (d *Dir) ReplaceIf(ctx context.Context, key string, body io.ReadSeeker, tag string) error {
	err := d.put(ctx, key, body, func(from, to string) error {
		return d.locked(func() error {
			now, err := d.Tag(ctx, key)
			if errors.Is(err, store.ErrNotFound) || err == nil && now != tag {
				return store.ErrChanged
			}
			if err != nil {
				return err
			}
			return os.Rename(from, to)
		})
	})
	if err != nil {
		return fmt.Errorf("replace %s: %w", key, err)
	}
	return nil
}

// replace renames a finished file to its name. It waits while a ReplaceIf is between its check and its rename.
func (d *Dir) replace(from, to string) error {
	return d.locked(func() error { return os.Rename(from, to) })
}

// locked calls f while no other process or goroutine replaces an object.
func (d *Dir) locked(f func() error) error {
	file, err := os.OpenFile(filepath.Join(d.root, lockName), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		err = f()
	} else {
		err = fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return errors.Join(err, file.Close())
}
