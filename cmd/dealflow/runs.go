package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"dealflow/schemas/lake"
)

func newRuns(a *app) *cobra.Command {
	var last int
	cmd := &cobra.Command{
		Use:     "runs",
		Short:   "List the last runs, newest first",
		Example: "  dealflow runs\n  dealflow runs --last 30 --json",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runRuns(cmd.Context(), a, last) },
	}
	cmd.AddCommand(newRunsShow(a))
	cmd.Flags().IntVar(&last, "last", 20, "number of runs to list; 0 for all")
	return cmd
}

func runRuns(ctx context.Context, a *app, last int) error {
	l, err := a.openLake(ctx)
	if err != nil {
		return err
	}
	runs := slices.Clone(l.Log().Commits)
	slices.Reverse(runs)
	if last > 0 && len(runs) > last {
		runs = runs[:last]
	}
	if a.settings.json {
		return printJSON(a.Stdout, runs)
	}
	var rows [][]string
	for i := range runs {
		r := lake.RunRow(&runs[i])
		row := []string{fmt.Sprint(runs[i].Number), runs[i].KnownAt.String(), runs[i].Command, runs[i].SnapshotDate, runs[i].Outcome}
		for _, count := range []string{"added", "changed", "removed", "reappeared", "unchanged", "quarantined", "drift"} {
			row = append(row, fmt.Sprint(r[count]))
		}
		rows = append(rows, row)
	}
	return printTable(a.Stdout, []string{">commit", "known at", "command", "snapshot", "outcome", ">new", ">changed", ">removed", ">back", ">unchanged", ">quarantined", ">drift"}, rows)
}
