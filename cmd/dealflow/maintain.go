package main

import (
	"fmt"

	"dealflow/internal/logs"
	"dealflow/internal/maintain"
	"dealflow/internal/words"
)

// maintainConfig returns the configuration of a maintenance command, which does not use the API.
// acceptLost is the flag of addAcceptLost.
func (a *app) maintainConfig(at *attempt, acceptLost bool) (cfg maintain.Config, err error) {
	cache, err := a.settings.cache(at.store)
	return maintain.Config{
		Store: at.store, Cache: cache, RunID: at.runID, Clock: a.Now, WorkDir: a.workDir(),
		Owner: owner(), Version: version(), Log: a.logger(), AcceptLost: acceptLost,
	}, err
}

// printMaintained prints the result of a maintenance command: warnings, and the commit.
func (a *app) printMaintained(r *maintain.Result) {
	for _, warning := range r.Warnings {
		a.warn(warning)
	}
	if r.Commit > 0 {
		files := ""
		if r.FilesAdded+r.FilesRemoved > 0 { // else it is a commit about a setting
			files = fmt.Sprintf(", %d files (%s) in place of %d (%s)", r.FilesAdded, words.Size(r.BytesAdded), r.FilesRemoved, words.Size(r.BytesRemoved))
		}
		a.say().Info("commit", "commit", r.Commit, "lake", r.Lake, "known_at", r.KnownAt.String(), "outcome", r.Outcome, "files", r.FilesAdded,
			"bytes", r.BytesAdded, "files_removed", r.FilesRemoved, "bytes_removed", r.BytesRemoved, "seconds", r.Seconds,
			logs.Text("commit %d of %s, known at %s: %s%s, %.1f s", r.Commit, r.Lake, r.KnownAt, r.Outcome, files, r.Seconds))
	}
}
