package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dealflow/extract"
	"dealflow/internal/catalog"
	"dealflow/internal/logs"
	"dealflow/internal/pull"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// pullOptions are the flags of the commands that pull from the API.
type pullOptions struct {
	feeds        string
	pageSize     int
	authEncoding string
	rate         float64
	attempts     int
	deadline     time.Duration
	contract     string
	acceptChecks string
	acceptClock  bool
	acceptLost   bool
}

// add adds the flags of the commands that pull.
func (o *pullOptions) add(a *app, flags *pflag.FlagSet) {
	shared(flags, func(flags *pflag.FlagSet) { o.define(a, flags) })
}

func (o *pullOptions) define(a *app, flags *pflag.FlagSet) {
	a.settings.addAPI(flags)
	flags.StringVar(&o.feeds, "feeds", "", "feeds to pull, comma-separated, such as bond/ig/priced (default: all twelve)")
	annotate(flags.Lookup("feeds"), listFlag)
	flags.IntVar(&o.pageSize, "page-size", 0, "number of deals to request for each page (default 1000)")
	flags.StringVar(&o.authEncoding, "auth-encoding", string(extract.AuthRaw), "encoding of id and secret in the Basic header: raw or rfc6749")
	flags.Float64Var(&o.rate, "rate", 0, "maximum requests per second, of all feeds together (default: no limit)")
	flags.IntVar(&o.attempts, "attempts", 0, "maximum tries of one request (default 8)")
	flags.DurationVar(&o.deadline, "deadline", 0, "time limit of the command, such as 2h; feeds that are not complete by then fail (default: none)")
	flags.StringVar(&o.contract, "contract", string(pull.ContractReport), "what to do with drift that the lake has not seen before: report it, or freeze (commit nothing)")
	flags.StringVar(&o.acceptChecks, "accept-checks", "", "names of quality checks that must not hold this run, comma-separated; all accepts every check, also one that could not be run")
	flags.BoolVar(&o.acceptClock, "accept-clock", false, "continue although the clock seems wrong")
	addAcceptLost(flags, &o.acceptLost)
}

// addAcceptLost adds the flag of all commands that write.
func addAcceptLost(flags *pflag.FlagSet, accept *bool) {
	flags.BoolVar(accept, "accept-lost-commit", false, "continue although the lake has lost its newest commit; the next commit records the loss")
}

// runOptions are the flags of run.
type runOptions struct {
	pullOptions
	snapshotDate   string
	acceptDayZone  bool
	acceptRemovals bool
	singleWriter   bool
	waitForLease   time.Duration
}

func newRun(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Pull complete snapshots of all feeds into the lake, as one commit",
		Long: `run pulls a complete snapshot of every feed and makes all of it visible in one commit. Run it once
a night.

The commit adds new versions to history, and the day's complete state to snapshots. If the run
fails, nothing of it is visible.

A second run on the same day pulls the feeds that lack that day's snapshot. If no feed lacks it, the
run pulls all feeds again and replaces the day. The day is that of the start, before any wait, in the
time zone of --day-zone: with America/New_York, 22:00 there is that day's night.

If a sync or maintenance is at work, run waits for it (--wait-for-lease); then it works at the same
time. If another run takes all the same snapshots, run does nothing and ends with exit code 13.

Credentials come from DEALFLOW_CLIENT_ID and DEALFLOW_CLIENT_SECRET, or DEALFLOW_CLIENT_SECRET_FILE.`,
		Example: `  dealflow run --api https://api.example.com --lake /data/deals
  dealflow run --feeds bond/ig/priced,loan/ll/priced --deadline 2h
  dealflow run --json | jq .commit`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runRun(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	o.add(a, flags)
	flags.StringVar(&o.snapshotDate, "snapshot-date", "", "day of the snapshot, YYYY-MM-DD (default: that of the start; a later day than tomorrow is refused)")
	a.settings.addDayZone(flags)
	flags.BoolVar(&o.acceptDayZone, "accept-day-zone", false, "count days in the time zone of --day-zone from now on, although the lake has another")
	flags.BoolVar(&o.acceptRemovals, "accept-removals", false, "take missing deals for gone: ends a hold of the removal guard, and needs no evidence except a 404 or 403 by id")
	flags.BoolVar(&o.singleWriter, "single-writer", false, "use a store that cannot refuse a second put of a commit; no other process may write to the lake")
	flags.DurationVar(&o.waitForLease, "wait-for-lease", 30*time.Minute, "time to wait for a sync or maintenance that is running; then run works at the same time")
	return cmd
}

func runRun(ctx context.Context, a *app, o runOptions) error {
	if _, err := time.Parse(time.DateOnly, o.snapshotDate); o.snapshotDate != "" && err != nil {
		return usagef("--snapshot-date %q: want YYYY-MM-DD", o.snapshotDate)
	}
	if o.waitForLease < 0 {
		return usagef("--wait-for-lease %s: want 0 or more", o.waitForLease)
	}
	return a.pullWith(ctx, o.pullOptions, pull.Run, func(cfg *pull.Config) {
		cfg.GiveWay, cfg.WaitForLease = true, o.waitForLease
		cfg.SnapshotDate, cfg.AcceptRemovals, cfg.SingleWriter = o.snapshotDate, o.acceptRemovals, o.singleWriter
		cfg.DayZone, cfg.AcceptDayZone = a.settings.dayZone, o.acceptDayZone
	})
}

// execution is a function that pulls: pull.Run, pull.Sync or pull.RetryQuarantined.
type execution func(context.Context, pull.Config) (*pull.Result, error)

// pullWith calls execute with the settings and flags, and prints the result. more sets what only one command has; it
// may be nil.
func (a *app) pullWith(ctx context.Context, o pullOptions, execute execution, more func(*pull.Config)) error {
	cfg, account, err := a.pullConfig(ctx, o)
	if err != nil {
		return err
	}
	a.saveMemory()
	show := newProgress(a, cfg.Feeds)
	defer show.end()
	if show.bars == nil {
		ticks := time.NewTicker(heartbeat)
		defer ticks.Stop()
		show.beat(ctx, ticks.C, func(ctx context.Context) map[api.Feed]int64 { return sizesOf(ctx, cfg.Store) })
	}
	client, err := extract.New(extract.Config{
		Base: cfg.Base, ClientID: account.id, ClientSecret: account.secret,
		AuthEncoding: extract.AuthEncoding(o.authEncoding), PageSize: o.pageSize, Rate: o.rate, MaxAttempts: o.attempts,
		PageMemory: int64(a.settings.pageMemory), Log: a.logger(), Progress: show.page,
	})
	if err != nil {
		return &usageError{err}
	}
	defer client.Close()
	cfg.Client, cfg.FeedDone = client, show.feedDone
	if more != nil {
		more(&cfg)
	}
	result, err := a.pull(ctx, execute, cfg)
	show.end()
	if result != nil {
		if printErr := a.printRun(result); printErr != nil {
			err = errors.Join(err, printErr)
		}
		if cfg.GiveWay {
			err = errors.Join(err, skippedError(result.Outcome))
		}
		err = afterCommit(result.Commit, err)
	}
	return err
}

// pullConfig checks the settings and flags that say what to pull and from where, and returns them as a Config.
func (a *app) pullConfig(ctx context.Context, o pullOptions) (cfg pull.Config, who account, err error) {
	if cfg.Feeds, err = api.ParseFeeds(o.feeds); err != nil {
		return cfg, who, usagef("--feeds: %w", err)
	}
	cfg.Contract = pull.Contract(o.contract)
	if cfg.Contract != pull.ContractReport && cfg.Contract != pull.ContractFreeze {
		return cfg, who, usagef("--contract %q: want %s or %s", o.contract, pull.ContractReport, pull.ContractFreeze)
	}
	if o.deadline < 0 {
		return cfg, who, usagef("--deadline %s: want a duration greater than 0", o.deadline)
	}
	if cfg.Base, err = a.settings.base(); err != nil {
		return cfg, who, err
	}
	if who, err = a.account(ctx); err != nil {
		return cfg, who, err
	}
	if o.acceptChecks != "" {
		cfg.AcceptChecks = strings.Split(o.acceptChecks, ",")
	}
	if err := catalog.KnowsChecks(cfg.AcceptChecks); err != nil {
		return cfg, who, usagef("--accept-checks: %w", err)
	}
	if cfg.Store, err = a.settings.store(ctx); err != nil {
		return cfg, who, err
	}
	cfg.Cache, err = a.settings.cache(cfg.Store)
	cfg.ServerClock, cfg.Deadline, cfg.AcceptClock = a.settings.clock == "server", o.deadline, o.acceptClock
	cfg.AcceptLost = o.acceptLost
	return cfg, who, err
}

// pull calls execute once. It adds to cfg what is the same for all commands.
func (a *app) pull(ctx context.Context, execute execution, cfg pull.Config) (*pull.Result, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("run id: %w", err)
	}
	cfg.RunID, cfg.Clock, cfg.WorkDir, cfg.Version, cfg.Log = id.String(), a.Now, a.workDir(), version(), a.logger()
	cfg.Owner, cfg.Elapsed = owner(), a.Elapsed
	return execute(ctx, cfg)
}

// owner returns a name of this process for the lease.
func owner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

// printRun prints the result of a run: one JSON object on stdout, or lines on stderr.
func (a *app) printRun(r *pull.Result) error {
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	for _, warning := range r.Warnings {
		a.warn(warning)
	}
	for i := range r.Feeds {
		a.printDrift(&r.Feeds[i])
	}
	switch {
	case r.Commit > 0:
		sum := func(figure func(*lake.FeedRun) int64) slog.Value { return slog.Int64Value(r.Count(figure)) }
		a.say().Info("commit", "commit", r.Commit, "lake", r.Lake, "known_at", r.KnownAt.String(), "outcome", r.Outcome,
			"deals", sum(func(f *lake.FeedRun) int64 { return f.Deals }), "new", sum(func(f *lake.FeedRun) int64 { return f.Added }),
			"changed", sum(func(f *lake.FeedRun) int64 { return f.Changed }), "removed", sum(func(f *lake.FeedRun) int64 { return f.Removed }),
			"back", sum(func(f *lake.FeedRun) int64 { return f.Reappeared }), "unchanged", sum(func(f *lake.FeedRun) int64 { return f.Unchanged }),
			"files", r.Files, "bytes", r.BytesWritten, "seconds", r.Seconds,
			logs.Text("commit %d of %s, known at %s: %s, %s, in %d files (%s), %.1f s",
				r.Commit, r.Lake, r.KnownAt, r.Outcome, counts(r), r.Files, size(r.BytesWritten), r.Seconds))
	case r.Outcome == lake.OutcomeUnchanged:
		a.say().Info("nothing new", "lake", r.Lake, "seconds", r.Seconds, logs.Text("nothing is new in %s, %.1f s", r.Lake, r.Seconds))
	}
	return nil
}

// driftLines is the most kinds of drift printed for a feed. --json and `runs show` print all.
const driftLines = 5

// printDrift prints the drift of a feed.
func (a *app) printDrift(f *lake.FeedRun) {
	for i, d := range f.Drift {
		if i == driftLines {
			more := len(f.Drift) - driftLines
			a.say().Info("more drift", "feed", f.Feed.String(), "count", more, logs.Text("drift: %s: and %d more; `dealflow runs show` lists them", f.Feed, more))
			return
		}
		a.say().Info("drift", "feed", f.Feed.String(), "kind", d.Kind, "pointer", d.Pointer, "count", d.Count, "example", d.Example,
			logs.Text("drift: %s: %s at %s, %d times, such as %s", f.Feed, d.Kind, printable(d.Pointer), d.Count, printable(d.Example)))
	}
}
