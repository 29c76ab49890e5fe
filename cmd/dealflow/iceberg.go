package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/attempts"
	"dealflow/internal/logs"
	"dealflow/internal/maintain"
	"dealflow/internal/words"
	"dealflow/load/iceberg"
	"dealflow/schemas/lake"
)

// icebergResult is the object that iceberg show --json prints; fields are only ever added.
type icebergResult struct {
	Lake         string             `json:"lake"`
	On           bool               `json:"on"`
	KeepAll      bool               `json:"keep_all"`
	EverySeconds int64              `json:"every_seconds"`
	Commit       int64              `json:"commit"`    // the lake's newest
	Published    *iceberg.Published `json:"published"` // null for nothing
}

// The values of --keep.
const (
	keepUsual = "usual"
	keepAll   = "all"
)

func newIceberg(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "iceberg",
		Short: "Publish the lake as Iceberg tables, for Spark, Trino, pyiceberg and others",
		Long: `iceberg publishes the lake as tables of the Iceberg format, version 2. No data file is copied: what is
written are lists of the lake's own files, under _dealflow/iceberg.

There are three namespaces. The tables of current are those of the lake as of now, and time travel is
as-of: the snapshot of a commit has its number as id, and its known_at as time. history has every
version, and snapshots has the daily snapshots, both as of now only.

A lake has no such tables until iceberg on. From then on each run and each maintenance publishes them
after its commit, and syncs do so at most once an hour. Older versions of this program can still read
that lake, but no longer write to it.`,
		Args: cobra.ArbitraryArgs,
		RunE: unknownCommand,
	}
	cmd.AddCommand(newIcebergOn(a), newIcebergOff(a), newIcebergPublish(a), newIcebergShow(a))
	return cmd
}

func newIcebergOn(a *app) *cobra.Command {
	var keep string
	var every time.Duration
	cmd := &cobra.Command{
		Use:   "on",
		Short: "Publish the tables now, and after each commit from now on",
		Long: `on publishes the tables, and the lake remembers that they are to be published after each commit.

The tables of current can be read as of each run of the last 35 days, each sync of the last two, and
the last commit of each month. With --keep all they can be read as of every commit: publishing takes
longer then, and the lists take more space. on can be run again to change that.`,
		Example: `  dealflow iceberg on --lake /data/deals
  dealflow iceberg on --keep all --every 15m`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runTables(cmd.Context(), a, func(s *iceberg.Settings) {
				s.On, s.KeepAll, s.Every = true, keep == keepAll, every
			})
		},
	}
	cmd.Flags().StringVar(&keep, "keep", keepUsual, "commits as of which tables can be read: usual or all")
	cmd.Flags().DurationVar(&every, "every", iceberg.DefaultEvery, "shortest time between two publications after syncs")
	return cmd
}

func newIcebergOff(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "off",
		Short: "Remove the tables, and publish none from now on",
		Long: `off removes the tables, and the lake remembers that. Nothing else changes: they can be published
again at any time. A reader that has begun can finish; expire deletes the rest after seven days.`,
		Example: "  dealflow iceberg off --lake /data/deals",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runTables(cmd.Context(), a, func(s *iceberg.Settings) { s.On = false })
		},
	}
}

func newIcebergPublish(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "publish",
		Short: "Publish the tables for the newest commit",
		Long: `publish publishes the tables now: after a publication that failed, after a sync that did not publish,
or in a lake that was moved, whose tables name files at the old place.`,
		Example: "  dealflow iceberg publish --lake /data/deals",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runTables(cmd.Context(), a, nil) },
	}
}

func runTables(ctx context.Context, a *app, change func(*iceberg.Settings)) error {
	return a.recorded(ctx, maintain.TablesCommand, attempts.Both, func(at *attempt) error {
		cfg, err := a.maintainConfig(at, false)
		if err != nil {
			return err
		}
		result, err := maintain.Tables(ctx, maintain.TablesConfig{Config: cfg, Change: change})
		if result == nil {
			return err
		}
		return a.endMaintenance(at, &result.Result, result, err, func() error { return a.printTables(result) })
	})
}

func (a *app) printTables(r *maintain.TablesResult) error {
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	a.printMaintained(&r.Result)
	switch p := r.Published; {
	case p != nil:
		a.say().Info("tables published", "lake", r.Lake, "commit", p.Commit, "kept", p.Kept, "objects", p.Objects, "bytes", p.Bytes, "seconds", p.Seconds,
			logs.Text("published the Iceberg tables of %s as of commit %d, with %d commits to travel to: %d objects (%s), %.1f s", r.Lake, p.Commit, p.Kept, p.Objects, words.Size(p.Bytes), p.Seconds))
	case r.Outcome == lake.OutcomeDone && !r.On:
		a.say().Info("tables removed", "lake", r.Lake, logs.Text("removed the Iceberg tables of %s", r.Lake))
	}
	return nil
}

func newIcebergShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "show",
		Short:   "Show what is published, and where",
		Example: "  dealflow iceberg show --lake /data/deals --json",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runIcebergShow(cmd.Context(), a) },
	}
}

func runIcebergShow(ctx context.Context, a *app) error {
	l, err := a.openLake(ctx)
	if err != nil {
		return err
	}
	on, settings, err := iceberg.IsOn(ctx, l)
	if err != nil {
		return err
	}
	published, err := iceberg.ReadPublished(ctx, l.Store())
	if err != nil {
		return err
	}
	r := icebergResult{l.Store().URL(), on, settings.KeepAll, int64(settings.Every.Seconds()), l.Log().Number, published}
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	return a.printIceberg(&r)
}

func (a *app) printIceberg(r *icebergResult) error {
	state := "off; `dealflow iceberg on` publishes them"
	if r.On {
		kept := keepUsual
		if r.KeepAll {
			kept = keepAll
		}
		state = fmt.Sprintf("on, keep %s, after syncs every %s", kept, time.Duration(r.EverySeconds)*time.Second)
	}
	fmt.Fprintf(a.Stdout, "lake       %s\ntables     %s\n", r.Lake, state)
	p := r.Published
	if p == nil {
		return nil
	}
	fmt.Fprintf(a.Stdout, "published  commit %d of %d, known at %s; %d commits to travel to\nlocation   %s\n\n", p.Number, r.Commit, p.KnownAt, p.Kept, p.Location)
	var rows [][]string
	for i := range p.Tables {
		t := &p.Tables[i]
		rows = append(rows, []string{t.Namespace + "." + t.Name, fmt.Sprint(t.Snapshots), fmt.Sprint(t.Objects), words.Size(t.Bytes), t.Metadata()})
	}
	return printTable(a.Stdout, []string{"table", ">commits", ">objects", ">bytes", "metadata"}, rows)
}
