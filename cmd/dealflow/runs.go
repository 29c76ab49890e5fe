package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/runlist"
	"dealflow/internal/words"
	"dealflow/load"
	"dealflow/schemas/lake"
)

func newRuns(a *app) *cobra.Command {
	var last int
	cmd := &cobra.Command{
		Use:   "runs",
		Short: "List the last runs and what became of them, newest first",
		Long: `runs lists the commits of the lake, and the attempts that made none: runs, syncs and maintenance that
failed, were skipped, cancelled or killed, and verifications. A sync that found nothing new is not
listed.

An attempt without a commit has no number; its outcome, exit code and first reason are in the last
columns. "dealflow runs show" prints all that it said.`,
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
	made, err := a.attemptsOn(l).Attempts(ctx, last)
	if err != nil {
		// The log has every commit: what is lacking is what made none.
		a.logger().Warn("attempts that made no commit are not listed", "error", err)
	}
	commits, err := runlist.Last(ctx, l, last)
	if err != nil {
		return err
	}
	rows := runlist.Merge(commits, l.Log(), made)
	if last > 0 && len(rows) > last {
		rows = rows[:last]
	}
	if a.settings.json {
		return printJSON(a.Stdout, rows)
	}
	var lines [][]string
	for i := range rows {
		lines = append(lines, runLine(&rows[i]))
	}
	return printTable(a.Stdout, []string{">commit", "started", "known at", "command", "snapshot", "outcome", ">new", ">changed", ">removed", ">back", ">unchanged", ">quarantined", ">drift", ">exit", "reason"}, lines)
}

func runLine(r *runlist.Row) []string {
	line := []string{"", r.StartedAt.UTC().Format(time.RFC3339), "", r.Command, r.SnapshotDate, r.Outcome}
	if r.Number > 0 {
		line[0], line[2] = fmt.Sprint(r.Number), r.KnownAt.String()
	}
	counts := lake.RunRow(&r.Commit)
	for _, count := range []string{"added", "changed", "removed", "reappeared", "unchanged", "quarantined", "drift"} {
		text := ""
		if r.Number > 0 {
			text = fmt.Sprint(counts[count])
		}
		line = append(line, text)
	}
	if r.Attempt == nil {
		return append(line, "", "")
	}
	code := ""
	if r.Attempt.ExitCode != nil {
		code = fmt.Sprint(*r.Attempt.ExitCode)
	}
	return append(line, code, words.Reason(r.Attempt.Error, r.Attempt.RunID))
}

// attemptsOn returns the reader of the attempts on a lake.
func (a *app) attemptsOn(l *load.Lake) *runlist.Reader {
	return &runlist.Reader{Lake: l, WorkDir: a.settings.workDir, Identity: a.lakeIdentity(l.Store()), Clock: a.Now, Log: a.logger()}
}
