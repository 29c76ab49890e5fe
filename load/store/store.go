package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
)

// Errors that callers branch on; compare with errors.Is.
var (
	ErrNotFound = errors.New("no such object")
	ErrExists   = errors.New("the object exists already")
)

// Store holds objects by key. All methods are safe for concurrent use and honour ctx.
type Store interface {
	// Put stores body under key, replacing what is there; with CreateOnly it fails with ErrExists
	// instead. When it returns nil the object is durable. It reads body from its current place to the
	// end and may seek back to try again.
	Put(ctx context.Context, key string, body io.ReadSeeker, mode PutMode) error
	// Get opens an object. The caller closes it.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// List yields the objects whose key starts with prefix, in key order. It stops at the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete removes objects; one that is not there is no error.
	Delete(ctx context.Context, keys ...string) error
	// URL names the store for people and for SQL: an absolute path or s3://bucket/prefix.
	URL() string
}

// RandomReader is what a store may offer beside Store: reading an object at any offset without
// fetching it whole. The caller closes what it gets.
type RandomReader interface {
	OpenAt(ctx context.Context, key string) (ReaderAtCloser, error)
}

// ReaderAtCloser reads at any offset and knows its size in bytes.
type ReaderAtCloser interface {
	io.ReaderAt
	io.Seeker
	io.Closer
}

// PutMode says what Put does with an object that exists.
type PutMode bool

// The modes of Put.
const (
	Replace    PutMode = false
	CreateOnly PutMode = true
)

// Object is an entry of a listing.
type Object struct {
	Key      string
	Size     int64     // bytes
	Modified time.Time // by the store's clock
}

// CheckKey refuses keys that could leave the store's root or hide in it.
func CheckKey(key string) error {
	if key == "" || strings.HasPrefix(key, "/") || strings.HasSuffix(key, "/") || strings.ContainsAny(key, "\\\x00") {
		return fmt.Errorf("key %q: want a relative path with forward slashes", key)
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || part == "." || part == ".." || strings.HasPrefix(part, TempPrefix) {
			return fmt.Errorf("key %q: part %q is not allowed", key, part)
		}
	}
	return nil
}

// TempPrefix starts the names of unfinished files in a folder; no key has a part that starts with it.
const TempPrefix = ".tmp-"
