package s3store

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"
)

const (
	// mostParts is the greatest number of parts that providers allow in an upload.
	mostParts = 10_000
	// mostUploads is how often an upload is begun if it ends with a conflict.
	mostUploads = 3
	// abortTimeout bounds the abort of an upload whose own context may have ended.
	abortTimeout = 30 * time.Second
)

// putParts puts a body in parts. After a conflict at its end an upload cannot be completed, so all parts are sent
// again.
func (s *Store) putParts(ctx context.Context, op, key string, src *source, c condition) (unsure bool, err error) {
	for range mostUploads {
		var lost bool
		lost, err = s.upload(ctx, op, key, src, c)
		unsure = unsure || lost
		if !coded(err, codeConflict) {
			break
		}
	}
	return unsure, err
}

// upload runs one multipart upload. Providers charge for the parts of an unfinished upload, so a failed one is aborted,
// even if ctx has ended.
func (s *Store) upload(ctx context.Context, op, key string, src *source, c condition) (unsure bool, err error) {
	id, err := s.beginUpload(ctx, op, key)
	if err != nil {
		return false, err
	}
	defer func() {
		if err != nil {
			late, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), abortTimeout, errors.New("aborting the upload took too long"))
			defer cancel()
			err = errors.Join(err, s.abort(late, key, id))
		}
	}()
	parts, err := s.sendParts(ctx, op, key, id, src)
	if err != nil {
		return false, err
	}
	return s.complete(ctx, op, key, id, parts, c)
}

func (s *Store) beginUpload(ctx context.Context, op, key string) (id *string, err error) {
	err = s.do(ctx, op, key, func(ctx context.Context) error {
		out, err := s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &s.bucket, Key: s.key(key), ChecksumAlgorithm: s.partChecksum()})
		if err == nil {
			id = out.UploadId
		}
		return err
	})
	return id, err
}

// partChecksum is the checksum that an upload announces, that each part has, and that its completion names; "" for
// none. All three must agree.
func (s *Store) partChecksum() types.ChecksumAlgorithm {
	if s.client.Options().RequestChecksumCalculation == aws.RequestChecksumCalculationWhenSupported {
		return types.ChecksumAlgorithmCrc32
	}
	return ""
}

// sendParts sends the parts concurrently, each from its offset in the body.
func (s *Store) sendParts(ctx context.Context, op, key string, id *string, src *source) ([]types.CompletedPart, error) {
	bytes := max(s.cfg.PartBytes, (src.size+mostParts-1)/mostParts)
	parts := make([]types.CompletedPart, (src.size+bytes-1)/bytes)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.cfg.Parallel)
	for i := range parts {
		offset := int64(i) * bytes
		group.Go(func() (err error) {
			parts[i], err = s.sendPart(ctx, op, key, &s3.UploadPartInput{
				Bucket: &s.bucket, Key: s.key(key), UploadId: id, ChecksumAlgorithm: s.partChecksum(),
				PartNumber: aws.Int32(int32(i + 1)), ContentLength: aws.Int64(min(bytes, src.size-offset)),
			}, src, offset)
			return err
		})
	}
	return parts, group.Wait()
}

func (s *Store) sendPart(ctx context.Context, op, key string, in *s3.UploadPartInput, src *source, offset int64) (part types.CompletedPart, err error) {
	err = s.do(ctx, op, key, func(ctx context.Context) error {
		in.Body = src.part(offset, *in.ContentLength)
		out, err := s.client.UploadPart(ctx, in)
		if err == nil {
			part = types.CompletedPart{PartNumber: in.PartNumber, ETag: out.ETag, ChecksumCRC32: out.ChecksumCRC32}
		}
		return src.blame(err)
	})
	return part, err
}

func (s *Store) complete(ctx context.Context, op, key string, id *string, parts []types.CompletedPart, c condition) (unsure bool, err error) {
	return s.try(ctx, op, key, func(ctx context.Context) error {
		_, err := s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: &s.bucket, Key: s.key(key), UploadId: id,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
			IfNoneMatch:     c.ifNoneMatch, IfMatch: c.ifMatch,
		})
		return err
	})
}

// abort aborts an upload; an absent one is no error.
func (s *Store) abort(ctx context.Context, key string, id *string) error {
	err := s.do(ctx, "abort the upload of", key, func(ctx context.Context) error {
		_, err := s.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &s.bucket, Key: s.key(key), UploadId: id})
		return err
	})
	if coded(err, codeNoSuchUpload) {
		return nil
	}
	return err
}
