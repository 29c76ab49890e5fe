package watch

import (
	"time"

	"dealflow/internal/exitcode"
	"dealflow/internal/watch/schedule"
)

// Settled says whether a command that ended with an exit code needs no other attempt: it is done, or a person must look
// first, or the next night does the rest.
func Settled(c schedule.Command, code int) bool {
	switch code {
	case exitcode.Done, exitcode.Warnings, exitcode.Hold, exitcode.Guard, exitcode.Late:
		return true
	case exitcode.Damage:
		return c == schedule.Maintain
	}
	return c == schedule.Sync // the next one is soon
}

// retryAfter returns how long to wait after a failure, the n-th in a row, counted from 1.
func retryAfter(c schedule.Command, code, n int) time.Duration {
	first := 15 * time.Minute
	switch {
	case c == schedule.Sync && code != exitcode.Credentials && code != exitcode.Usage:
		return 0
	case c == schedule.Run && code == exitcode.Credentials, c == schedule.Maintain && code != exitcode.Skipped:
		first = time.Hour // an account may be locked; and maintenance can wait
	}
	wait := first
	for ; n > 1 && wait < schedule.MostRetry; n-- {
		wait *= 2
	}
	return min(wait, schedule.MostRetry)
}
