package catalog

import (
	"slices"

	"dealflow/load"
	"dealflow/schemas/lake"
)

// State is the state of a lake that a catalog shows. It is a value: its slices are not modified.
type State struct {
	commit  int64
	knownAt lake.Instant
	files   []lake.File
	commits []lake.Commit
}

// StateOf returns the state as of a log's newest commit.
func StateOf(log *load.Log) State {
	return State{log.Number, log.KnownAt, log.AllFiles(), log.Runs}
}

// With returns the state after one more commit.
func (s State) With(c *lake.Commit) State {
	files := slices.DeleteFunc(slices.Clone(s.files), func(f lake.File) bool { return slices.Contains(c.Remove, f.Path) })
	return State{c.Number, c.KnownAt, append(files, c.Add...), append(slices.Clone(s.commits), *c)}
}
