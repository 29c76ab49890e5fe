package s3store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"dealflow/load/store"
)

// Leftovers implements store.Cleaner: multipart uploads that were neither completed nor aborted.
func (s *Store) Leftovers(ctx context.Context, before time.Time) ([]store.Leftover, error) {
	var found []store.Leftover
	in := &s3.ListMultipartUploadsInput{Bucket: &s.bucket, Prefix: &s.root}
	for {
		var page *s3.ListMultipartUploadsOutput
		err := s.do(ctx, "list the uploads of", "", func(ctx context.Context) (err error) {
			page, err = s.client.ListMultipartUploads(ctx, in)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, u := range page.Uploads {
			if begun := aws.ToTime(u.Initiated); begun.Before(before) {
				found = append(found, store.Leftover{Key: strings.TrimPrefix(aws.ToString(u.Key), s.root), ID: aws.ToString(u.UploadId), Begun: begun})
			}
		}
		if !aws.ToBool(page.IsTruncated) {
			return found, nil
		}
		if aws.ToString(page.NextKeyMarker) == aws.ToString(in.KeyMarker) && aws.ToString(page.NextUploadIdMarker) == aws.ToString(in.UploadIdMarker) {
			return nil, errors.New("list the uploads of " + s.URL() + ": the provider announces more, but does not name the position to continue from")
		}
		in.KeyMarker, in.UploadIdMarker = page.NextKeyMarker, page.NextUploadIdMarker
	}
}

// Clean implements store.Cleaner.
func (s *Store) Clean(ctx context.Context, leftovers ...store.Leftover) error {
	var faults []error
	for _, l := range leftovers {
		faults = append(faults, s.abort(ctx, l.Key, aws.String(l.ID)))
	}
	return errors.Join(faults...)
}
