package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// fileSystems are names of file systems by their magic numbers in statfs. The kernel's list is longer: these are what a
// lake is usually on, and those that need a word.
var fileSystems = map[int64]string{
	unix.EXT4_SUPER_MAGIC: "ext4", unix.XFS_SUPER_MAGIC: "xfs", unix.BTRFS_SUPER_MAGIC: "btrfs", 0x2fc12fc1: "zfs", unix.F2FS_SUPER_MAGIC: "f2fs",
	unix.OVERLAYFS_SUPER_MAGIC: "overlay", unix.TMPFS_MAGIC: "tmpfs", unix.RAMFS_MAGIC: "ramfs",
	unix.NFS_SUPER_MAGIC: "nfs", unix.SMB_SUPER_MAGIC: "smb", unix.CIFS_SUPER_MAGIC: "cifs", unix.SMB2_SUPER_MAGIC: "smb2",
	unix.CEPH_SUPER_MAGIC: "ceph", unix.V9FS_MAGIC: "9p", unix.AFS_SUPER_MAGIC: "afs", unix.FUSE_SUPER_MAGIC: "fuse",
}

// fileSystem returns the name of the file system of a folder, or of that on which the folder would be created; "" if it is
// not known.
func fileSystem(folder string) string {
	existing, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	var disk unix.Statfs_t
	for err = unix.Statfs(existing, &disk); errors.Is(err, fs.ErrNotExist) && existing != filepath.Dir(existing); {
		existing = filepath.Dir(existing)
		err = unix.Statfs(existing, &disk)
	}
	if err != nil {
		return ""
	}
	return fileSystems[int64(disk.Type)&0xffffffff] //nolint:unconvert // the types differ between systems
}
