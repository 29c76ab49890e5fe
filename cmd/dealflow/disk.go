//go:build unix

package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// freeBytes returns the number of bytes that this user can still write to the disk of a folder.
func freeBytes(folder string) (int64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", folder, err)
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil //nolint:unconvert // the types differ between systems
}
