package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// SideBySide is the number of objects that are requested at the same time: a store far away takes as long for one. The store
// itself sends as many at once as it may (s3store.Config.Parallel).
const SideBySide = 64

// ReadTries is how often an object is read if its body ends early.
const ReadTries = 3

// Read returns an object's bytes. An object that is absent is ErrNotFound.
func Read(ctx context.Context, s Store, key string) ([]byte, error) {
	for try := 1; ; try++ {
		r, err := s.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err == nil {
			return data, nil
		}
		if try == ReadTries || ctx.Err() != nil {
			return nil, fmt.Errorf("read %s: %w", key, err)
		}
	}
}

// PutsWait is how long AwaitPuts waits: network file systems show a new file to other machines after some seconds at
// most, and 2 s cover the usual case.
const PutsWait = 2 * time.Second

// AwaitPuts waits until a store shows what other processes have put under a prefix a short time ago. For a PutAwaiter it
// does what that says, otherwise it waits for PutsWait.
func AwaitPuts(ctx context.Context, s Store, prefix string) error {
	if awaiter, ok := s.(PutAwaiter); ok {
		return awaiter.AwaitPuts(ctx, prefix)
	}
	return Pause(ctx, PutsWait)
}

// Pause waits for d, or until the context ends; then it returns the context's error.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// OpenAt opens an object for reading at any offset. If the store is no RandomReader, it reads all of the object into
// memory. The caller closes the reader.
func OpenAt(ctx context.Context, s Store, key string) (ReaderAtCloser, error) {
	if random, ok := s.(RandomReader); ok {
		return random.OpenAt(ctx, key)
	}
	data, err := Read(ctx, s, key)
	if err != nil {
		return nil, err
	}
	return bytesReader{bytes.NewReader(data)}, nil
}

type bytesReader struct{ *bytes.Reader }

func (bytesReader) Close() error { return nil }

// ReadEnd reads the last bytes of an object; nil for an object that is shorter.
func ReadEnd(ctx context.Context, s Store, key string, length int64) (end []byte, err error) {
	file, err := OpenAt(ctx, s, key)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil || size < length {
		return nil, err
	}
	end = make([]byte, length)
	if n, err := file.ReadAt(end, size-length); n < len(end) {
		return nil, err
	}
	return end, nil
}
