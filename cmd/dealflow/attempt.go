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
