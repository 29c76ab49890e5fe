package catalog

import (
	"context"
	"iter"
	"slices"

	"dealflow/load"
	"dealflow/schemas/lake"
)

// state is the state of a lake that a catalog shows. It is a value: its slices are not modified.
type state struct {
	commit  int64
	sha256  string // of the commit's bytes; "" if it is not made yet
	knownAt lake.Instant
	files   []lake.File
	commits []lake.Commit // as of load.Log.Commits, and pending
	pending []lake.Commit // a commit that is not made yet
}

// stateOf returns the state as of a log's newest commit.
func stateOf(log *load.Log) state {
	return state{log.Number, log.SHA256, log.KnownAt, log.AllFiles(), log.Commits, nil}
}

// runsAfter yields the runs after a commit, oldest first, that a lake and the state have. An error is the last that it
// yields.
func (s state) runsAfter(ctx context.Context, l *load.Lake, commit int64) iter.Seq2[*lake.Commit, error] {
	return func(yield func(*lake.Commit, error) bool) {
		for run, err := range l.Runs(ctx, commit+1) {
			if err == nil && run.Number > s.commit {
				return
			}
			if !yield(run, err) || err != nil {
				return
			}
		}
		for i := range s.pending {
			if s.pending[i].Number > commit && !yield(&s.pending[i], nil) {
				return
			}
		}
	}
}

// with returns the state after one more commit.
func (s state) with(c *lake.Commit) state {
	removed := map[string]bool{}
	for _, path := range c.Remove {
		removed[path] = true
	}
	files := make([]lake.File, 0, len(s.files)+len(c.Add))
	for i := range s.files {
		if !removed[s.files[i].Path] {
			files = append(files, s.files[i])
		}
	}
	return state{c.Number, "", c.KnownAt, append(files, c.Add...), append(slices.Clone(s.commits), *c), []lake.Commit{*c}}
}
