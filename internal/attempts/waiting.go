package attempts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// waitingPrefix begins the names of the folders in the work folder in which attempts wait that could not be put.
const waitingPrefix = "dealflow-attempts-"

// mostWaiting is the number of files that wait at most: a sync that fails every five minutes makes 288 in a day.
const mostWaiting = 2000

// waiting is the folder of the attempts on one lake that could not be put. Several processes may use it at once. Its files
// are named like the objects, with a comma in place of the slash.
type waiting struct{ folder string }

// lakeID names a lake in a file name. identity is as in Config.
func lakeID(identity string) string { return lake.SHA256([]byte(identity))[:16] }

// waitingIn returns the folder for a lake in a work folder; workDir "" means the system's.
func waitingIn(workDir, lakeID string) waiting {
	if workDir == "" {
		workDir = os.TempDir()
	}
	return waiting{filepath.Join(workDir, fmt.Sprintf("%s%d-%s", waitingPrefix, os.Getuid(), filepath.Base(lakeID)))}
}

// open makes sure that the folder is this user's own: in a folder for everyone's temporary files another user may have
// created it, to read or to misdirect what is written.
func (w waiting) open() error {
	if err := os.Mkdir(w.folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !isOwn(w.folder) {
		return fmt.Errorf("%s: want a folder that belongs to this user, with mode 0700; remove it, or name another folder with --work-dir", w.folder)
	}
	return nil
}

// isOwn says whether a path is a folder, no link, that only this user may enter.
func isOwn(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Getuid()
}

// keep writes an attempt into the folder.
func (w waiting) keep(a *Attempt) error {
	data, err := a.encode()
	if err != nil {
		return err
	}
	if err := w.open(); err != nil {
		return err
	}
	if files, err := w.files(); err != nil {
		return err
	} else if len(files) >= mostWaiting {
		if err := os.Remove(files[0]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	key := strings.ReplaceAll(strings.TrimPrefix(a.key(), lake.AttemptsPrefix), "/", ",")
	temp := filepath.Join(w.folder, store.TempPrefix+key)
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return os.Rename(temp, filepath.Join(w.folder, key))
}

// files returns the paths of the files that wait, oldest first.
func (w waiting) files() ([]string, error) {
	entries, err := os.ReadDir(w.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		if _, ok := parseName(strings.ReplaceAll(e.Name(), ",", "/")); ok {
			found = append(found, filepath.Join(w.folder, e.Name()))
		}
	}
	slices.Sort(found)
	return found, nil
}

// read returns the attempts that wait, oldest first. It leaves out files that cannot be read.
func (w waiting) read() ([]Attempt, error) {
	files, err := w.files()
	if err != nil || len(files) > 0 && w.open() != nil {
		return nil, err
	}
	var all []Attempt
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if a, err := decode(data); err == nil {
			all = append(all, *a)
		}
	}
	return all, nil
}

// putAll puts what waits into the store, and removes what was put. It stops at the first error.
func (w waiting) putAll(ctx context.Context, s store.Store) error {
	files, err := w.files()
	if err != nil || len(files) == 0 {
		return err
	}
	if err := w.open(); err != nil {
		return err
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process was faster
		}
		if err != nil {
			return err
		}
		if a, err := decode(data); err == nil { // a damaged file says nothing
			if err := putObject(ctx, s, a.key(), data); err != nil {
				return fmt.Errorf("put an attempt that waited in %s: %w", w.folder, err)
			}
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	w.remove()
	return nil
}

// remove removes the folder if it is empty.
func (w waiting) remove() { _ = os.Remove(w.folder) } // fails if another process has just written into it

// putObject puts an object that may exist already: then the same attempt said the same.
func putObject(ctx context.Context, s store.Store, key string, data []byte) error {
	if err := s.Put(ctx, key, bytes.NewReader(data), store.CreateOnly); !errors.Is(err, store.ErrExists) {
		return err
	}
	return nil
}

// Waiting returns the attempts on a lake that wait in a work folder to be put, oldest first. identity is as in Config.
func Waiting(workDir, identity string) ([]Attempt, error) {
	return waitingIn(workDir, lakeID(identity)).read()
}
