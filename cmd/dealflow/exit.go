package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dealflow/extract"
	"dealflow/internal/export"
	"dealflow/internal/pull"
	"dealflow/internal/watch"
	"dealflow/load"
	"dealflow/load/verify"
	"dealflow/schemas/lake"
)

// exit is one row of the table of exit codes. The help shows the table, and scripts rely on it.
type exit struct {
	code    int
	meaning string
}

// exits is the table of exit codes. If several apply, the first of 2, 4, 5, 11, 13, 6, 12, 3, 9 is used.
var exits = []exit{
	{0, "done"},
	{1, "error"},
	{2, "usage: the command line or a setting cannot be understood"},
	{3, "partial: some feeds failed, the rest is committed"},
	{4, "credentials refused"},
	{5, "contract or quality hold: nothing was committed"},
	{6, "the removal guard held a feed, the rest is committed"},
	{7, "verify found damage"},
	{8, "status found a problem: the last run failed, or a feed is stale or held"},
	{9, "done, with warnings, which --strict does not accept"},
	{10, "no lake found"},
	{11, "another run committed first: nothing of this one is visible"},
	{12, "deadline reached, or the day's requests are spent: the finished feeds are committed"},
	{13, "skipped: another command is at work"},
	{130, "cancelled"},
}

func exitTable() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, e := range exits {
		fmt.Fprintf(&b, "  %3d  %s\n", e.code, e.meaning)
	}
	return b.String()
}

// usageError is the error for a command line or a setting that cannot be understood.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// silentError has an exit code, but Main does not print it: the message is already printed.
type silentError struct{ err error }

func (e *silentError) Error() string { return e.err.Error() }
func (e *silentError) Unwrap() error { return e.err }

// errSkipped is the error of a command that did nothing because another one holds the lease.
var errSkipped = errors.New("skipped: another command is at work; `dealflow lease show` says which")

// skippedError returns errSkipped for a command with this outcome, and nil for another outcome.
func skippedError(outcome string) error {
	if outcome == lake.OutcomeSkipped {
		return errSkipped
	}
	return nil
}

// errWarnings is the error of a command that is done and has warnings, under --strict.
var errWarnings = errors.New("there are warnings, see above (--strict)")

// strictly returns errWarnings if there are warnings and --strict is set, else nil.
func (a *app) strictly(warnings []string) error {
	if a.settings.strict && len(warnings) > 0 {
		return errWarnings
	}
	return nil
}

// committedError is an error after the command's own commit: the commit is valid, so neither "another run won" nor
// "skipped" is the exit code.
type committedError struct{ err error }

func (e *committedError) Error() string { return e.err.Error() }
func (e *committedError) Unwrap() error { return e.err }

// afterCommit marks the error of a command whose commit has this number; 0 means that it made none.
func afterCommit(commit int64, err error) error {
	if err == nil || commit == 0 {
		return err
	}
	return &committedError{err}
}

// exitCode returns the exit code for an error.
func exitCode(ctx context.Context, err error) int {
	var usage *usageError
	var auth *extract.AuthError
	var committed *committedError
	lost := !errors.As(err, &committed)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage), errors.Is(err, pull.ErrDayZone), errors.Is(err, export.ErrUsage):
		return 2
	case errors.As(err, &auth):
		return 4
	case errors.Is(err, pull.ErrContract), errors.Is(err, pull.ErrQuality):
		return 5
	case errors.Is(err, load.ErrConflict) && lost:
		return 11
	case errors.Is(err, errSkipped) && lost, errors.Is(err, watch.ErrBusy):
		return 13
	case errors.Is(err, pull.ErrFeedsHeld):
		return 6
	case errors.Is(err, pull.ErrDeadline), errors.Is(err, extract.ErrBudget):
		return 12
	case errors.Is(err, pull.ErrFeedsFailed) && !errors.Is(err, pull.ErrNothingDone):
		return 3
	case errors.Is(err, verify.ErrDamage):
		return 7
	case errors.Is(err, errUnwell):
		return 8
	case errors.Is(err, errWarnings):
		return 9
	case errors.Is(err, load.ErrNoLake):
		return 10
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return 130
	}
	return 1
}
