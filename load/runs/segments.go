package runs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Segments are all segments of a log, without a gap from commit 1 on. The slice is never changed in place: several values
// may share it.
type Segments []Segment

// Last returns the last commit that is in a segment; 0 for none.
func (s Segments) Last() int64 {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].Last
}

// Needs returns what a reader of the segments in the store must know; nothing if none is there.
func (s Segments) Needs() lake.Needs {
	if slices.ContainsFunc(s, func(one Segment) bool { return one.Object == nil }) {
		return lake.Needs{Requires: []string{lake.NeedRunSegments}}
	}
	return lake.Needs{}
}

// Named names a commit from 1 to Last.
func (s Segments) Named(ctx context.Context, from store.Store, number int64) (lake.NamedCommit, error) {
	i, _ := slices.BinarySearchFunc(s, number, func(one Segment, number int64) int { return cmp.Compare(one.Last, number) })
	names, err := s[i].ReadNames(ctx, from)
	if err != nil {
		return lake.NamedCommit{}, err
	}
	return names[number-s[i].First].NamedCommit, nil
}

// Put puts the segments that are not in the store, also those that were deleted there, and returns all of them as they are
// then.
func (s Segments) Put(ctx context.Context, to store.Store) (Segments, error) {
	if len(s) == 0 {
		return s, nil
	}
	present := map[string]bool{}
	for object, err := range to.List(ctx, lake.SegmentsPrefix) {
		if err != nil {
			return s, err
		}
		present[object.Key] = true
	}
	putting, ctx := errgroup.WithContext(ctx)
	putting.SetLimit(store.SideBySide)
	stored := slices.Clone(s)
	for i := range stored {
		key := lake.SegmentKey(s[i].Last)
		if s[i].Object == nil && present[key] {
			continue
		}
		putting.Go(func() error {
			made := &s[i]
			if made.Object == nil {
				commits, err := made.recover(ctx, to, store.ErrNotFound)
				if err != nil {
					return err
				}
				if made, err = Encode(commits, made.LastCommit); err != nil {
					return err
				}
			}
			stored[i] = *made
			stored[i].Object = nil
			return to.Put(ctx, key, bytes.NewReader(made.Object), store.Replace)
		})
	}
	if err := putting.Wait(); err != nil {
		return s, err
	}
	return stored, nil
}

// Cache keeps the names that were read from segments. It is safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	until string // SHA-256 of the last segment
	names []Name
}

// Read reads the names of all runs in segments, oldest first: run n is at n-1. The caller must not change the slice.
func (c *Cache) Read(ctx context.Context, from store.Store, s Segments) ([]Name, error) {
	if len(s) == 0 {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := s[len(s)-1].SHA256; c.until != until {
		parts := make([][]Name, len(s))
		reading, ctx := errgroup.WithContext(ctx)
		reading.SetLimit(store.SideBySide)
		for i := range s {
			reading.Go(func() (err error) {
				parts[i], err = s[i].ReadNames(ctx, from)
				return err
			})
		}
		if err := reading.Wait(); err != nil {
			return nil, err
		}
		c.until, c.names = until, slices.Concat(parts...)
	}
	return c.names, nil
}

// Bases returns the base URLs from which runs pulled a feed: of commits, which begin with the needed ones of segments. If
// there are several, it reads which run had which.
func (c *Cache) Bases(ctx context.Context, from store.Store, s Segments, commits []lake.Commit, feed api.Feed) (*lake.Bases, error) {
	bases := lake.NewBases(commits, feed)
	if len(s) == 0 || bases.Extend() {
		return bases, nil
	}
	names, err := c.Read(ctx, from, s)
	if err != nil {
		return nil, fmt.Errorf("base URLs of %s: %w", feed, err)
	}
	for i := range names {
		base := names[i].Base
		if names[i].Bases != nil {
			base = names[i].Bases[feed.String()]
		}
		if base != "" {
			bases.Add(names[i].RunID, base)
		}
	}
	return bases, nil
}
