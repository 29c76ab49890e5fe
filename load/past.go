package load

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"dealflow/load/runs"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Whole says whether Commits has all commits from a number on.
func (g *Log) Whole(from int64) bool { return len(g.segments) == 0 || from > g.segments.Last() }

// fold puts the oldest commits of a long log into segments. So a log holds the newest commits, at least runs.Size and
// fewer than twice as many, and of the older ones those that decisions need. Which ones depends on the commits alone.
func (g *Log) fold() error {
	for {
		held := g.placeOf(g.segments.Last() + 1)
		if len(g.Commits)-held < 2*runs.Size {
			return nil
		}
		end := held + runs.Size
		if g.Commits[end].Number-g.Commits[held].Number != runs.Size {
			return nil // a damaged log, in which commits are missing
		}
		named, err := runs.Encode(g.Commits[held:end], g.Commits[end].PreviousSHA256)
		if err != nil {
			return fmt.Errorf("the runs up to commit %d: %w", g.Commits[end-1].Number, err)
		}
		g.segments = append(slices.Clip(g.segments), *named)
		g.Commits = slices.Concat(runs.Needed(g.Commits[:end]), g.Commits[end:])
	}
}

// Segments returns the segments of the commits that Commits need not have. The caller must not change the slice.
func (g *Log) Segments() runs.Segments { return g.segments }

// AppendRun adds a commit, without its files, to a log whose other fields the caller keeps. It does not keep the objects of
// segments.
func (g *Log) AppendRun(c *lake.Commit) error {
	g.Commits = append(g.Commits, *c)
	err := g.fold()
	if n := len(g.segments); n > 0 {
		g.segments[n-1].Object = nil
	}
	return err
}

// placeOf returns the place in Commits of the first commit from a number on.
func (g *Log) placeOf(number int64) int {
	i, _ := slices.BinarySearchFunc(g.Commits, number, func(c lake.Commit, number int64) int { return cmp.Compare(c.Number, number) })
	return i
}

// Named names a commit of the lake by its number and its hash; false if there is none. It reads a segment for an old one.
func (l *Lake) Named(ctx context.Context, number int64) (lake.NamedCommit, bool, error) {
	return l.log.named(ctx, l.store, number)
}

func (g *Log) named(ctx context.Context, s store.Store, number int64) (lake.NamedCommit, bool, error) {
	if named, ok := g.Named(number); ok || number < 1 || number > g.segments.Last() {
		return named, ok, nil
	}
	named, err := g.segments.Named(ctx, s, number)
	return named, err == nil, err
}

// Runs yields the commits from a number on, without their files, oldest first. Those that the log does not hold are read
// from segments, one segment at a time. An error is the last that it yields.
func (l *Lake) Runs(ctx context.Context, from int64) iter.Seq2[*lake.Commit, error] {
	g := l.log // a later Refresh changes nothing
	return func(yield func(*lake.Commit, error) bool) {
		for i := range g.segments {
			seg := &g.segments[i]
			if seg.Last < from {
				continue
			}
			commits, err := seg.ReadCommits(ctx, l.store)
			if err != nil {
				yield(nil, err)
				return
			}
			for n := range commits {
				if commits[n].Number >= from && !yield(&commits[n], nil) {
					return
				}
			}
		}
		for i := g.placeOf(max(from, g.segments.Last()+1)); i < len(g.Commits); i++ {
			if !yield(&g.Commits[i], nil) {
				return
			}
		}
	}
}

// Run returns a commit without its files; nil for a number that no commit has.
func (l *Lake) Run(ctx context.Context, number int64) (*lake.Commit, error) {
	if number < 1 {
		return nil, nil
	}
	for run, err := range l.Runs(ctx, number) {
		return run, err
	}
	return nil, nil
}

// Names names all runs, oldest first: run n is at n-1. Those that the log does not hold are read from segments, once. The
// caller must not change the slice.
func (l *Lake) Names(ctx context.Context) ([]runs.Name, error) {
	return l.log.Names(ctx, l.store, l.names)
}

// Names is Lake.Names for a log in a store.
func (g *Log) Names(ctx context.Context, s store.Store, cache *runs.Cache) ([]runs.Name, error) {
	old, err := cache.Read(ctx, s, g.segments)
	if err != nil {
		return nil, err
	}
	all := slices.Clip(old)
	for i := g.placeOf(g.segments.Last() + 1); i < len(g.Commits); i++ {
		named, _ := g.Named(g.Commits[i].Number)
		all = append(all, runs.NameOf(&g.Commits[i], named.SHA256))
	}
	return all, nil
}

// Bases returns the base URLs from which runs pulled a feed. Where the lake has several, it names the runs of each.
func (l *Lake) Bases(ctx context.Context, feed api.Feed) (*lake.Bases, error) {
	return l.names.Bases(ctx, l.store, l.log.segments, l.log.Commits, feed)
}
