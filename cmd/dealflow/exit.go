package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dealflow/extract"
	"dealflow/internal/pull"
	"dealflow/load"
	"dealflow/load/verify"
)

// exit is one row of the table of exit codes. The help shows the table, and scripts rely on it.
type exit struct {
	code    int
	meaning string
}

// exits is the table of exit codes. If several apply, the first of 2, 4, 5, 11, 6, 12, 3 is used.
var exits = []exit{
	{0, "done"},
	{1, "error"},
	{2, "usage: the command line or a setting cannot be understood"},
	{3, "partial: some feeds failed, the rest is committed"},
	{4, "credentials refused"},
	{5, "contract or quality hold: nothing was committed"},
	{6, "the removal guard held a feed, the rest is committed"},
	{7, "verify found damage"},
	{10, "no lake there"},
	{11, "another run committed first: nothing of this one is visible"},
	{12, "deadline reached: the finished feeds are committed"},
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

// exitCode returns the exit code for an error.
func exitCode(ctx context.Context, err error) int {
	var usage *usageError
	var auth *extract.AuthError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return 2
	case errors.As(err, &auth):
		return 4
	case errors.Is(err, pull.ErrContract), errors.Is(err, pull.ErrQuality):
		return 5
	case errors.Is(err, load.ErrConflict):
		return 11
	case errors.Is(err, pull.ErrFeedsHeld):
		return 6
	case errors.Is(err, pull.ErrDeadline):
		return 12
	case errors.Is(err, pull.ErrFeedsFailed) && !errors.Is(err, pull.ErrNothingDone):
		return 3
	case errors.Is(err, verify.ErrDamage):
		return 7
	case errors.Is(err, load.ErrNoLake):
		return 10
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return 130
	}
	return 1
}
