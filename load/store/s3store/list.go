package s3store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dealflow/load/store"
)

// List implements store.Store, page by page. It skips names that no Put could have given, such as the "folders" that
// some tools make.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	return s.ListAfter(ctx, prefix, "")
}

// ListAfter implements store.LaterLister, page by page.
func (s *Store) ListAfter(ctx context.Context, prefix, after string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		last := ""
		for page, err := range s.pages(ctx, prefix, after) {
			if err != nil {
				yield(store.Object{}, err)
				return
			}
			for _, o := range page.Contents {
				key := strings.TrimPrefix(aws.ToString(o.Key), s.root)
				if store.CheckKey(key) != nil || key <= after { // of a provider that begins before
					continue
				}
				if key <= last {
					yield(store.Object{}, fmt.Errorf("list %s: got %q after %q, want the order of names; use another kind of bucket", s.URL(), key, last))
					return
				}
				last = key
				if !yield(store.Object{Key: key, Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified)}, nil) {
					return
				}
			}
		}
	}
}

func (s *Store) pages(ctx context.Context, prefix, after string) iter.Seq2[*s3.ListObjectsV2Output, error] {
	return func(yield func(*s3.ListObjectsV2Output, error) bool) {
		in := &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: s.key(prefix), MaxKeys: &s.cfg.ListPage}
		if after != "" {
			in.StartAfter = s.key(after)
		}
		for {
			var page *s3.ListObjectsV2Output
			err := s.do(ctx, "list", prefix, func(ctx context.Context) (err error) {
				page, err = s.client.ListObjectsV2(ctx, in)
				return err
			})
			more := err == nil && aws.ToBool(page.IsTruncated)
			if more && aws.ToString(page.NextContinuationToken) == aws.ToString(in.ContinuationToken) {
				err = errors.New("list " + s.URL() + ": the provider announces more, but does not name the position to continue from")
			}
			if !yield(page, err) || err != nil || !more {
				return
			}
			in.ContinuationToken = page.NextContinuationToken
		}
	}
}
