package advice

import (
	"cmp"
	"errors"
	"regexp"
	"strings"

	"dealflow/internal/attempts"
	"dealflow/internal/exitcode"
	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// AfterAttempt returns the command that mends what ended an attempt; "" if it needs nothing.
func AfterAttempt(t *attempts.Attempt) string {
	if t.Outcome == attempts.OutcomeKilled {
		return "see what ended the process (memory, a restart of the machine), then " + again(t.Command)
	}
	if t.ExitCode == nil || t.Commit > 0 {
		return ""
	}
	return AfterResult(t.Command, &t.Result)
}

// AfterResult returns the command that mends what ended a command with an exit code; "" if it needs nothing.
func AfterResult(name string, r *attempts.Result) string {
	command, day := again(name), r.SnapshotDate
	switch *r.ExitCode {
	case exitcode.Done:
		return ""
	case exitcode.Usage:
		return "correct the setting that the message names, then " + command
	case exitcode.Credentials:
		return "check DEALFLOW_CLIENT_ID and DEALFLOW_CLIENT_SECRET with `dealflow doctor`, then " + command
	case exitcode.Hold:
		return accepting(&r.Held, day)
	case exitcode.Guard:
		return "look at the source; if the deals are gone, " + pull.RemovalCommand(day, heldFeeds(r)...)
	case exitcode.Damage:
		readData := ""
		if len(r.Damage) > 0 {
			readData = r.Damage[0].ReadData
		}
		return "`dealflow verify" + ReadDataFlag(readData) + "` says for each finding what to do"
	case exitcode.Overtaken:
		return command + " again"
	case exitcode.Late:
		return command + " again; with a longer --deadline, or more --requests-per-day, if that happens often"
	case exitcode.Skipped:
		return "`dealflow lease show` says which command is at work"
	case exitcode.Cancelled:
		return "see who ended it (a scheduler's time limit?), then " + command
	}
	return "`dealflow doctor` says what a run lacks; then " + command
}

// again returns the command line of a command that is recorded under a name.
func again(command string) string {
	switch command {
	case lake.CommandQuarantine:
		return "`dealflow quarantine retry`"
	case lake.CommandExpire: // whether it expires by age or takes a day back is not recorded
		return "the same `dealflow expire`"
	case maintain.TablesCommand: // which of its commands is not recorded
		return "`dealflow iceberg` on, off or publish, as before"
	}
	return "`dealflow " + command + "`"
}

// accepting returns what to do after a hold by the contract or by quality checks: the command that accepts what holds. day is that of the
// snapshot, "" if it is not known.
func accepting(held *lake.Held, day string) string {
	switch {
	case held.Contract:
		return "look at the source; if the data is right, `dealflow run --contract report" + onDay(day) + "`"
	case len(held.Unasked) > 0:
		return "correct the cause that the message names, then `dealflow run" + onDay(day) + "`; or commit without what could not be checked: `dealflow run --accept-checks all" + onDay(day) + "`"
	case len(held.Checks) > 0:
		return "look at the source; if the data is right, `dealflow run --accept-checks " + strings.Join(held.Checks, ",") + onDay(day) + "`"
	}
	// A record of an older program.
	return "look at the source; if the data is right, run once with --accept-checks and the names of the checks, or with --contract=report for drift"
}

// onDay returns the flag of a run that takes the snapshot of a day that was held; "" if the day is not known. Without it the run
// takes the day on which a person has looked: the day that was held gets no snapshot, and the next night leaves the feed out.
func onDay(day string) string {
	if day == "" {
		return ""
	}
	return " --snapshot-date " + day
}

// heldFeeds returns the feeds that the removal guard holds.
func heldFeeds(r *attempts.Result) (feeds []api.Feed) {
	for i := range r.Feeds {
		if f := &r.Feeds[i]; f.Outcome == lake.OutcomeHeld {
			feeds = append(feeds, f.Feed)
		}
	}
	return feeds
}

// ReadDataFlag returns the flag, after a space, with which a verify reads that data; "" for none.
func ReadDataFlag(read string) string {
	switch read {
	case "":
		return ""
	case attempts.ReadAll:
		return " --read-data"
	}
	return " --read-data=" + read
}

// LostCommit is what to do about a lost commit.
const LostCommit = "`dealflow verify` says what to do"

// writingCommand matches a command in a to-do that ends with an error on a lake to which this program may not write.
var writingCommand = regexp.MustCompile("`dealflow (run|sync|watch|catalog|compact|replay|expire|quarantine retry|iceberg publish)[` ]")

// IfWritable returns a to-do that can be done: if it names a command that a lake refuses, because this program may not write
// to it, what to do about that takes its place.
func IfWritable(l *load.Lake, todo string) string {
	if !writingCommand.MatchString(todo) {
		return todo
	}
	return cmp.Or(BeforeWriting(l), todo)
}

// BeforeWriting returns what to do before this program may write to a lake; "" if it may.
func BeforeWriting(l *load.Lake) string {
	var advised interface{ Todo() string }
	switch err := l.CheckWritable(); {
	case err == nil:
		return ""
	case errors.As(err, &advised):
		return advised.Todo()
	default:
		return LostCommit
	}
}

// HeldDay returns the newest day of which the removal guard has held a feed, or a later one that other feeds have: no earlier
// day can be taken. It returns "" if the run that held it is neither in the log nor among the attempts.
func HeldDay(log *load.Log, made []attempts.Attempt, held *load.Hold) (day string) {
	for i := range log.Commits {
		if log.Commits[i].RunID == held.RunID {
			day = log.Commits[i].SnapshotDate
		}
	}
	for i := range made {
		if made[i].RunID == held.RunID {
			day = made[i].SnapshotDate
		}
	}
	if day == "" {
		return ""
	}
	return max(day, log.SnapshotDay())
}
