package main

import (
	"context"
	"fmt"

	"dealflow/internal/maintain"

	"github.com/google/uuid"
)

// maintainConfig returns the configuration of a maintenance command, which does not use the API.
// acceptLost is the flag of addAcceptLost.
func (a *app) maintainConfig(ctx context.Context, acceptLost bool) (cfg maintain.Config, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return cfg, fmt.Errorf("run id: %w", err)
	}
	s, err := a.settings.store(ctx)
	if err != nil {
		return cfg, err
	}
	cache, err := a.settings.cache(s)
	return maintain.Config{
		Store: s, Cache: cache, RunID: id.String(), Clock: a.Now, WorkDir: a.workDir(),
		Owner: owner(), Version: version(), Log: a.logger(), AcceptLost: acceptLost,
	}, err
}

// printMaintained prints the result of a maintenance command: warnings, and the commit.
func (a *app) printMaintained(r *maintain.Result) {
	for _, warning := range r.Warnings {
		fmt.Fprintln(a.Stderr, "warning: "+warning)
	}
	if r.Commit > 0 {
		fmt.Fprintf(a.Stderr, "commit %d of %s, known at %s: %s, %d files (%s) in place of %d (%s), %.1f s\n",
			r.Commit, r.Lake, r.KnownAt, r.Outcome, r.FilesAdded, size(r.BytesAdded), r.FilesRemoved, size(r.BytesRemoved), r.Seconds)
	}
}
