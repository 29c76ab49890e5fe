package s3store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"dealflow/load/store"
)

// mostDeletes is the greatest number of objects that one request may delete.
const mostDeletes = 1000

// deleteMode remembers that a provider cannot delete several objects in one request.
type deleteMode struct{ atomic.Bool }

// Delete implements store.Store, with up to 1,000 objects per request, or one by one if the provider cannot.
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	var faults []error
	var good []string
	for _, key := range keys {
		if err := store.CheckKey(key); err != nil {
			faults = append(faults, fmt.Errorf("delete: %w", err))
		} else {
			good = append(good, key)
		}
	}
	for batch := range slices.Chunk(good, mostDeletes) {
		faults = append(faults, s.deleteBatch(ctx, batch))
	}
	return errors.Join(faults...)
}

func (s *Store) deleteBatch(ctx context.Context, keys []string) error {
	if len(keys) == 1 || s.single.Load() {
		return s.deleteEach(ctx, keys)
	}
	in := &types.Delete{Quiet: aws.Bool(true)}
	for _, key := range keys {
		in.Objects = append(in.Objects, types.ObjectIdentifier{Key: s.key(key)})
	}
	var out *s3.DeleteObjectsOutput
	err := s.do(ctx, "delete", keys[0]+" and others", func(ctx context.Context) (err error) {
		out, err = s.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &s.bucket, Delete: in})
		return err
	})
	if cannotBatch(err) {
		s.single.Store(true)
		return s.deleteEach(ctx, keys)
	}
	if err != nil {
		return err
	}
	return s.deleteFailed(ctx, keys, out.Errors)
}

// deleteFailed deletes the objects that failed in a batch one by one: that says exactly what is wrong with each.
func (s *Store) deleteFailed(ctx context.Context, keys []string, failed []types.Error) error {
	var again []string
	for _, f := range failed {
		i := slices.IndexFunc(keys, func(key string) bool { return s.root+key == aws.ToString(f.Key) })
		if i < 0 {
			return s.fault("delete", "", fmt.Errorf("%s %s (of %q)", aws.ToString(f.Code), aws.ToString(f.Message), aws.ToString(f.Key)))
		}
		again = append(again, keys[i])
	}
	return s.deleteEach(ctx, again)
}

func (s *Store) deleteEach(ctx context.Context, keys []string) error {
	faults := make([]error, len(keys))
	var group errgroup.Group
	group.SetLimit(s.cfg.Parallel)
	for i, key := range keys {
		group.Go(func() error {
			err := s.do(ctx, "delete", key, func(ctx context.Context) error {
				_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: s.key(key)})
				return err
			})
			if !errors.Is(err, store.ErrNotFound) {
				faults[i] = err
			}
			return nil
		})
	}
	_ = group.Wait() // each error is in faults
	return errors.Join(faults...)
}

// cannotBatch says whether the provider lacks the request, or rejects the checksum that the SDK sends with it.
func cannotBatch(err error) bool {
	return answered(err, http.StatusNotImplemented, http.StatusMethodNotAllowed) ||
		slices.ContainsFunc([]string{"MissingContentMD5", "InvalidDigest", "BadDigest", "NotImplemented", "MethodNotAllowed", "InvalidRequest"},
			func(code string) bool { return coded(err, code) })
}
