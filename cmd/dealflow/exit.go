package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dealflow/extract"
	"dealflow/internal/exitcode"
	"dealflow/internal/export"
	"dealflow/internal/pull"
	"dealflow/internal/watch"
	"dealflow/load"
	"dealflow/load/verify"
	"dealflow/schemas/lake"
)

func exitTable() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, e := range exitcode.Table() {
		fmt.Fprintf(&b, "  %3d  %s\n", e.Code, e.Text)
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
		return exitcode.Done
	case errors.As(err, &usage), errors.Is(err, pull.ErrDayZone), errors.Is(err, export.ErrUsage):
		return exitcode.Usage
	case errors.As(err, &auth):
		return exitcode.Credentials
	case errors.Is(err, pull.ErrContract), errors.Is(err, pull.ErrQuality):
		return exitcode.Hold
	case errors.Is(err, load.ErrConflict) && lost:
		return exitcode.Overtaken
	case errors.Is(err, errSkipped) && lost, errors.Is(err, watch.ErrBusy):
		return exitcode.Skipped
	case errors.Is(err, pull.ErrFeedsHeld):
		return exitcode.Guard
	case errors.Is(err, pull.ErrDeadline), errors.Is(err, extract.ErrBudget):
		return exitcode.Late
	case errors.Is(err, pull.ErrFeedsFailed) && !errors.Is(err, pull.ErrNothingDone):
		return exitcode.Partial
	case errors.Is(err, verify.ErrDamage):
		return exitcode.Damage
	case errors.Is(err, errUnwell):
		return exitcode.Problem
	case errors.Is(err, errWarnings):
		return exitcode.Warnings
	case errors.Is(err, load.ErrNoLake):
		return exitcode.NoLake
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitcode.Cancelled
	}
	return exitcode.Error
}
