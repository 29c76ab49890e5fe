// Package copystore keeps local copies of a remote lake's data files from when their bytes are first read.
// Takes: a store.Store.
// Gives: a store that reads copies where there are any, and the SHA-256 of files.
// Keeps: what is read of a copy are the bytes that were hashed. Without room there are no copies, and the store is asked again.
// Fails: as the store does.
// May change here: how much is kept.
package copystore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// Store is a store whose data files are in a local folder, too, from when Hash read their bytes: their footers and rows are
// then read from there, and the store is asked for each file once. It is safe for concurrent use.
type Store struct {
	store.Store
	folder string // "": nothing is copied
	left   atomic.Int64
}

// mostCopied is 4 GiB: files for which there is no room are read again.
const mostCopied = 4 << 30

// New returns a Store over another one. It keeps copies if it is told to and the other one is not local: in a new folder in
// workDir ("": the system's), until Close.
func New(s store.Store, workDir string, keep bool) (*Store, error) {
	c := &Store{Store: s}
	if !keep || store.LocalPath(s) != "" {
		return c, nil
	}
	var err error
	c.left.Store(mostCopied)
	c.folder, err = os.MkdirTemp(workDir, "dealflow-verify-*")
	return c, err
}

// Close removes the copies.
func (c *Store) Close() {
	if c.folder != "" {
		_ = os.RemoveAll(c.folder) // the work folder goes with the process
	}
}

// path returns where the copy of a file is. A file that changed while it was verified has other bytes than those that were
// hashed: the rows are checked of the same bytes as the hash.
func (c *Store) path(key string) string {
	name := sha256.Sum256([]byte(key))
	return filepath.Join(c.folder, hex.EncodeToString(name[:]))
}

// Hash reads all bytes of a file from a store, and keeps a copy if there is room. It returns their SHA-256 in hexadecimal
// digits, and their number.
func (c *Store) Hash(ctx context.Context, from store.Store, f *lake.File) (sum string, n int64, err error) {
	r, err := from.Get(ctx, f.Path)
	if err != nil {
		return "", 0, err
	}
	defer r.Close() // read-only: a failing close loses nothing
	hash := sha256.New()
	var to io.Writer = hash
	var local *os.File
	if c.folder != "" && c.left.Add(-f.Bytes) >= 0 {
		if local, err = os.Create(c.path(f.Path) + "-"); err == nil {
			to = io.MultiWriter(hash, &untilFull{w: local})
		}
	}
	n, err = io.Copy(to, contextReader{ctx, r})
	if local != nil {
		info, statErr := local.Stat()
		closeErr := local.Close()
		if err == nil && statErr == nil && closeErr == nil && info.Size() == n {
			_ = os.Rename(local.Name(), c.path(f.Path)) // without the copy the file is read again
		} else {
			_ = os.Remove(local.Name())
		}
	}
	return hex.EncodeToString(hash.Sum(nil)), n, err
}

// untilFull writes until the first error, which the size of the file then shows: a full disk is no fault of the lake.
type untilFull struct {
	w    io.Writer
	full bool
}

func (u *untilFull) Write(p []byte) (int, error) {
	if !u.full {
		_, err := u.w.Write(p)
		u.full = err != nil
	}
	return len(p), nil
}

// OpenAt implements store.RandomReader.
func (c *Store) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	if c.folder != "" {
		if file, err := os.Open(c.path(key)); err == nil {
			return file, nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	return store.OpenAt(ctx, c.Store, key)
}

// Get implements store.Store.
func (c *Store) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if c.folder != "" {
		if file, err := os.Open(c.path(key)); err == nil {
			return file, nil
		}
	}
	return c.Store.Get(ctx, key)
}

// contextReader fails with the context's error after the context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
