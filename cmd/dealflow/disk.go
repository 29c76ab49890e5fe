//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// freeBytes returns the number of bytes that this user can still write to the disk of a folder, or to the disk on which
// the folder would be created.
func freeBytes(folder string) (int64, error) {
	existing, err := filepath.Abs(folder)
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", folder, err)
	}
	var disk unix.Statfs_t
	for err = unix.Statfs(existing, &disk); errors.Is(err, fs.ErrNotExist) && existing != filepath.Dir(existing); {
		existing = filepath.Dir(existing)
		err = unix.Statfs(existing, &disk)
	}
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", folder, err)
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil //nolint:unconvert // the types differ between systems
}
