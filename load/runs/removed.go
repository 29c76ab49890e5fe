package runs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// RemovedSince returns the paths of files that commits removed whose objects were put at or after an instant, by the store's
// clock. It lists commits from the newest on, as many at once as one request gives, until none of them is that young: a commit
// is put after the one that it names, and the store dates all by one clock. Only the young ones are read.
func RemovedSince(ctx context.Context, s store.Store, newest int64, instant time.Time) (map[string]bool, error) {
	removed := map[string]bool{}
	for last := newest; last > 0; last -= commitsListed {
		young, err := commitsSince(ctx, s, max(last-commitsListed, 0), last, instant)
		if err != nil {
			return nil, err
		}
		if len(young) == 0 {
			break
		}
		if err := addRemoved(ctx, s, young, removed); err != nil {
			return nil, err
		}
	}
	return removed, nil
}

// commitsSince lists the objects of the commits after a number, up to last, that were put at or after an instant.
func commitsSince(ctx context.Context, s store.Store, after, last int64, instant time.Time) (young []string, err error) {
	for object, err := range store.ListAfter(ctx, s, lake.CommitsPrefix, lake.CommitKey(after)) {
		if err != nil {
			return nil, err
		}
		if object.Key > lake.CommitKey(last) {
			break
		}
		n, ok := lake.CommitNumber(object.Key) // also of other objects there, such as a copy with another ending
		if ok && object.Key == lake.CommitKey(n) && !object.Modified.Before(instant) {
			young = append(young, object.Key)
		}
		if n == last && object.Key == lake.CommitKey(n) {
			break
		}
	}
	return young, nil
}

// addRemoved adds the paths of files that commits removed.
func addRemoved(ctx context.Context, s store.Store, commits []string, removed map[string]bool) error {
	var mu sync.Mutex
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(commitsAtOnce)
	for _, key := range commits {
		reading.Go(func() error {
			data, err := store.Read(ctx, s, key)
			if err != nil {
				return err
			}
			commit, err := lake.DecodeCommit(data)
			if err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, path := range commit.Remove {
				removed[path] = true
			}
			return nil
		})
	}
	return reading.Wait()
}

// How many commits are listed before it is asked whether to go on, as many as a page of S3 has, and read side by side.
const (
	commitsListed = 1000
	commitsAtOnce = 16
)
