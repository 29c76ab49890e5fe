package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/status"
	"dealflow/load"
	"dealflow/schemas/api"
)

// statusOptions are the flags of status.
type statusOptions struct {
	maxAge  time.Duration
	feeds   string
	now     string
	timeout time.Duration
}

// errUnwell is the error if status found a problem, which is already printed.
var errUnwell = errors.New("status found problems")

func newStatus(a *app) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether all is well with the lake, and what to do where it is not",
		Long: `status says how fresh each feed is, what became of the last runs, what the next run will meet, and
what the lake has grown to. Each finding has its reason, and the command that mends it.

The exit code is 8 if there is a problem: the last run failed, a feed is stale or held, the next run
will be refused, a commit is lost, or a verify found damage that is not mended. It is 0 if there are
only warnings, such as a partial run.

A feed is stale if its newest complete snapshot is older than --max-age. Without the flag that is 26
hours in a lake that has snapshots of more than one day, and ages are not judged in another. With
--clock=server the time is that of the source, which this machine does not know: name it with --now.`,
		Example: `  dealflow status
  dealflow status --lake /data/deals --json
  dealflow status --max-age 50h --feeds bond/ig/priced,bond/hy/priced
  dealflow status --lake demo-lake --now 2026-01-14T23:00:00Z`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.DurationVar(&o.maxAge, "max-age", 0, "age from which a feed's snapshot is a problem (default: 26h if the lake has snapshots of more than one day)")
	flags.StringVar(&o.feeds, "feeds", "", "feeds whose age is judged, comma-separated, such as bond/ig/priced (default: all that the lake has)")
	annotate(flags.Lookup("feeds"), listFlag)
	flags.StringVar(&o.now, "now", "", "judge as of this instant, such as 2026-11-01T06:00:00Z (default: this machine's clock)")
	flags.DurationVar(&o.timeout, "timeout", statusTimeout, "time after which status gives up on a store that does not answer")
	a.settings.addMetricsFile(flags)
	return cmd
}

const statusTimeout = 30 * time.Second

// statusConfig checks the flags of status.
func (a *app) statusConfig(o statusOptions) (status.Config, error) {
	cfg := status.Config{
		Open: a.openToRead, Now: a.Now(), Dated: a.settings.clock != "server", MaxAge: o.maxAge, DayZone: a.settings.dayZone, Timeout: o.timeout,
		Clock: a.Now, Runs: a.attemptsOn, Folder: a.workDir,
	}
	var err error
	if cfg.Feeds, err = api.ParseFeeds(o.feeds); err != nil {
		return cfg, usagef("--feeds: %w", err)
	}
	if o.now != "" {
		if cfg.Now, err = time.Parse(time.RFC3339, o.now); err != nil {
			return cfg, usagef("--now %q: want an instant such as 2026-11-01T06:00:00Z", o.now)
		}
		cfg.Dated = true
	}
	return cfg, nil
}

func runStatus(ctx context.Context, a *app, o statusOptions) error {
	cfg, err := a.statusConfig(o)
	if err != nil {
		return err
	}
	where, err := a.settings.store(ctx)
	if err != nil {
		return err
	}
	s, err := status.Inspect(ctx, where, cfg)
	a.writeMetrics(where.URL(), s.Health(), nil)
	if errors.Is(err, load.ErrNoLake) {
		return a.printEmpty(ctx, where, cfg, err)
	}
	if err != nil {
		return a.printUnknown(where, cfg.Now, err)
	}
	if a.settings.json {
		err = printJSON(a.Stdout, s)
	} else {
		err = a.printStatus(s)
	}
	switch {
	case err != nil:
	case s.State == status.Problem:
		err = &silentError{errUnwell}
	case s.State == status.Warning && a.settings.strict:
		err = &silentError{errWarnings}
	}
	return err
}
