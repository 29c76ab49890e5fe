package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"dealflow/internal/advice"
	"dealflow/internal/attempts"
	"dealflow/internal/logs"
	"dealflow/internal/runlist"
	"dealflow/internal/words"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

func newRunsShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show <run or commit>",
		Short: "Show what a run did, feed by feed",
		Long: `show prints the report of a committed run, feed by feed: what changed, what it cost, and its drift.
Costs are pages, requests, bytes, retries, waits, sweeps and time. With --json it prints the complete
commit, with the files that it added and removed. Of an attempt that made no commit it prints what
became of it, and why.

Name the run by its commit's number, by its id, or by the first characters of its id. "last" is the
newest run that made a commit.`,
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
	row, err := a.findRun(ctx, l, name)
	if err != nil {
		return err
	}
	if row.Number > 0 && a.settings.json {
		if err := a.addFiles(ctx, l, &row.Commit); err != nil {
			return err
		}
	}
	if a.settings.json {
		return printJSON(a.Stdout, row)
	}
	if row.Number == 0 {
		return a.printAttempt(row.Attempt)
	}
	return a.printReport(row)
}

// findRun returns a run by commit number, id, or beginning of its id. It returns a usage error unless exactly one run
// matches.
func (a *app) findRun(ctx context.Context, l *load.Lake, name string) (*runlist.Row, error) {
	entries, err := attempts.List(ctx, l.Store())
	if err != nil {
		a.logger().Warn("attempts that made no commit are not listed", "error", err)
	}
	waiting := a.attemptsOn(l).Waiting(entries)
	if name == "last" {
		return a.runRow(ctx, l, l.Log().Number, "", entries, waiting)
	}
	number, notNumber := strconv.ParseInt(name, 10, 64)
	if notNumber == nil && number >= 1 && number <= l.Log().Number {
		return a.runRow(ctx, l, number, "", entries, waiting)
	}
	names, err := l.Names(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	numbers := map[string]int64{}
	for i := range names {
		if name != "" && strings.HasPrefix(names[i].RunID, name) {
			ids = append(ids, names[i].RunID)
			numbers[names[i].RunID] = names[i].Number
		}
	}
	for _, e := range entries {
		if name != "" && strings.HasPrefix(e.RunID, name) && !slices.Contains(ids, e.RunID) {
			ids = append(ids, e.RunID)
		}
	}
	for i := range waiting {
		if id := waiting[i].RunID; name != "" && strings.HasPrefix(id, name) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	switch len(ids) {
	case 0:
		return nil, usagef("no committed run or attempt %q; `dealflow runs --last 0` lists all runs", name)
	case 1:
		return a.runRow(ctx, l, numbers[ids[0]], ids[0], entries, waiting)
	}
	return nil, usagef("%d runs begin with %q, want one; type more of the id, or the commit's number", len(ids), name)
}

// runRow returns the commit with a number, or the attempt with a run id, or both. The number is 0 without a commit. waiting are
// attempts that are not among the entries.
func (a *app) runRow(ctx context.Context, l *load.Lake, number int64, id string, entries []attempts.Entry, waiting []attempts.Attempt) (*runlist.Row, error) {
	var commits []lake.Commit
	run, err := l.Run(ctx, number)
	if err != nil {
		return nil, err
	}
	if run != nil {
		commits, id = []lake.Commit{*run}, run.RunID
	}
	made, err := a.attemptsOn(l).Resolve(ctx, slices.DeleteFunc(slices.Clone(entries), func(e attempts.Entry) bool { return e.RunID != id }))
	if err != nil {
		return nil, err
	}
	made = append(made, waiting...)
	for _, row := range runlist.Merge(commits, l.Log(), made) {
		if row.RunID == id {
			return &row, nil
		}
	}
	return nil, usagef("the attempt %s cannot be read: it was removed, or a later version of dealflow wrote it", id)
}

// addFiles reads the commit's object for the files that it added and removed, which the log does not keep.
func (a *app) addFiles(ctx context.Context, l *load.Lake, c *lake.Commit) error {
	data, err := l.Object(ctx, lake.CommitKey(c.Number))
	if errors.Is(err, store.ErrNotFound) {
		a.logger().Warn("the object of a commit is lost", "commit", c.Number, logs.Text("what commit %d added and removed is not known; run `dealflow verify`", c.Number))
		return nil
	}
	if err != nil {
		return err
	}
	complete, err := lake.DecodeCommit(data)
	if err != nil {
		return fmt.Errorf("%s: %w", lake.CommitKey(c.Number), err)
	}
	c.Add, c.Remove = complete.Add, complete.Remove
	return nil
}

// printAttempt prints an attempt that made no commit.
func (a *app) printAttempt(t *attempts.Attempt) error {
	ended := "no end is recorded"
	if !t.EndedAt.IsZero() {
		ended = "ended " + t.EndedAt.String()
		if t.State == attempts.Killed {
			ended = "found " + t.EndedAt.String()
		}
	}
	fmt.Fprintf(a.Stdout, "attempt   %s\nrun       %s\nstarted   %s, %s\nby        %s\noutcome   %s", t.Command, t.RunID, t.StartedAt, ended, words.Printable(t.Owner), t.Outcome)
	if t.ExitCode != nil {
		fmt.Fprintf(a.Stdout, ", exit code %d", *t.ExitCode)
	}
	fmt.Fprintf(a.Stdout, "\nprogram   dealflow %s\n", t.DealflowVersion)
	if t.Error != "" {
		fmt.Fprintf(a.Stdout, "\n%s\n", printableLines(t.Error))
	}
	if todo := advice.AfterAttempt(t); todo != "" {
		fmt.Fprintf(a.Stdout, "to do: %s\n", todo)
	}
	for _, warning := range t.Warnings {
		fmt.Fprintf(a.Stdout, "warning: %s\n", words.Printable(warning))
	}
	return nil
}

// printableLines is printable for a text of several lines.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = words.Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

func (a *app) printReport(row *runlist.Row) error {
	c := &row.Commit
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
	a.printNotes(c, row.Attempt)
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
		row = append(row, words.Size(f.Bytes), fmt.Sprint(f.Retries), inSeconds(f.WaitedMS))
		row = append(row, figures(f.Sweeps, f.Confirmations)...)
		rows = append(rows, append(row, inSeconds(f.ExtractMS), inSeconds(f.WriteMS)))
	}
	return rows
}

// printNotes prints what needs attention: errors, missed changes, drift, and the warnings of the attempt; nil for none.
func (a *app) printNotes(c *lake.Commit, attempt *attempts.Attempt) {
	var notes []string
	for i := range c.Feeds {
		f := &c.Feeds[i]
		if f.Error != "" {
			notes = append(notes, fmt.Sprintf("%s %s: %s", f.Feed, f.Outcome, words.Printable(f.Error)))
		}
		if f.SyncMissed > 0 {
			notes = append(notes, fmt.Sprintf("%s: %d changes that syncs had missed: deals %v", f.Feed, f.SyncMissed, f.SyncMissedIDs))
		}
		for _, d := range f.Drift {
			notes = append(notes, fmt.Sprintf("%s: %s at %s, %d times, such as %s", f.Feed, d.Kind, words.Printable(d.Pointer), d.Count, words.Printable(d.Example)))
		}
	}
	if attempt != nil {
		for _, warning := range attempt.Warnings {
			notes = append(notes, "warning: "+words.Printable(warning))
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
