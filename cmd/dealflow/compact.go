package main

import (
	"context"

	"github.com/spf13/cobra"

	"dealflow/internal/attempts"
	"dealflow/internal/logs"
	"dealflow/internal/maintain"
	"dealflow/schemas/lake"
)

func newCompact(a *app) *cobra.Command {
	var acceptLost bool
	cmd := &cobra.Command{
		Use:   "compact",
		Short: "Merge small files into larger ones, as one commit",
		Long: `compact merges small files into larger ones, so that queries open fewer files. The rows stay the
same, and so does every answer. A run also compacts history after its commit if there are many small
files.

The history of a table and year becomes two files: the latest versions of deals, and all others. Files
of 64 MiB or more stay as they are. The snapshots of a table and day become one file when the day is
older than a week. Merged files have rows of several markets: programs that do not know such files
refuse the lake from then on.

Each call takes one step. If there are very many files, call it again to continue.

The merged files become garbage. expire removes garbage after its grace of seven days.`,
		Example: "  dealflow compact --lake /data/deals",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runCompact(cmd.Context(), a, acceptLost) },
	}
	addAcceptLost(cmd.Flags(), &acceptLost)
	a.settings.addTelling(cmd.Flags())
	return cmd
}

func runCompact(ctx context.Context, a *app, acceptLost bool) error {
	return a.recorded(ctx, "compact", attempts.Both, func(at *attempt) error {
		cfg, err := a.maintainConfig(at, acceptLost)
		if err != nil {
			return err
		}
		result, err := maintain.Compact(ctx, cfg)
		if result == nil {
			return err
		}
		return a.endMaintenance(at, result, result, err, func() error { return a.printCompacted(result) })
	})
}

func (a *app) printCompacted(r *maintain.Result) error {
	if a.settings.json {
		return printJSON(a.Stdout, r)
	}
	a.printMaintained(r)
	if r.Outcome == lake.OutcomeUnchanged {
		a.say().Info("nothing to merge", "lake", r.Lake, logs.Text("nothing to merge in %s", r.Lake))
	}
	return nil
}
