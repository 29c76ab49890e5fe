package s3store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dealflow/load/store"
)

var errSilent = errors.New("the provider sent nothing for " + responseTimeout.String())

// Get implements store.Store. A body that ends early gives io.ErrUnexpectedEOF. Get occupies one of Config.Parallel
// only until the body's first byte: otherwise a caller with several open bodies could block itself.
func (s *Store) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := store.CheckKey(key); err != nil {
		return nil, fmt.Errorf("get: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var body io.ReadCloser
	err := s.do(ctx, "get", key, func(ctx context.Context) error {
		out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: s.key(key)})
		if err == nil {
			body = out.Body
		}
		return err
	})
	if err != nil {
		cancel(nil)
		return nil, err
	}
	return &bodyReader{ctx: ctx, cancel: cancel, body: body, fault: func(err error) *Error { return s.fault("get", key, err) }}, nil
}

// bodyReader reads an answer's body, and fails if the provider sends nothing for responseTimeout.
type bodyReader struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	body   io.ReadCloser
	fault  func(error) *Error
}

func (b *bodyReader) Read(p []byte) (int, error) {
	silence := time.AfterFunc(responseTimeout, func() { b.cancel(errSilent) })
	n, err := b.body.Read(p)
	silence.Stop()
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	fault := b.fault(err)
	if b.ctx.Err() != nil {
		return n, fault.ended(b.ctx)
	}
	return n, because(fault, err)
}

func (b *bodyReader) Close() error {
	b.cancel(nil)
	return b.body.Close()
}

// head asks for an object's size and ETag.
func (s *Store) head(ctx context.Context, op, key string) (*s3.HeadObjectOutput, error) {
	if err := store.CheckKey(key); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	var head *s3.HeadObjectOutput
	err := s.do(ctx, op, key, func(ctx context.Context) (err error) {
		head, err = s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: s.key(key)})
		return err
	})
	return head, err
}

// OpenAt implements store.RandomReader. If the object is replaced while it is open, reading it fails
// with store.ErrChanged.
func (s *Store) OpenAt(ctx context.Context, key string) (store.ReaderAtCloser, error) {
	end, err := s.end(ctx, key)
	if err != nil {
		return nil, err
	}
	r := &reader{size: end.offset + int64(len(end.data)), ahead: s.cfg.ReadAhead, windows: []window{end.window}}
	r.fetch = func(p []byte, offset int64) error {
		err := s.do(ctx, "read", key, func(ctx context.Context) error { return s.getRange(ctx, key, end.tag, p, offset) })
		if answered(err, http.StatusPreconditionFailed) {
			return because(err, store.ErrChanged)
		}
		return err
	}
	return r, nil
}

// ending is the end of an object, and the tag of what it is the end of.
type ending struct {
	window
	tag *string
}

// end fetches the last bytes of an object, or all of it if it has no more than a read fetches. A Parquet file is read from
// its end, so the request that tells the size brings the footer, too.
func (s *Store) end(ctx context.Context, key string) (e ending, err error) {
	if err := store.CheckKey(key); err != nil {
		return e, fmt.Errorf("open: %w", err)
	}
	err = s.do(ctx, "open", key, func(ctx context.Context) (err error) {
		e, err = s.getEnd(ctx, key)
		return err
	})
	if answered(err, http.StatusRequestedRangeNotSatisfiable) { // of an empty object
		head, err := s.head(ctx, "open", key)
		if err != nil {
			return e, err
		}
		if size := aws.ToInt64(head.ContentLength); size != 0 {
			return e, fmt.Errorf("open %s: the provider has no end of an object of %d bytes", key, size)
		}
		return ending{tag: head.ETag}, nil
	}
	return e, err
}

// getEnd requests the end of an object.
func (s *Store) getEnd(ctx context.Context, key string) (e ending, err error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &s.bucket, Key: s.key(key), Range: aws.String(fmt.Sprintf("bytes=-%d", s.cfg.ReadAhead)),
	})
	if err != nil {
		return e, err
	}
	defer out.Body.Close()
	size := aws.ToInt64(out.ContentLength)
	if size > s.cfg.ReadAhead {
		return e, fmt.Errorf("got %d bytes from the provider, want the last %d: it does not answer ranges", size, s.cfg.ReadAhead)
	}
	if said := aws.ToString(out.ContentRange); said != "" { // else the answer is the whole object
		var last, all int64
		if _, err := fmt.Sscanf(said, "bytes %d-%d/%d", &e.offset, &last, &all); err != nil || last != all-1 || last-e.offset+1 != size {
			return e, fmt.Errorf("the provider's range %q of %d bytes is not the end of an object", said, size)
		}
	}
	e.tag, e.data = out.ETag, make([]byte, size)
	_, err = io.ReadFull(out.Body, e.data)
	return e, err
}

// getRange fills p with the object's bytes from offset.
func (s *Store) getRange(ctx context.Context, key string, tag *string, p []byte, offset int64) error {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &s.bucket, Key: s.key(key), IfMatch: tag,
		Range: aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+int64(len(p))-1)),
	})
	if err != nil {
		return err
	}
	defer out.Body.Close()
	if got := aws.ToInt64(out.ContentLength); got != int64(len(p)) {
		return fmt.Errorf("read at %d: got %d bytes from the provider, want %d", offset, got, len(p))
	}
	_, err = io.ReadFull(out.Body, p)
	return err
}
