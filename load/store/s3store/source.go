package s3store

import (
	"errors"
	"io"
	"sync"
)

// source is a body that several requests can read in parts, at once and again, without copying it into memory.
type source struct {
	body io.ReaderAt
	base int64 // offset of the body's first byte
	size int64

	mu    sync.Mutex
	fault error // errors of reading it
}

// newSource returns a source of a body from its current position to its end.
func newSource(body io.ReadSeeker) (*source, error) {
	base, err := body.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	end, err := body.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if _, err := body.Seek(base, io.SeekStart); err != nil {
		return nil, err
	}
	random, ok := body.(io.ReaderAt)
	if !ok {
		random = &seekingReader{body: body}
	}
	return &source{body: random, base: base, size: end - base}, nil
}

// part returns a reader of n bytes of the body from an offset.
func (s *source) part(offset, n int64) *io.SectionReader {
	return io.NewSectionReader(s, offset, n)
}

// ReadAt reads the body, and keeps errors for blame.
func (s *source) ReadAt(p []byte, offset int64) (int, error) {
	n, err := s.body.ReadAt(p, s.base+offset)
	if err != nil && !errors.Is(err, io.EOF) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fault = errors.Join(s.fault, err)
	}
	return n, err
}

// bodyError is the error of a body that could not be read: another attempt does not help.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return "read the body: " + e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// blame replaces the error of a request by that of its body if reading the body failed.
func (s *source) blame(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.fault != nil {
		return &bodyError{s.fault}
	}
	return err
}

// seekingReader reads at any offset from a body that can only seek.
type seekingReader struct {
	mu   sync.Mutex
	body io.ReadSeeker
}

func (r *seekingReader) ReadAt(p []byte, offset int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.body.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(r.body, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}
