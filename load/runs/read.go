package runs

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"golang.org/x/sync/errgroup"

	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// ReadObjects reads the objects of the commits first to last side by side; nil for one that is absent.
func ReadObjects(ctx context.Context, s store.Store, first, last int64) ([][]byte, error) {
	found := make([][]byte, last-first+1)
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(store.SideBySide)
	for i := range found {
		reading.Go(func() (err error) {
			found[i], err = store.Read(ctx, s, lake.CommitKey(first+int64(i)))
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			return err
		})
	}
	return found, reading.Wait()
}

// ReadNames reads the names of the segment's runs, oldest first.
func (s *Segment) ReadNames(ctx context.Context, from store.Store) ([]Name, error) {
	object, err := s.read(ctx, from)
	if err == nil {
		var names []Name
		if names, err = s.decodeNames(object); err == nil {
			return names, nil
		}
	}
	commits, err := s.recover(ctx, from, err)
	if err != nil {
		return nil, err
	}
	return namesOf(commits, s.LastCommit), nil
}

// ReadCommits reads the segment's commits, without their files, oldest first.
func (s *Segment) ReadCommits(ctx context.Context, from store.Store) ([]lake.Commit, error) {
	object, err := s.read(ctx, from)
	if err == nil {
		var commits []lake.Commit
		if commits, err = s.decodeCommits(object); err == nil {
			return commits, nil
		}
	}
	return s.recover(ctx, from, err)
}

// Compare compares the segment's object with the commits, of which own is the segment as this program makes it.
func (s *Segment) Compare(ctx context.Context, from store.Store, own *Segment) error {
	object, err := s.read(ctx, from)
	if err != nil {
		return err
	}
	if err := s.check(object); err != nil || s.SHA256 == own.SHA256 && s.LastCommit == own.LastCommit {
		return err
	}
	// Another version of the program has made it: the bytes may differ.
	commits, err := s.decodeCommits(object)
	if err != nil {
		return err
	}
	names, err := s.decodeNames(object)
	if err != nil {
		return err
	}
	want, err := own.recover(ctx, from, errors.New("its bytes are others"))
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(commits, want) || !reflect.DeepEqual(names, namesOf(want, own.LastCommit)) || s.LastCommit != own.LastCommit {
		return fmt.Errorf("the segment's runs differ from those of commits %d to %d", s.First, s.Last)
	}
	return nil
}

func (s *Segment) read(ctx context.Context, from store.Store) ([]byte, error) {
	if s.Object != nil {
		return s.Object, nil
	}
	return store.Read(ctx, from, lake.SegmentKey(s.Last))
}

// recover reads the commits of a segment whose object is damaged or absent: it is derived from them. why says what is
// wrong with it.
func (s *Segment) recover(ctx context.Context, from store.Store, why error) ([]lake.Commit, error) {
	why = fmt.Errorf("%s: %w", lake.SegmentKey(s.Last), why)
	if ctx.Err() != nil || lake.IsLater(why) {
		return nil, why
	}
	objects, err := ReadObjects(ctx, from, s.First, s.Last)
	if err != nil {
		return nil, errors.Join(why, err)
	}
	commits := make([]lake.Commit, 0, len(objects))
	last := ""
	for i, data := range objects {
		number := s.First + int64(i)
		c, err := decodeRun(data, number)
		if err == nil && i > 0 && c.PreviousSHA256 != last {
			err = errors.New("its previous_sha256 is not the hash of the commit before it")
		}
		if err != nil {
			return nil, fmt.Errorf("%w; of the commits from which it is made, commit %d cannot be read either: %w; run `dealflow verify`", why, number, err)
		}
		last = lake.SHA256(data)
		commits = append(commits, *c)
	}
	if last != s.LastCommit {
		return nil, fmt.Errorf("%w; commit %d is another one than its checkpoint names; run `dealflow verify`", why, s.Last)
	}
	return commits, nil
}

// decodeRun decodes a commit's object, nil for an absent one, and leaves out the files.
func decodeRun(data []byte, number int64) (*lake.Commit, error) {
	if data == nil {
		return nil, store.ErrNotFound
	}
	c, err := lake.DecodeCommit(data)
	if err != nil {
		return nil, err
	}
	if c.Number != number {
		return nil, fmt.Errorf("its number is %d", c.Number)
	}
	c.Add, c.Remove = nil, nil
	return c, nil
}
