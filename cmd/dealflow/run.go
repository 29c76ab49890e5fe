package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"dealflow/extract"
	"dealflow/internal/pipeline"
	"dealflow/schemas/api"
)

// runOptions are the flags of run.
type runOptions struct {
	feeds          string
	snapshotDate   string
	pageSize       int
	authEncoding   string
	rate           float64
	attempts       int
	acceptClock    bool
	acceptRemovals bool
}

func newRun(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Pull complete snapshots of all feeds into the lake, as one commit",
		Long: `run pulls a complete snapshot of every feed, concurrently, writes what changed into history
and the whole day into snapshots, and commits both at once. Run it once a night.

Of the feeds those are pulled that lack the day's snapshot; where none lacks it, all are pulled
again and replace the day.

Credentials come from DEALFLOW_CLIENT_ID and DEALFLOW_CLIENT_SECRET, or DEALFLOW_CLIENT_SECRET_FILE.`,
		Example: `  dealflow run --api https://api.example.com --lake /data/deals
  dealflow run --feeds bond/ig/priced,loan/ll/priced
  dealflow run --json | jq .commit`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runRun(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	a.settings.addAPI(flags)
	flags.StringVar(&o.feeds, "feeds", "", "feeds to pull, comma-separated, such as bond/ig/priced (default: all twelve)")
	flags.StringVar(&o.snapshotDate, "snapshot-date", "", "day of the snapshot, YYYY-MM-DD (default: the UTC date of the start)")
	flags.IntVar(&o.pageSize, "page-size", 0, "deals on a page, as a wish (default 1000)")
	flags.StringVar(&o.authEncoding, "auth-encoding", string(extract.AuthRaw), "how id and secret enter the Basic header: raw or rfc6749")
	flags.Float64Var(&o.rate, "rate", 0, "requests per second at most, of all feeds together (default: no limit)")
	flags.IntVar(&o.attempts, "attempts", 0, "tries of one request before giving up (default 8)")
	flags.BoolVar(&o.acceptClock, "accept-clock", false, "go on although the clock seems wrong")
	flags.BoolVar(&o.acceptRemovals, "accept-removals", false, "go on although more deals vanished than usual")
	return cmd
}

func runRun(ctx context.Context, a *app, o runOptions) error {
	feeds, err := api.ParseFeeds(o.feeds)
	if err != nil {
		return usagef("--feeds: %w", err)
	}
	if _, err := time.Parse(time.DateOnly, o.snapshotDate); o.snapshotDate != "" && err != nil {
		return usagef("--snapshot-date %q: want YYYY-MM-DD", o.snapshotDate)
	}
	base, err := a.settings.base()
	if err != nil {
		return err
	}
	if err := a.settings.credentials(); err != nil {
		return err
	}
	lakeStore, err := a.settings.store()
	if err != nil {
		return err
	}
	show := newProgress(a.Stderr, feeds)
	defer show.end()
	client, err := extract.New(extract.Config{
		Base: base, ClientID: a.settings.clientID, ClientSecret: a.settings.secret,
		AuthEncoding: extract.AuthEncoding(o.authEncoding), PageSize: o.pageSize, Rate: o.rate, MaxAttempts: o.attempts,
		Clock: a.observationClock(), Log: a.logger(), Progress: show.page,
	})
	if err != nil {
		return &usageError{err}
	}
	defer client.Close()
	result, err := a.pull(ctx, pipeline.Config{
		Client: client, Base: base, Store: lakeStore, ServerClock: a.settings.clock == "server", Feeds: feeds,
		SnapshotDate: o.snapshotDate, AcceptClock: o.acceptClock, AcceptRemovals: o.acceptRemovals, FeedDone: show.feedDone,
	})
	show.end()
	if result != nil {
		if printErr := a.printRun(result); printErr != nil {
			err = errors.Join(err, printErr)
		}
	}
	return err
}

// observationClock is the machine's, or nil for the server's.
func (a *app) observationClock() func() time.Time {
	if a.settings.clock == "server" {
		return nil
	}
	return a.Now
}

// pull runs the pipeline once. cfg names what differs from run to run; the rest is the program's.
func (a *app) pull(ctx context.Context, cfg pipeline.Config) (*pipeline.Result, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("run id: %w", err)
	}
	cfg.RunID, cfg.Clock, cfg.WorkDir, cfg.Version, cfg.Log = id.String(), a.Now, a.settings.workDir, version(), a.logger()
	return pipeline.Run(ctx, cfg)
}

// printRun tells what a run did: one JSON object on stdout, or a line on stderr.
func (a *app) printRun(r *pipeline.Result) error {
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintln(a.Stderr, "warning: "+warning)
	}
	if r.Commit == 0 {
		return nil
	}
	_, err := fmt.Fprintf(a.Stderr, "commit %d of %s, known at %s: %s, %s, in %d files (%s), %.1f s\n",
		r.Commit, r.Lake, r.KnownAt, r.Outcome, counts(r), r.Files, size(r.BytesWritten), r.Seconds)
	return err
}
