package watch

import (
	"time"

	"dealflow/internal/watch/schedule"
)

// Exit codes of commands, as in docs/reference/exit-codes.md.
const (
	codeDone        = 0
	codeUsage       = 2
	codePartial     = 3
	codeCredentials = 4
	codeHold        = 5
	codeHeld        = 6
	codeDamage      = 7
	codeWarnings    = 9
	codeLate        = 12
	codeSkipped     = 13
)

// Settled says whether a command that ended with an exit code needs no other attempt: it is done, or a person must look
// first, or the next night does the rest.
func Settled(c schedule.Command, code int) bool {
	switch code {
	case codeDone, codeWarnings, codeHold, codeHeld, codeLate:
		return true
	case codeDamage:
		return c == schedule.Maintain
	}
	return c == schedule.Sync // the next one is soon
}

// retryAfter returns how long to wait after a failure, the n-th in a row, counted from 1.
func retryAfter(c schedule.Command, code, n int) time.Duration {
	first := 15 * time.Minute
	switch {
	case c == schedule.Sync && code != codeCredentials && code != codeUsage:
		return 0
	case c == schedule.Run && code == codeCredentials, c == schedule.Maintain && code != codeSkipped:
		first = time.Hour // an account may be locked; and maintenance can wait
	}
	wait := first
	for ; n > 1 && wait < schedule.MostRetry; n-- {
		wait *= 2
	}
	return min(wait, schedule.MostRetry)
}
