package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"dealflow/extract"
	"dealflow/internal/attempts"
	"dealflow/internal/exitcode"
	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// attempt is the attempt of a command, and what the command says of itself.
type attempt struct {
	store  store.Store // of the lake
	runID  string      // for the command's commit
	result attempts.Result
	shown  any                // what --json prints; nil for a command that did not come that far
	hidden []string           // secrets that became known on the way
	record *attempts.Recorder // nil if the command leaves no trace
}

// newAttempt opens the store of the lake and chooses a run id. With --require-lake it fails if there is no lake.
func (a *app) newAttempt(ctx context.Context) (*attempt, error) {
	s, err := a.settings.store(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.checkRequired(ctx, s); err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("run id: %w", err)
	}
	return &attempt{store: s, runID: id.String()}, nil
}

// checkRequired returns load.ErrNoLake if there must be a lake (--require-lake) and there is none. An attempt is not
// recorded then: its record would be the first object at a wrong address.
func (a *app) checkRequired(ctx context.Context, s store.Store) error {
	if !a.settings.requireLake {
		return nil
	}
	if _, err := a.openToRead(ctx, s); !errors.Is(err, load.ErrNoLake) {
		return nil // the command meets any other error itself
	}
	return fmt.Errorf("%w: %s has no commit, and --require-lake says that there is a lake: correct --lake, or mount the disk; without --require-lake, a run begins a new lake", load.ErrNoLake, s.URL())
}

// unrecorded calls do for a command that leaves no trace.
func (a *app) unrecorded(ctx context.Context, do func(*attempt) error) error {
	at, err := a.newAttempt(ctx)
	if err != nil {
		return err
	}
	return do(at)
}

// recorded calls do for a command, records the attempt in the lake, and tells those who are to know how it ended. It
// returns the error of do.
func (a *app) recorded(ctx context.Context, command string, policy attempts.Policy, do func(*attempt) error) error {
	a.workOn()
	t := telling{app: a, command: command, began: a.Now()}
	at, err := a.newAttempt(ctx)
	if err == nil {
		t.begin(ctx, at)
		err = a.record(ctx, at, command, policy, do)
	}
	t.end(ctx, at, err)
	return err
}

// recordedStep is recorded for a step of another command, which alone tells how it ended.
func (a *app) recordedStep(ctx context.Context, command string, policy attempts.Policy, do func(*attempt) error) error {
	at, err := a.newAttempt(ctx)
	if err != nil {
		return err
	}
	return a.record(ctx, at, command, policy, do)
}

// record calls do and records the attempt in the lake. It returns the error of do.
func (a *app) record(ctx context.Context, at *attempt, command string, policy attempts.Policy, do func(*attempt) error) error {
	at.record = attempts.Begin(ctx, attempts.Config{
		Store: at.store, Identity: a.lakeIdentity(at.store), Policy: policy, RunID: at.runID, Command: command, Owner: owner(), Version: version(), Clock: a.Now,
		WorkDir: a.settings.workDir, Folder: a.lockedFolder(), Secrets: a.secrets(), Log: a.logger(),
	})
	err := do(at)
	// errors.Is would not do: the error of a signal says that it is Canceled, too.
	if cause := context.Cause(ctx); exitCode(ctx, err) == exitcode.Cancelled && cause.Error() != context.Canceled.Error() {
		err = fmt.Errorf("ended by a signal (%w): %w", cause, err)
	}
	at.conclude(exitCode(ctx, err), err)
	at.record.End(ctx, at.result)
	return err
}

// lakeIdentity tells the lake from others: two servers may both have a bucket of the same name.
func (a *app) lakeIdentity(s store.Store) string {
	if store.LocalPath(s) != "" {
		return s.URL()
	}
	return s.URL() + "\n" + a.getenv("AWS_ENDPOINT_URL_S3") + "\n" + a.getenv("AWS_ENDPOINT_URL") + "\n" + a.getenv("AWS_PROFILE")
}

// secrets returns the texts that no attempt, hook or event may contain. No error contains them either; this is the second
// lock.
func (a *app) secrets() (values []string) {
	for _, name := range append(secretVariables(), "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN") {
		if value := strings.TrimRight(a.getenv(name), "\r\n"); value != "" {
			values = append(values, value)
		}
	}
	return values
}

// hide keeps the secret of an account out of the attempt.
func (at *attempt) hide(who account) {
	if who.secret.IsZero() {
		return
	}
	at.hidden = append(at.hidden, who.secret.Spellings()...)
	for _, encoding := range []extract.AuthEncoding{extract.AuthRaw, extract.AuthRFC6749} {
		at.hidden = append(at.hidden, extract.Credentials(who.id, who.secret, encoding))
	}
	if at.record != nil {
		at.record.Hide(at.hidden...)
	}
}

// pulled takes over what a pull reports.
func (at *attempt) pulled(r *pull.Result) {
	at.shown = r
	at.result = attempts.Result{Outcome: r.Outcome, Commit: r.Commit, SnapshotDate: r.SnapshotDate, Warnings: r.Warnings, Held: r.Held}
	if r.Commit > 0 {
		stages := attempts.StageSeconds(r.Stages)
		at.result.StageSeconds = &stages
	}
	for i := range r.Feeds {
		f := &r.Feeds[i]
		at.result.Requests += f.Requests
		if r.Commit == 0 {
			at.result.Feeds = append(at.result.Feeds, attempts.Feed{Feed: f.Feed, Outcome: f.Outcome, Error: f.Error})
		}
	}
}

// maintained takes over what a maintenance command reports. shown is what --json prints.
func (at *attempt) maintained(r *maintain.Result, shown any) {
	at.shown = shown
	at.result = attempts.Result{Outcome: r.Outcome, Commit: r.Commit, Warnings: r.Warnings}
}

// endMaintenance takes over what a maintenance command reports, prints it, and returns the command's error. err is that
// of the work, shown is what --json prints.
func (a *app) endMaintenance(at *attempt, r *maintain.Result, shown any, err error, show func() error) error {
	at.maintained(r, shown)
	return afterCommit(r.Commit, errors.Join(err, skippedError(r.Outcome), show(), a.strictly(r.Warnings)))
}

// conclude completes the result with the command's exit code and error.
func (at *attempt) conclude(code int, err error) {
	r := &at.result
	r.ExitCode = &code
	if err != nil {
		r.Error = err.Error()
	}
	switch {
	case r.Commit > 0:
	case code == exitcode.Warnings && r.Outcome != "": // done, with warnings
	case code == exitcode.Done && r.Outcome == "":
		r.Outcome = lake.OutcomeDone
	case code == exitcode.Cancelled:
		r.Outcome = attempts.OutcomeCancelled
	case code == exitcode.Guard:
		r.Outcome = lake.OutcomeHeld
	case code == exitcode.Skipped:
		r.Outcome = lake.OutcomeSkipped
	case code != exitcode.Done:
		r.Outcome = lake.OutcomeFailed
	}
}

// todoAfter returns the command that mends what ended an attempt; "" if it needs nothing.
func todoAfter(t *attempts.Attempt) string {
	if t.Outcome == attempts.OutcomeKilled {
		return "see what ended the process (memory, a restart of the machine), then " + again(t.Command)
	}
	if t.ExitCode == nil || t.Commit > 0 {
		return ""
	}
	return todoAfterResult(t.Command, &t.Result)
}

// isHeld is exitcode.IsHeld for the code of an attempt; nil for one that was killed.
func isHeld(code *int) bool { return code != nil && exitcode.IsHeld(*code) }

// onDay returns the flag of a run that takes the snapshot of a day that was held; "" if the day is not known. Without it the run
// takes the day on which a person has looked: the day that was held gets no snapshot, and the next night leaves the feed out.
func onDay(day string) string {
	if day == "" {
		return ""
	}
	return " --snapshot-date " + day
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

// heldFeeds returns the feeds that the removal guard holds.
func heldFeeds(r *attempts.Result) (feeds []api.Feed) {
	for i := range r.Feeds {
		if f := &r.Feeds[i]; f.Outcome == lake.OutcomeHeld {
			feeds = append(feeds, f.Feed)
		}
	}
	return feeds
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

// todoAfterResult returns the command that mends what ended a command with an exit code; "" if it needs nothing.
func todoAfterResult(name string, r *attempts.Result) string {
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
		return "`dealflow verify" + readDataFlag(readData) + "` says for each finding what to do"
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
