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
	head, err := s.head(ctx, "open", key)
	if err != nil {
		return nil, err
	}
	r := &reader{size: aws.ToInt64(head.ContentLength), ahead: s.cfg.ReadAhead}
	r.fetch = func(p []byte, offset int64) error {
		err := s.do(ctx, "read", key, func(ctx context.Context) error { return s.getRange(ctx, key, head.ETag, p, offset) })
		if answered(err, http.StatusPreconditionFailed) {
			return because(err, store.ErrChanged)
		}
		return err
	}
	return r, nil
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
