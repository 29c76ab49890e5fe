package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"dealflow/load/store"
)

// checkOut refuses a file of --out in the lake's folder: it might replace one of the lake's.
func checkOut(s store.Store, path string) error {
	if path != "" && path != "-" && store.Contains(s, path) {
		return usagef("--out %s: this is in the folder of the lake %s; name a file elsewhere", path, s.URL())
	}
	return nil
}

// writeFile replaces the file at path by what write writes. It keeps the file's permissions. If writing fails, the file is unchanged. A
// link to a file stays, and the file is replaced. What is no regular file, such as a pipe, and what another program has opened, such
// as /dev/stdout, is written to as it is.
func writeFile(ctx context.Context, path string, write func(io.Writer) error) (err error) {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return &os.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
	}
	if err == nil && (!info.Mode().IsRegular() || opened.MatchString(path)) {
		file, err := openAsIs(ctx, path, info.Mode())
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, func() { _ = file.SetWriteDeadline(time.Now()) }) // a file that is no pipe has none
		defer stop()
		return errors.Join(write(file), ctx.Err(), file.Close())
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	file, err := createBeside(path)
	if fault := (*os.PathError)(nil); errors.As(err, &fault) {
		return &os.PathError{Op: "create", Path: path, Err: fault.Err} // not the temporary file, which the user did not name
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	if info != nil {
		err = file.Chmod(info.Mode().Perm())
	}
	err = errors.Join(err, write(file), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// createBeside creates a file with another name in the folder of path. It has the permissions that the umask leaves.
func createBeside(path string) (*os.File, error) {
	for {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s-%d", filepath.Base(path), rand.Uint64()))
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			return file, err
		}
	}
}

// opened matches the second names of files that are open, such as /dev/stdout. To replace such a file takes it away from the
// program that has opened it.
var opened = regexp.MustCompile(`^/(dev/(stdout|stderr|fd/[0-9]+)|proc/.+/fd/[0-9]+)$`)

// openAsIs opens what exists, and keeps what it contains. A pipe without a reader is waited for until the context ends.
func openAsIs(ctx context.Context, path string, mode os.FileMode) (*os.File, error) {
	if mode&os.ModeNamedPipe == 0 {
		return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	}
	for {
		file, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.ENXIO) {
			return file, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
