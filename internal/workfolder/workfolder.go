// Package workfolder creates local folders for unfinished files, and removes those of processes that died.
// Takes: a parent folder, and a prefix of names that is used for nothing else.
// Gives: a new folder that this process has locked; an Alias of any folder, which DuckDB reads as it is.
// Keeps: a folder is locked (flock) from its creation to its removal. The lock is the operating system's and ends with
// the process, however that ends, so a folder without a lock has no owner. Where the filesystem cannot lock, no folder
// of others is removed.
// Fails: with the system's error, which names the folder.
// May change here: how a folder is locked.
package workfolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lockName is the file in each folder that its owner locks. It is the last one to be removed.
const lockName = ".lock"

// Folder is a folder that this process has locked. Close removes it.
type Folder struct {
	path string
	lock *os.File
}

// createTries is how often Create tries another name: RemoveDead of another process may remove a folder before it is
// locked.
const createTries = 100

// Create creates a folder in parent, with a name that begins with prefix. parent "" means the system's folder for
// temporary files.
func Create(parent, prefix string) (*Folder, error) {
	for range createTries {
		path, err := os.MkdirTemp(parent, prefix+"*")
		if err != nil {
			return nil, fmt.Errorf("work folder: %w", err)
		}
		lock, err := lockIn(path, os.O_CREATE)
		switch {
		case errors.Is(err, errCannotLock): // RemoveDead cannot lock it either, so it leaves the folder
			return &Folder{path: path}, nil
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, errLocked):
			continue // RemoveDead was faster
		case err != nil:
			return nil, errors.Join(fmt.Errorf("work folder: %w", err), os.RemoveAll(path))
		}
		return &Folder{path: path, lock: lock}, nil
	}
	return nil, fmt.Errorf("work folder: other processes removed %d new folders in %s before they were locked", createTries, parent)
}

// Path is the folder.
func (f *Folder) Path() string { return f.path }

// Close removes the folder and ends its lock. It does nothing for nil.
func (f *Folder) Close() error {
	if f == nil {
		return nil
	}
	err := remove(f.path)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// RemoveDead removes the folders in parent whose names begin with prefix and that no process has locked. It leaves
// folders that it may not enter, such as those of other users. parent is as in Create; it need not exist. If last is not
// nil, it is called with each folder before that is removed: no other process has the folder then.
func RemoveDead(parent, prefix string, last func(folder string)) error {
	if parent == "" {
		parent = os.TempDir()
	}
	entries, err := os.ReadDir(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for folders of dead processes: %w", err)
	}
	var faults []error
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if err := removeDead(filepath.Join(parent, e.Name()), last); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, fmt.Errorf("remove the folder of a dead process: %w", err))
		}
	}
	return errors.Join(faults...)
}

func removeDead(path string, last func(folder string)) error {
	lock, err := lockIn(path, 0)
	switch {
	case errors.Is(err, errLocked), errors.Is(err, errCannotLock):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		// Its owner is just creating it, or died before the lock file was there: then the folder is empty. If the owner
		// lives, it takes another name.
		if err := os.Remove(path); !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, syscall.EEXIST) {
			return err
		}
		return nil // not one of ours
	case err != nil:
		return err
	}
	if last != nil {
		last(path)
	}
	return errors.Join(remove(path), lock.Close())
}

// remove removes a folder that this process has locked: its lock file last, so that a folder of which only a part was
// removed is still one that RemoveDead removes.
func remove(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	faults := []error{err}
	for _, e := range entries {
		if e.Name() != lockName {
			faults = append(faults, os.RemoveAll(filepath.Join(path, e.Name())))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

var (
	errLocked     = errors.New("another process has locked the folder")
	errCannotLock = errors.New("the filesystem cannot lock files")
)

// lockIn opens and locks the lock file of a folder; flags are added to those of opening it.
func lockIn(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(errLocked, file.Close())
	case err != nil:
		return nil, errors.Join(errCannotLock, err, file.Close())
	}
	// Another process may have removed the file between opening and locking it: that lock protects nothing.
	opened, err := file.Stat()
	if err == nil {
		var named os.FileInfo
		if named, err = os.Stat(file.Name()); err == nil && !os.SameFile(opened, named) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
