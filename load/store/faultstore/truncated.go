package faultstore

import (
	"bytes"
	"context"
	"errors"
	"io"

	"dealflow/load/store"
)

// half opens an object of which only the first half is readable.
func (s *Store) half(ctx context.Context, key string, fault error) (io.ReadCloser, error) {
	r, err := s.Store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	return io.NopCloser(io.MultiReader(bytes.NewReader(data[:len(data)/2]), brokenReader{fault})), nil
}

// brokenReader fails at once.
type brokenReader struct{ fault error }

func (r brokenReader) Read([]byte) (int, error) { return 0, r.fault }

// halfReaderAt reads the first half of an object.
type halfReaderAt struct {
	store.ReaderAtCloser
	half  int64
	fault error
}

func (r *halfReaderAt) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) <= r.half {
		return r.ReaderAtCloser.ReadAt(p, offset)
	}
	n := 0
	if offset < r.half {
		var err error
		if n, err = r.ReaderAtCloser.ReadAt(p[:r.half-offset], offset); err != nil {
			return n, err
		}
	}
	return n, r.fault
}
