package s3store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dealflow/load/store"
)

// copyLimit is the size in bytes up to which providers copy an object in one request.
const copyLimit = 5 << 30

// CopyFrom implements store.Copier: the provider copies the object itself. Few providers have a create-only copy, so this
// looks first: two callers that copy to one key at the same time may both succeed, and then both copied the same bytes.
func (s *Store) CopyFrom(ctx context.Context, from store.Store, key, to string) error {
	source, ok := from.(*Store)
	if !ok || aws.ToString(source.client.Options().BaseEndpoint) != aws.ToString(s.client.Options().BaseEndpoint) {
		return errors.ErrUnsupported
	}
	if err := errors.Join(store.CheckKey(key), store.CheckKey(to)); err != nil {
		return err
	}
	switch _, err := s.head(ctx, "look at", to); {
	case err == nil:
		return fmt.Errorf("copy to %s: %w", to, store.ErrExists)
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	found, err := source.head(ctx, "look at", key)
	if err != nil {
		return err
	}
	if aws.ToInt64(found.ContentLength) > copyLimit {
		return errors.ErrUnsupported
	}
	path := strings.Split(source.bucket+"/"+*source.key(key), "/")
	for i := range path {
		path[i] = url.PathEscape(path[i])
	}
	return s.do(ctx, "copy", to, func(ctx context.Context) error {
		_, err := s.client.CopyObject(ctx, &s3.CopyObjectInput{
			Bucket: &s.bucket, Key: s.key(to), CopySource: aws.String(strings.Join(path, "/")), CopySourceIfMatch: found.ETag,
		})
		return err
	})
}
