package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

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
