package s3store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
)

// mostWindows is the number of pieces of an object that an open reader keeps, so that the readers of several columns of
// a Parquet row group do not evict each other's.
const mostWindows = 4

// reader reads an object at any offset. It fetches more than it is asked for and keeps that: a Parquet file is read in
// many small neighbouring pieces, and each request costs far more than its bytes.
type reader struct {
	size  int64
	ahead int64
	fetch func(p []byte, offset int64) error // fills p, which is within the object

	mu      sync.Mutex
	closed  bool
	windows []window // the newest last
	offset  int64    // of Seek
}

// window is a piece of the object.
type window struct {
	offset int64
	data   []byte
}

// ReadAt implements io.ReaderAt.
func (r *reader) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, fmt.Errorf("read at %d: want an offset of 0 or more", offset)
	}
	want := p[:max(0, min(int64(len(p)), r.size-offset))]
	if err := r.fill(want, offset); err != nil {
		return 0, err
	}
	if len(want) < len(p) {
		return len(want), io.EOF
	}
	return len(p), nil
}

func (r *reader) fill(p []byte, offset int64) error {
	if done, err := r.readWindow(p, offset); done || err != nil {
		return err
	}
	if int64(len(p)) >= r.ahead {
		return r.fetch(p, offset)
	}
	// Near the object's end the window starts earlier: the last bytes are read first, then the footer before them.
	w := window{offset: max(0, min(offset, r.size-r.ahead))}
	w.data = make([]byte, min(r.ahead, r.size-w.offset))
	if err := r.fetch(w.data, w.offset); err != nil {
		return err
	}
	copy(p, w.data[offset-w.offset:])
	r.mu.Lock()
	defer r.mu.Unlock()
	r.windows = append(r.windows, w)
	if len(r.windows) > mostWindows {
		r.windows = append([]window(nil), r.windows[1:]...)
	}
	return nil
}

// readWindow fills p from a window that contains all of it.
func (r *reader) readWindow(p []byte, offset int64) (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false, fs.ErrClosed
	}
	for _, w := range r.windows {
		if offset >= w.offset && offset+int64(len(p)) <= w.offset+int64(len(w.data)) {
			copy(p, w.data[offset-w.offset:])
			return true, nil
		}
	}
	return len(p) == 0, nil
}

// Seek implements io.Seeker. The position does not affect ReadAt.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += r.offset
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("seek to before the start")
	}
	r.offset = offset
	return offset, nil
}

// Close frees the windows.
func (r *reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed, r.windows = true, nil
	return nil
}
