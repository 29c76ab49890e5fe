package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dealflow/schemas/lake"
)

func newRunsShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show <run or commit>",
		Short: "Show what a run did, feed by feed",
		Long: `show prints the report of a committed run, feed by feed: what changed, what it cost, and its drift.
Costs are pages, requests, bytes, retries, waits, sweeps and time.

Name the run by its commit's number, by its id, or by the first characters of its id. "last" is the
newest run.`,
		Example: "  dealflow runs show last\n  dealflow runs show 42 --json",
		Args:    args(cobra.ExactArgs(1)),
		RunE:    func(cmd *cobra.Command, words []string) error { return runRunsShow(cmd.Context(), a, words[0]) },
	}
}

func runRunsShow(ctx context.Context, a *app, name string) error {
	l, err := a.openLake(ctx)
	if err != nil {
		return err
	}
	run, err := findRun(l.Log().Commits, name)
	if err != nil {
		return err
	}
	if a.settings.json {
		return printJSON(a.Stdout, run)
	}
	return a.printReport(run)
}

// findRun returns a run by commit number, id, or beginning of its id. It returns a usage error unless exactly one run
// matches.
func findRun(runs []lake.Commit, name string) (*lake.Commit, error) {
	if name == "last" {
		return &runs[len(runs)-1], nil
	}
	var found []*lake.Commit
	number, err := strconv.ParseInt(name, 10, 64)
	for i := range runs {
		if err == nil && runs[i].Number == number {
			return &runs[i], nil
		}
		if name != "" && strings.HasPrefix(runs[i].RunID, name) {
			found = append(found, &runs[i])
		}
	}
	switch len(found) {
	case 0:
		return nil, usagef("no committed run %q; `dealflow runs --last 0` lists all runs", name)
	case 1:
		return found[0], nil
	}
	return nil, usagef("%d runs begin with %q, want one; type more of the id, or the commit's number", len(found), name)
}

func (a *app) printReport(c *lake.Commit) error {
	fmt.Fprintf(a.Stdout, "commit    %d, %s of %s\nrun       %s\nknown at  %s\nstarted   %s, finished %s\n", c.Number, c.Command, cmp.Or(c.SnapshotDate, "no snapshot"), c.RunID, c.KnownAt, c.StartedAt, c.FinishedAt)
	fmt.Fprintf(a.Stdout, "outcome   %s\nprogram   dealflow %s\n", c.Outcome, c.DealflowVersion)
	if len(c.Feeds) == 0 {
		return nil
	}
	fmt.Fprintln(a.Stdout)
	if err := printTable(a.Stdout, []string{"feed", "outcome", ">deals", ">new", ">changed", ">removed", ">not entitled", ">back", ">unchanged", ">quarantined", ">drift"}, changes(c)); err != nil {
		return err
	}
	fmt.Fprintln(a.Stdout)
	if err := printTable(a.Stdout, []string{"feed", ">pages", ">requests", ">size", ">retries", ">waited", ">sweeps", ">asked by id", ">extract", ">write"}, traffic(c)); err != nil {
		return err
	}
	a.printNotes(c)
	return nil
}

func changes(c *lake.Commit) (rows [][]string) {
	for i := range c.Feeds {
		f := &c.Feeds[i]
		rows = append(rows, append([]string{f.Feed.String(), f.Outcome}, figures(f.Deals, f.Added, f.Changed, f.Removed, f.NotEntitled, f.Reappeared, f.Unchanged, f.Quarantined, f.DriftCount())...))
	}
	return rows
}

func traffic(c *lake.Commit) (rows [][]string) {
	for i := range c.Feeds {
		f := &c.Feeds[i]
		row := append([]string{f.Feed.String()}, figures(f.Pages, f.Requests)...)
		row = append(row, size(f.Bytes), fmt.Sprint(f.Retries), inSeconds(f.WaitedMS))
		row = append(row, figures(f.Sweeps, f.Confirmations)...)
		rows = append(rows, append(row, inSeconds(f.ExtractMS), inSeconds(f.WriteMS)))
	}
	return rows
}

// printNotes prints what needs attention: errors, missed changes and drift.
func (a *app) printNotes(c *lake.Commit) {
	var notes []string
	for i := range c.Feeds {
		f := &c.Feeds[i]
		if f.Error != "" {
			notes = append(notes, fmt.Sprintf("%s %s: %s", f.Feed, f.Outcome, printable(f.Error)))
		}
		if f.SyncMissed > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d changes that syncs had missed: deals %v", f.Feed, f.SyncMissed, f.SyncMissedIDs))
		}
		for _, d := range f.Drift {
			notes = append(notes, fmt.Sprintf("%s: %s at %s, %d times, such as %s", f.Feed, d.Kind, printable(d.Pointer), d.Count, printable(d.Example)))
		}
	}
	if len(notes) > 0 {
		fmt.Fprintf(a.Stdout, "\n%s\n", strings.Join(notes, "\n"))
	}
}

func figures(numbers ...int64) []string {
	text := make([]string, len(numbers))
	for i, n := range numbers {
		text[i] = fmt.Sprint(n)
	}
	return text
}

func inSeconds(ms int64) string { return fmt.Sprintf("%.1f s", float64(ms)/1000) }
