package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// ReadTries is how often an object is read if its body breaks off.
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

// OpenAt opens an object for reading at any offset. Of a store that is no RandomReader, the whole object is read into
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
