package catalog

import (
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
	commits []lake.Commit
}

// stateOf returns the state as of a log's newest commit.
func stateOf(log *load.Log) state {
	return state{log.Number, log.SHA256, log.KnownAt, log.AllFiles(), log.Commits}
}

// with returns the state after one more commit.
func (s state) with(c *lake.Commit) state {
	files := slices.DeleteFunc(slices.Clone(s.files), func(f lake.File) bool { return slices.Contains(c.Remove, f.Path) })
	return state{c.Number, "", c.KnownAt, append(files, c.Add...), append(slices.Clone(s.commits), *c)}
}
