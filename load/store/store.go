package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Errors that callers branch on; compare with errors.Is.
var (
	ErrNotFound = errors.New("no such object")
	ErrExists   = errors.New("the object exists already")
	ErrChanged  = errors.New("the object is no longer the one that was seen")
)

// Store holds objects by key. All methods are safe for concurrent use and honour ctx.
type Store interface {
	// Put stores body under key, replacing what is there; with CreateOnly it fails with ErrExists
	// instead. When it returns nil the object is durable. It reads body from its current place to the
	// end and may seek back to try again. After any other error than ErrExists the object may be there
	// or not.
	Put(ctx context.Context, key string, body io.ReadSeeker, mode PutMode) error
	// Get opens an object. The caller closes it.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// List yields the objects whose key starts with prefix, in key order. It stops at the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete removes objects; one that is not there is no error. It goes on after one that fails, and
	// its error names each.
	Delete(ctx context.Context, keys ...string) error
	// URL names the store for people and for SQL: an absolute path or s3://bucket/prefix.
	URL() string
}

// Local is what a store may offer beside Store: a local folder in which each object is a file under its key. A store
// that wraps another returns LocalPath of that one.
type Local interface {
	// Path is the folder; "" if the objects are no local files.
	Path() string
}

// LocalPath returns the local folder of a store's objects; "" if they are no local files.
func LocalPath(s Store) string {
	if local, ok := s.(Local); ok {
		return local.Path()
	}
	return ""
}

// RandomReader is what a store may offer beside Store: reading an object at any offset without
// fetching it whole. The caller closes what it gets; ctx bounds all reading from it.
type RandomReader interface {
	OpenAt(ctx context.Context, key string) (ReaderAtCloser, error)
}

// ReaderAtCloser reads at any offset and knows its size in bytes. Its ReadAt is safe for concurrent
// use.
type ReaderAtCloser interface {
	io.ReaderAt
	io.Seeker
	io.Closer
}

// Replacer is what a store may offer beside Store: replacing an object only while it is the one that
// was seen. Look at its tag before reading the object; what changes in between is then refused.
type Replacer interface {
	// Tag names what the object holds now; ErrNotFound where there is none. Tags are compared for
	// equality and mean nothing else.
	Tag(ctx context.Context, key string) (string, error)
	// ReplaceIf stores body under key if the object's tag is still this one. Otherwise, and where the
	// object is gone, it fails with ErrChanged. It reads body as Put does.
	ReplaceIf(ctx context.Context, key string, body io.ReadSeeker, tag string) error
}

// Cleaner is what a store may offer beside Store: removing what puts left behind whose process died
// half-way. No listing shows it and nobody reads it, but it takes space.
type Cleaner interface {
	// Leftovers lists the unfinished puts that were begun before an instant, by the store's clock. Choose
	// one longer ago than any put may take: a younger one may still be running.
	Leftovers(ctx context.Context, before time.Time) ([]Leftover, error)
	// Clean removes leftovers; one that is gone is no error. It goes on after one that fails.
	Clean(ctx context.Context, leftovers ...Leftover) error
}

// Leftover is an unfinished put.
type Leftover struct {
	Key   string    // the object it was to become, or, in a folder, the unfinished file
	ID    string    // tells the puts of one key apart; "" in a folder
	Begun time.Time // in a folder: when it was last written to
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

// CheckKey refuses keys that could leave the store's root or hide in it, or that some store could not
// list.
func CheckKey(key string) error {
	if key == "" || strings.HasPrefix(key, "/") || strings.HasSuffix(key, "/") || strings.ContainsRune(key, '\\') {
		return fmt.Errorf("key %q: want a relative path with forward slashes", key)
	}
	if !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
		return fmt.Errorf("key %q: want UTF-8 without control characters", key)
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
