package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"dealflow/internal/maintain"
	"dealflow/schemas/lake"
)

// expireOptions are the flags of expire.
type expireOptions struct {
	keep  maintain.Retention
	apply bool
}

func newExpire(a *app) *cobra.Command {
	var o expireOptions
	cmd := &cobra.Command{
		Use:   "expire",
		Short: "Drop old snapshots and garbage by policy (shows what; --apply does it)",
		Long: `expire drops the daily snapshots that are older than --keep-days, counted back from the newest
snapshot in the lake, but for the last of each month; the newest of each feed always stays. History
is never touched: it answers as of any instant for ever.

Then it removes garbage: files that are no part of the lake, a week after they were put or a commit
dropped them, by the store's clock. So the files of snapshots dropped today go with an expire in a
week. Old checkpoints and unfinished uploads go too.

Without --apply nothing is written: it shows what would be done.`,
		Example: `  dealflow expire --lake /data/deals
  dealflow expire --keep-days 90 --apply`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runExpire(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.IntVar(&o.keep.Days, "keep-days", 35, "days of snapshots to keep, counted back from the newest")
	flags.BoolVar(&o.keep.MonthEnds, "keep-month-ends", true, "keep the last snapshot of each month for ever")
	flags.BoolVar(&o.apply, "apply", false, "do it")
	return cmd
}

func runExpire(ctx context.Context, a *app, o expireOptions) error {
	if o.keep.Days < 1 {
		return usagef("--keep-days %d: want 1 or more", o.keep.Days)
	}
	cfg, err := a.maintainConfig(ctx)
	if err != nil {
		return err
	}
	result, err := maintain.Expire(ctx, maintain.ExpireConfig{Config: cfg, Keep: o.keep, Apply: o.apply})
	if result == nil {
		return err
	}
	return errors.Join(err, a.printExpired(result, err == nil))
}

func (a *app) printExpired(r *maintain.ExpireResult, complete bool) error {
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	var rows [][]string
	for _, f := range r.Expired {
		rows = append(rows, []string{f.Feed.String(), fmt.Sprint(len(f.Days)), f.Days[0], f.Days[len(f.Days)-1], fmt.Sprint(f.Files), size(f.Bytes)})
	}
	if len(rows) > 0 {
		if err := printTable(a.Stdout, []string{"feed", ">days", "from", "to", ">files", ">bytes"}, rows); err != nil {
			return err
		}
	}
	a.printMaintained(&r.Result)
	if r.Outcome == lake.OutcomeSkipped || !complete {
		return nil
	}
	did := "would remove"
	if r.Applied {
		did = "removed"
	}
	_, err := fmt.Fprintf(a.Stderr, "%s garbage: %d files (%s), %d checkpoint files (%s), %d unfinished; waiting for the end of their grace: %d files (%s)\n",
		did, r.Garbage.Files, size(r.Garbage.Bytes), r.Checkpoints.Files, size(r.Checkpoints.Bytes), r.Unfinished, r.Waiting.Files, size(r.Waiting.Bytes))
	if !r.Applied && err == nil {
		_, err = fmt.Fprintln(a.Stderr, "nothing was done; --apply does it")
	}
	return err
}
