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
	ErrChanged  = errors.New("the object has changed since it was read")
	ErrNoTag    = errors.New("the store gives no tag of the object")
)

// Store stores objects by key. All methods are safe for concurrent use and honour ctx.
type Store interface {
	// Put stores body under key. It replaces an object that exists; with CreateOnly it fails with ErrExists instead.
	// When it returns nil the object is durable. It reads body from its current position to the end, and may seek back
	// to try again. After any other error than ErrExists the object may have been put or not.
	Put(ctx context.Context, key string, body io.ReadSeeker, mode PutMode) error
	// Get opens an object. The caller closes it.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// List yields the objects whose key starts with prefix, in key order. It stops at the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete removes objects; an absent one is no error. After an error it continues with the others. Its error names
	// each object that failed.
	Delete(ctx context.Context, keys ...string) error
	// URL names the store for people and for SQL: an absolute path or s3://bucket/prefix.
	URL() string
}

// Local is an optional interface of a Store: a local folder in which each object is a file under its key. A store that
// wraps another returns LocalPath of that one.
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

// LaterLister is an optional interface of a Store: listing what is after a key, at the cost of that alone.
type LaterLister interface {
	// ListAfter yields what List does, without the objects whose keys are not after the given one.
	ListAfter(ctx context.Context, prefix, after string) iter.Seq2[Object, error]
}

// ListAfter yields the objects whose key starts with prefix and is after another key, in key order. It stops at the first
// error. A store that is no LaterLister lists all.
func ListAfter(ctx context.Context, s Store, prefix, after string) iter.Seq2[Object, error] {
	if later, ok := s.(LaterLister); ok {
		return later.ListAfter(ctx, prefix, after)
	}
	return func(yield func(Object, error) bool) {
		for object, err := range s.List(ctx, prefix) {
			if err == nil && object.Key <= after {
				continue
			}
			if !yield(object, err) || err != nil {
				return
			}
		}
	}
}

// RandomReader is an optional interface of a Store: reading an object at any offset without fetching all of it. The
// caller closes the reader. ctx bounds all reading from it.
type RandomReader interface {
	OpenAt(ctx context.Context, key string) (ReaderAtCloser, error)
}

// ReaderAtCloser reads an object at any offset. Seeking to the end returns its size in bytes. Its ReadAt is safe for
// concurrent use.
type ReaderAtCloser interface {
	io.ReaderAt
	io.Seeker
	io.Closer
}

// Replacer is an optional interface of a Store: replacing an object only if it is still the one that the caller has
// read. Ask for the tag before reading the object: then a change between the two is refused.
type Replacer interface {
	// Tag identifies the object's present content; ErrNotFound if it is absent, ErrNoTag if this store turns out to have
	// no tags. Tags can only be compared for equality.
	Tag(ctx context.Context, key string) (string, error)
	// ReplaceIf stores body under key if the object still has this tag. If it has another, or is gone, it fails with
	// ErrChanged. It reads body as Put does.
	ReplaceIf(ctx context.Context, key string, body io.ReadSeeker, tag string) error
}

// Cleaner is an optional interface of a Store: removing unfinished puts of processes that died. They take space, but no
// listing or reader sees them.
type Cleaner interface {
	// Leftovers lists the unfinished puts that began before an instant, by the store's clock. Choose an instant longer
	// ago than any put may take: a younger put may still be running.
	Leftovers(ctx context.Context, before time.Time) ([]Leftover, error)
	// Clean removes leftovers; an absent one is no error. After an error it continues with the others.
	Clean(ctx context.Context, leftovers ...Leftover) error
}

// PutAwaiter is an optional interface of a Store: waiting until what other processes have put is seen here. A store that
// shows each put at once need not wait. A folder is listed again, because network file systems cache listings.
type PutAwaiter interface {
	AwaitPuts(ctx context.Context, prefix string) error
}

// Leftover is an unfinished put.
type Leftover struct {
	Key   string    // key of the object that was being put; in a folder: of the unfinished file
	ID    string    // distinguishes the puts of one key; "" in a folder
	Begun time.Time // by the store's clock; in a folder: when the file was last written to
}

// PutMode says what Put does if the object exists.
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

// CheckKey returns an error for a key that is outside the store's root, could be taken for an unfinished file, or that
// some store cannot list.
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

// TempPrefix begins the names of unfinished files in a folder. No part of a key may begin with it.
const TempPrefix = ".tmp-"
