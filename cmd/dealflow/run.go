package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dealflow/extract"
	"dealflow/internal/attempts"
	"dealflow/internal/catalog"
	"dealflow/internal/logs"
	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/internal/words"
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
	perDay       int64 // requests
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
	flags.Int64Var(&o.perDay, "requests-per-day", 0, "maximum requests for feeds in a day (UTC, this machine's clock), by all commands on the lake together; feeds that are not complete by then fail (default: no limit)")
	flags.StringVar(&o.contract, "contract", string(pull.ContractReport), "what to do with drift that the lake has not seen before: report it, or freeze (commit nothing)")
	flags.StringVar(&o.acceptChecks, "accept-checks", "", "names of quality checks that must not hold this run, comma-separated; all accepts every check, also one that could not be run")
	annotate(flags.Lookup("accept-checks"), listFlag)
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
	dryRun         bool
	maintain       bool
	keep           maintain.Retention // Days 0: nothing expires
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

With --maintain the run then does what compact does, and with --keep-days what expire --apply does. If
that fails, the run warns.

With --dry-run nothing is written: run says which feeds it would pull for which day, from their first
pages, and what the newest snapshots of them have cost.

Credentials come from DEALFLOW_CLIENT_ID and DEALFLOW_CLIENT_SECRET, or DEALFLOW_CLIENT_SECRET_FILE.`,
		Example: `  dealflow run --api https://api.example.com --lake /data/deals
  dealflow run --feeds bond/ig/priced,loan/ll/priced --deadline 2h
  dealflow run --dry-run
  dealflow run --json | jq .commit`,
		Args:    args(cobra.NoArgs),
		PreRunE: func(cmd *cobra.Command, _ []string) error { return o.check(cmd, &a.settings) },
		RunE:    func(cmd *cobra.Command, _ []string) error { return runRun(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	o.add(a, flags)
	a.settings.addTelling(flags)
	flags.StringVar(&o.snapshotDate, "snapshot-date", "", "day of the snapshot, YYYY-MM-DD (default: that of the start; a later day than tomorrow is refused)")
	a.settings.addDayZone(flags)
	a.settings.addRequireLake(flags)
	flags.BoolVar(&o.acceptDayZone, "accept-day-zone", false, "count days in the time zone of --day-zone from now on, although the lake has another")
	flags.BoolVar(&o.acceptRemovals, "accept-removals", false, "take missing deals for gone: ends a hold of the removal guard, and needs no evidence except a 404 or 403 by id")
	flags.BoolVar(&o.singleWriter, "single-writer", false, "use a store that cannot refuse a second put of a commit; no other process may write to the lake")
	flags.BoolVar(&o.dryRun, "dry-run", false, "say what would be pulled and written, from the first page of each list; write nothing")
	flags.BoolVar(&o.maintain, "maintain", false, "after the commit, do what compact does; and with --keep-days, expire")
	flags.IntVar(&o.keep.Days, "keep-days", 0, "with --maintain: number of days of snapshots to keep, as of expire (default: nothing expires)")
	flags.BoolVar(&o.keep.MonthEnds, "keep-month-ends", true, "with --keep-days: always keep the last snapshot of each month")
	flags.DurationVar(&o.waitForLease, "wait-for-lease", 30*time.Minute, "time to wait for a sync or maintenance that is running; then run works at the same time")
	return cmd
}

// check checks the flags against each other.
func (o *runOptions) check(cmd *cobra.Command, s *settings) error {
	switch given := cmd.Flags().Changed; {
	case o.keep.Days > 0 && !o.maintain:
		return usagef("--keep-days %d%s: want --maintain with it; run drops no snapshots by itself", o.keep.Days, s.origin("keep-days"))
	case given("keep-days") && o.keep.Days == 0:
		return usagef("--keep-days 0 would keep no day: leave it out, and nothing expires")
	case !o.keep.MonthEnds && o.keep.Days == 0:
		return usagef("--keep-month-ends=false%s: want --keep-days with it; without, nothing expires", s.origin("keep-month-ends"))
	case o.acceptDayZone && s.dayZone == "":
		return usagef("--accept-day-zone: want --day-zone with it, the time zone to count days in from now on")
	}
	return nil
}

func runRun(ctx context.Context, a *app, o runOptions) error {
	more := func(cfg *pull.Config) {
		cfg.GiveWay, cfg.WaitForLease = true, o.waitForLease
		cfg.SnapshotDate, cfg.AcceptRemovals, cfg.SingleWriter = o.snapshotDate, o.acceptRemovals, o.singleWriter
		cfg.DayZone, cfg.AcceptDayZone = a.settings.dayZone, o.acceptDayZone
	}
	if o.dryRun {
		return a.dryRun(ctx, o.pullOptions, more)
	}
	command := pullCommand{name: lake.CommandRun, execute: pull.Run, policy: attempts.Both}
	if o.maintain {
		command.after = func(r *pull.Result) { a.maintainAfter(ctx, o, r) }
	}
	return a.pullWith(ctx, command, o.pullOptions, more)
}

// maintainAfter compacts the lake after a run's commit, and expires snapshots if a retention is set. The commit stays valid
// if that fails, so failures are warnings. Each is an attempt of its own.
func (a *app) maintainAfter(ctx context.Context, o runOptions, r *pull.Result) {
	warn := func(command string, err error) {
		if err != nil {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s after the run failed: %v; run `dealflow %s`", command, err, command))
		}
	}
	if r.Compaction == nil { // the run may have found many small files, and compacted
		warn("compact", a.recordedStep(ctx, "compact", attempts.Both, func(at *attempt) error {
			cfg, err := a.maintainConfig(at, false)
			if err != nil {
				return err
			}
			made, err := maintain.Compact(ctx, cfg)
			if made != nil {
				at.maintained(made, made)
				err = errors.Join(err, skippedError(made.Outcome))
				r.Compaction = made
			}
			return err
		}))
	}
	if o.keep.Days == 0 {
		return
	}
	warn("expire --apply", a.recordedStep(ctx, "expire", attempts.Both, func(at *attempt) error {
		cfg, err := a.maintainConfig(at, false)
		if err != nil {
			return err
		}
		made, err := maintain.Expire(ctx, maintain.ExpireConfig{Config: cfg, Keep: o.keep, Apply: true})
		if made != nil {
			at.maintained(&made.Result, made)
			err = errors.Join(err, skippedError(made.Outcome))
			r.Expiry = made
		}
		return err
	}))
}

// execution is a function that pulls: pull.Run, pull.Sync or pull.RetryQuarantined.
type execution func(context.Context, pull.Config) (*pull.Result, error)

// pullCommand is a command that pulls.
type pullCommand struct {
	name    string // as in pull.Result
	execute execution
	policy  attempts.Policy
	after   func(*pull.Result) // called after the command's commit; nil for nothing
}

// pullWith pulls with the settings and flags, prints the result and records the attempt. more sets what only one command
// has; it may be nil.
func (a *app) pullWith(ctx context.Context, p pullCommand, o pullOptions, more func(*pull.Config)) error {
	if o.perDay > 0 && p.policy == attempts.OnFailure {
		p.policy = attempts.EndOnly // what it sent must be counted
	}
	return a.recorded(ctx, p.name, p.policy, func(at *attempt) error { return a.pullOnce(ctx, p, o, at, more) })
}

func (a *app) pullOnce(ctx context.Context, p pullCommand, o pullOptions, at *attempt, more func(*pull.Config)) error {
	cfg, who, err := a.pullConfig(ctx, o)
	if err != nil {
		return err
	}
	at.hide(who)
	cfg.RunID = at.runID
	spare, restore := a.saveMemory()
	defer restore()
	cfg.SpareHeap = spare
	show := newProgress(a, cfg.Feeds)
	defer show.end()
	if show.bars == nil && !a.settings.quiet {
		ticks := time.NewTicker(heartbeat)
		defer ticks.Stop()
		show.beat(ctx, ticks.C, func(ctx context.Context) map[api.Feed]int64 { return sizesOf(ctx, cfg.Store) })
	}
	left, err := a.requestsLeft(ctx, at.store, o.perDay)
	if err != nil {
		return err
	}
	client, err := a.client(cfg.Base, who, o, left, show.page)
	if err != nil {
		return err
	}
	defer client.Close()
	cfg.Client, cfg.FeedDone = client, show.feedDone
	if more != nil {
		more(&cfg)
	}
	result, err := p.execute(ctx, a.complete(cfg))
	show.end()
	if result != nil {
		if result.Commit > 0 && p.after != nil {
			p.after(result)
		}
		at.pulled(result)
		if printErr := a.printRun(result); printErr != nil {
			err = errors.Join(err, printErr)
		}
		if p.name != lake.CommandSync { // giving way is what a sync does now and then
			err = errors.Join(err, skippedError(result.Outcome))
		}
		if result.Outcome != lake.OutcomeSkipped {
			err = errors.Join(err, a.strictly(result.Warnings))
		}
		err = afterCommit(result.Commit, err)
	}
	return err
}

// client returns a client of the API for one command. mostRequests is as in extract.Config.
func (a *app) client(base api.Base, who account, o pullOptions, mostRequests int64, progress func(extract.Progress)) (*extract.Client, error) {
	client, err := extract.New(extract.Config{
		Base: base, ClientID: who.id, ClientSecret: who.secret,
		AuthEncoding: extract.AuthEncoding(o.authEncoding), PageSize: o.pageSize, Rate: o.rate, MaxAttempts: o.attempts, MaxRequests: mostRequests,
		PageMemory: int64(a.settings.pageMemory), Log: a.logger(), Progress: progress, Transport: a.API,
	})
	if err != nil {
		return nil, &usageError{err}
	}
	return client, nil
}

// pullConfig checks the settings and flags that say what to pull and from where, and returns them as a Config.
func (a *app) pullConfig(ctx context.Context, o pullOptions) (cfg pull.Config, who account, err error) {
	if cfg.Feeds, err = api.ParseFeeds(o.feeds); err != nil {
		return cfg, who, usagef("--feeds: %w", err)
	}
	cfg.Contract = pull.Contract(o.contract)
	if cfg.Base, err = a.reachable(); err != nil {
		return cfg, who, err
	}
	if who, err = a.account(ctx); err != nil {
		return cfg, who, err
	}
	if o.acceptChecks != "" {
		cfg.AcceptChecks = entriesOf(o.acceptChecks)
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

// complete adds to a configuration what is the same for all commands.
func (a *app) complete(cfg pull.Config) pull.Config {
	cfg.Clock, cfg.WorkDir, cfg.Version, cfg.Log = a.Now, a.workDir(), version(), a.logger()
	cfg.Ambiguous = !a.Only && isAmbiguous()
	cfg.Owner, cfg.Elapsed = owner(), a.Elapsed
	return cfg
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
				r.Commit, r.Lake, r.KnownAt, r.Outcome, counts(r), r.Files, words.Size(r.BytesWritten), r.Seconds))
	case r.Outcome == lake.OutcomeUnchanged && len(r.Feeds) == 0:
		a.say().Info("nothing new", "lake", r.Lake, "seconds", r.Seconds, logs.Text("no deal with a readable id is in quarantine in %s: there is nothing to request again", r.Lake))
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
			a.say().Info("more drift", "feed", f.Feed.String(), "count", more, logs.Text("drift: %s: and %d more; `dealflow runs show last` lists them", f.Feed, more))
			return
		}
		a.say().Info("drift", "feed", f.Feed.String(), "kind", d.Kind, "pointer", d.Pointer, "count", d.Count, "example", d.Example,
			logs.Text("drift: %s: %s at %s, %d times, such as %s", f.Feed, d.Kind, words.Printable(d.Pointer), d.Count, words.Printable(d.Example)))
	}
}
