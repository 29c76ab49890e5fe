package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dealflow/internal/attempts"
	"dealflow/internal/logs"
	"dealflow/internal/maintain"
	"dealflow/schemas/lake"
)

// replayOptions are the flags of replay.
type replayOptions struct {
	snapshots, force, acceptLost bool
}

func newReplay(a *app) *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Build history again from the payloads, and report whether it is equal",
		Long: `replay builds the tables of history again from the payloads, and replaces what differs. Run it when
status or verify says so: after an upgrade of dealflow that adds columns, or to repair a damaged
table.

It flattens every payload under the current schema and compares the rows with the stored ones. If
all are equal, nothing is written: history is proved to be what its payloads say. Files of a table,
market and year are replaced if their rows differ, if one is damaged, or if one has an older schema
version. All replacements are one commit.`,
		Example: `  dealflow replay --lake /data/deals
  dealflow replay --snapshots --json`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return runReplay(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.snapshots, "snapshots", false, "also build the stored snapshots again")
	flags.BoolVar(&o.force, "force", false, "replace all files, also those with equal rows")
	addAcceptLost(flags, &o.acceptLost)
	a.settings.addTelling(flags)
	return cmd
}

func runReplay(ctx context.Context, a *app, o replayOptions) error {
	return a.recorded(ctx, "replay", attempts.Both, func(at *attempt) error {
		cfg, err := a.maintainConfig(at, o.acceptLost)
		if err != nil {
			return err
		}
		result, err := maintain.Replay(ctx, maintain.ReplayConfig{Config: cfg, Snapshots: o.snapshots, Force: o.force})
		if result == nil {
			return err
		}
		return a.endMaintenance(at, &result.Result, result, err, func() error { return a.printReplayed(result) })
	})
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
			verdict += fmt.Sprintf("; values that the present schema reads in another way: %d columns (%s)", len(t.Improved), strings.Join(t.Improved, ", "))
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
		a.say().Info("history is unchanged", "lake", r.Lake, logs.Text("history is what its payloads say: nothing was written"))
	}
	return nil
}
