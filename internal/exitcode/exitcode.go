// Package exitcode has the exit codes of the commands, which scripts rely on (docs/reference/exit-codes.md).
//
// Takes: nothing.
// Gives: the codes by name, and what each means.
// Keeps: a code never changes its meaning.
// Fails: never.
// May change here: new codes.
package exitcode

// The exit codes. If several apply, the command line chooses the first of Usage, Credentials, Hold, Overtaken, Skipped, Guard, Late, Partial, Warnings.
const (
	Done        = 0
	Error       = 1
	Usage       = 2
	Partial     = 3
	Credentials = 4
	Hold        = 5
	Guard       = 6
	Damage      = 7
	Problem     = 8
	Warnings    = 9
	NoLake      = 10
	Overtaken   = 11
	Late        = 12
	Skipped     = 13
	Cancelled   = 130
)

// Meaning is a row of the table of exit codes.
type Meaning struct {
	Code int
	Text string
}

// Table returns all exit codes with their meanings, in order. The caller owns the slice.
func Table() []Meaning {
	return []Meaning{
		{Done, "done"},
		{Error, "error"},
		{Usage, "usage: the command line or a setting cannot be understood"},
		{Partial, "partial: some feeds failed, the rest is committed"},
		{Credentials, "credentials refused"},
		{Hold, "contract or quality hold: nothing was committed"},
		{Guard, "the removal guard held a feed, the rest is committed"},
		{Damage, "verify found damage"},
		{Problem, "status found a problem: the last run failed, or a feed is stale or held"},
		{Warnings, "done, with warnings, which --strict does not accept"},
		{NoLake, "no lake found"},
		{Overtaken, "another run committed first: nothing of this one is visible"},
		{Late, "deadline reached, or the day's requests are spent: the finished feeds are committed"},
		{Skipped, "skipped: another command is at work"},
		{Cancelled, "cancelled"},
	}
}

// Succeeded says whether a command that ended with this code has done what it was asked for.
func Succeeded(code int) bool { return code == Done || code == Warnings }

// IsHeld says whether a command waits for a person: what it pulled is complete, and its data was not accepted.
func IsHeld(code int) bool { return code == Hold || code == Guard }

// WasHeld is IsHeld for the code of an attempt; nil, that of one that was killed, is no hold.
func WasHeld(code *int) bool { return code != nil && IsHeld(*code) }
