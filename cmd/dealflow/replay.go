package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dealflow/internal/maintain"
	"dealflow/schemas/lake"
)

// replayOptions are the flags of replay.
type replayOptions struct {
	snapshots, force bool
}

func newReplay(a *app) *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Rebuild history from the payloads, and prove it equal",
		Long: `replay flattens every payload in history again under the current schema, and compares the rows with
those that the tables hold. Where they are the same, nothing is written: history is what its
payloads say. Where they differ, where a file is damaged, or of an older schema version, the files
of that table, market and year are replaced, all in one commit.

Run it when status or verify says so: after a new version of dealflow brought columns, or to mend
damaged tables.`,
		Example: `  dealflow replay --lake /data/deals
  dealflow replay --snapshots --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runReplay(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.snapshots, "snapshots", false, "the retained snapshots too")
	flags.BoolVar(&o.force, "force", false, "replace all files, also where they are right")
	return cmd
}

func runReplay(ctx context.Context, a *app, o replayOptions) error {
	cfg, err := a.maintainConfig(ctx)
	if err != nil {
		return err
	}
	result, err := maintain.Replay(ctx, maintain.ReplayConfig{Config: cfg, Snapshots: o.snapshots, Force: o.force})
	if result == nil {
		return err
	}
	return errors.Join(err, a.printReplayed(result))
}

func (a *app) printReplayed(r *maintain.ReplayResult) error {
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	var rows [][]string
	for _, t := range r.Tables {
		verdict := "equal"
		if t.Different > 0 {
			verdict = fmt.Sprintf("%d rows differ", t.Different)
			if t.Damaged > 0 {
				verdict += fmt.Sprintf(", %d damaged files", t.Damaged)
			}
			verdict += " in " + strings.Join(t.Where, ", ")
		}
		if len(t.Improved) > 0 {
			verdict += fmt.Sprintf("; read anew: %d helper columns (%s)", len(t.Improved), strings.Join(t.Improved, ", "))
		}
		rows = append(rows, []string{t.Table, fmt.Sprint(t.FilesBefore), fmt.Sprint(t.Replaced), fmt.Sprint(t.Rows), verdict})
	}
	if len(rows) > 0 {
		if err := printTable(a.Stdout, []string{"table", ">files", ">replaced", ">rows", "verdict"}, rows); err != nil {
			return err
		}
	}
	a.printMaintained(&r.Result)
	if r.Outcome == lake.OutcomeUnchanged {
		_, err := fmt.Fprintln(a.Stderr, "history is what its payloads say: nothing was written")
		return err
	}
	return nil
}
