package s3store

import (
	"errors"
	"io"
	"sync"
)

// source is a body that can be read in parts, again, and by several requests at once, without being
// held in memory.
type source struct {
	at   io.ReaderAt
	base int64 // where the body starts in at
	size int64

	mu    sync.Mutex
	fault error // the first error of reading it
}

// newSource takes a body from its current place to its end.
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
	at, ok := body.(io.ReaderAt)
	if !ok {
		at = &seekingReader{body: body}
	}
	return &source{at: at, base: base, size: end - base}, nil
}

// part reads n bytes of the body from an offset on.
func (s *source) part(offset, n int64) *io.SectionReader {
	return io.NewSectionReader(s, offset, n)
}

// ReadAt reads the body, and remembers an error.
func (s *source) ReadAt(p []byte, offset int64) (int, error) {
	n, err := s.at.ReadAt(p, s.base+offset)
	if err != nil && !errors.Is(err, io.EOF) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.fault = errors.Join(s.fault, err)
	}
	return n, err
}

// bodyError is a body that could not be read, so that another attempt is no help.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return "read the body: " + e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// blame gives the body's own error for that of a request which failed by it.
func (s *source) blame(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.fault != nil {
		return &bodyError{s.fault}
	}
	return err
}

// seekingReader reads at any offset from what can only seek.
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
