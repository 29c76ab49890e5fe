package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"dealflow/internal/attempts"
	"dealflow/load"
	"dealflow/load/store"
)

// inspectEmpty says what is known of a place without a commit, within the time of o: what was tried, and what is at work. If a
// commit has come, it says what inspect says.
func (in *inspection) inspectEmpty(ctx context.Context, where store.Store, o statusOptions) (*statusResult, error) {
	return store.Within(ctx, o.timeout, errNoAnswer, func(ctx context.Context) (*statusResult, error) { return in.readEmpty(ctx, where) })
}

func (in *inspection) readEmpty(ctx context.Context, where store.Store) (*statusResult, error) {
	l, err := in.app.openToRead(ctx, where)
	switch {
	case err == nil:
		return in.read(ctx, where)
	case !errors.Is(err, load.ErrNoLake):
		return nil, err
	}
	in.lake, in.log = l, l.Log()
	s := statusOf(l, in.now)
	s.AgeSeconds = 0
	if err := in.addHistory(ctx, s); err != nil {
		return nil, err
	}
	s.Findings = []finding{}
	in.judgeRuns(s)
	switch atWork := s.Lease; {
	case atWork != nil && atWork.State == load.LeaseHeld:
		s.add("empty", "", "nothing: wait for that command", "%s has no commit yet; %s of %s is at work", where.URL(), atWork.Lease.Command, atWork.Lease.Owner)
	default:
		s.add("empty", "", "`dealflow run` takes the first snapshot; if there was a lake, see first whether --lake is right and its disk is mounted", "%s has no commit yet", where.URL())
	}
	in.judgeLease(s)
	in.judgeWatch(s)
	s.conclude()
	return s, nil
}

// checkPlace returns load.ErrNoLake for a lake without a commit if its folder is absent and nothing was tried there from this
// machine: then its name is more likely wrong than a first run late.
func (a *app) checkPlace(where store.Store) error {
	folder := store.LocalPath(where)
	if folder == "" {
		return nil
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	waiting, err := attempts.Waiting(a.settings.workDir, a.lakeIdentity(where))
	if err != nil || len(waiting) > 0 {
		return err
	}
	return fmt.Errorf("%w: there is no folder %s; correct --lake, or mount the disk; the first `dealflow run` of all begins a lake", load.ErrNoLake, folder)
}
