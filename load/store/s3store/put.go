package s3store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dealflow/load/store"
)

// condition is what must be true for a put to take effect, and the error if it is not.
type condition struct {
	ifNoneMatch, ifMatch *string
	refused              error
}

// Put implements store.Store. If the first attempt of a create-only put gets no answer, a later attempt may be refused
// because of the object that the first one put. Then Put reads the object: exactly the bytes of body count as success.
// This is right for objects whose key or bytes name their writer, as data files and commits do. Otherwise two writers
// of equal objects could both get the answer that they won.
func (s *Store) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	var c condition
	if mode == store.CreateOnly {
		c = condition{ifNoneMatch: aws.String("*"), refused: store.ErrExists}
	}
	return s.put(ctx, "put", key, body, c)
}

// Tag implements store.Replacer: the object's ETag.
func (s *Store) Tag(ctx context.Context, key string) (string, error) {
	head, err := s.head(ctx, "look at", key)
	if err != nil {
		return "", err
	}
	if tag := aws.ToString(head.ETag); tag != "" {
		return tag, nil
	}
	return "", fmt.Errorf("look at %s: %w", key, store.ErrNoTag)
}

// ReplaceIf implements store.Replacer. As with Put, after an attempt without an answer an object with exactly the bytes
// of body counts as success.
func (s *Store) ReplaceIf(ctx context.Context, key string, body io.ReadSeeker, tag string) error {
	if tag == "" {
		return fmt.Errorf("replace %s: got no tag, want that of the object to replace", key)
	}
	return s.put(ctx, "replace", key, body, condition{ifMatch: aws.String(tag), refused: store.ErrChanged})
}

func (s *Store) put(ctx context.Context, op, key string, body io.ReadSeeker, c condition) error {
	if err := store.CheckKey(key); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	src, err := newSource(body)
	if err != nil {
		return fmt.Errorf("%s %s: size of the body: %w", op, key, err)
	}
	send := s.putWhole
	if src.size > s.cfg.MultipartAbove {
		send = s.putParts
	}
	unsure, err := send(ctx, op, key, src, c)
	refused := answered(err, http.StatusPreconditionFailed) || c.ifMatch != nil && answered(err, http.StatusNotFound) && !coded(err, codeNoSuchUpload)
	// An absent upload was completed, perhaps by the attempt before.
	gone := coded(err, codeNoSuchUpload)
	if unsure && (refused || gone) {
		if same, checkErr := s.isObject(ctx, key, src); checkErr != nil {
			return errors.Join(fmt.Errorf("%s %s: it is unknown whether an earlier attempt was applied: %w", op, key, checkErr), err)
		} else if same {
			return nil
		}
	}
	if refused {
		return because(err, c.refused)
	}
	return err
}

// putWhole puts a body in one request.
func (s *Store) putWhole(ctx context.Context, op, key string, src *source, c condition) (unsure bool, err error) {
	return s.try(ctx, op, key, func(ctx context.Context) error {
		_, err := s.client.PutObject(ctx, &s3.PutObjectInput{
			Bucket: &s.bucket, Key: s.key(key), Body: src.part(0, src.size), ContentLength: &src.size,
			IfNoneMatch: c.ifNoneMatch, IfMatch: c.ifMatch,
		})
		return src.blame(err)
	})
}

// isObject says whether the object has exactly the body's bytes.
func (s *Store) isObject(ctx context.Context, key string, src *source) (same bool, err error) {
	r, err := s.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	theirs, ours := sha256.New(), sha256.New()
	_, err = io.Copy(theirs, r)
	if err := errors.Join(err, r.Close()); err != nil {
		return false, err
	}
	if _, err := io.Copy(ours, src.part(0, src.size)); err != nil {
		return false, err
	}
	return [sha256.Size]byte(theirs.Sum(nil)) == [sha256.Size]byte(ours.Sum(nil)), nil
}
