package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/attempts"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// runRow is an element of the list that runs --json prints: a commit, or an attempt that made none. Of such an attempt
// the commit's number is 0 and its known_at is year 1. Fields are only ever added.
type runRow struct {
	lake.Commit
	Attempt *attempts.Attempt `json:"attempt"` // null if none was recorded
}

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
	made, err := a.readAttempts(ctx, l, last)
	if err != nil {
		// The log has every commit: what is lacking is what made none.
		a.logger().Warn("attempts that made no commit are not listed", "error", err)
	}
	commits, err := lastRuns(ctx, l, last)
	if err != nil {
		return err
	}
	rows := rowsOf(commits, l.Log(), made)
	if last > 0 && len(rows) > last {
		rows = rows[:last]
	}
	if a.settings.json {
		return printJSON(a.Stdout, rows)
	}
	var lines [][]string
	for i := range rows {
		lines = append(lines, rows[i].line())
	}
	return printTable(a.Stdout, []string{">commit", "started", "known at", "command", "snapshot", "outcome", ">new", ">changed", ">removed", ">back", ">unchanged", ">quarantined", ">drift", ">exit", "reason"}, lines)
}

func (r *runRow) line() []string {
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
	return append(line, code, reasonLine(r.Attempt.Error, r.Attempt.RunID))
}

// reasonShown is the number of characters of a reason up to which it is shown completely.
const reasonShown = 240

// reasonLine returns the reason for which the attempt with an id failed, as one line: the first line of its error, with
// the first detail if that is what the line announces. Of a long line it leaves out the middle: it begins with what was
// attempted, and its last clause is what to do. If anything is left out, it ends with the command that shows all.
func reasonLine(reason, id string) string {
	first, rest, more := strings.Cut(strings.TrimSpace(reason), "\n")
	if more && strings.HasSuffix(first, ":") {
		var detail string
		detail, _, more = strings.Cut(strings.TrimSpace(rest), "\n")
		first += " " + strings.TrimSpace(detail)
	}
	line := []rune(printable(first))
	if len(line) > reasonShown {
		line, more = slices.Concat(line[:wordEnd(line, reasonShown/2)], []rune(" … "), lastClause(line, reasonShown/2)), true
	}
	switch {
	case !more:
		return string(line)
	case id == "":
		return string(line) + " …"
	}
	return string(line) + " … (`dealflow runs show " + id + "` has all)"
}

// wordEnd returns the end of the last word that ends within the first most characters of a line; most if none does.
func wordEnd(line []rune, most int) int {
	for i := most; i > 0; i-- {
		if line[i] == ' ' {
			return i
		}
	}
	return most
}

// lastClause returns the end of a line, of most characters at most: from the first clause that begins there, else from
// the first word.
func lastClause(line []rune, most int) []rune {
	end := string(line[len(line)-most:])
	for _, separator := range []string{"; ", ": ", " "} {
		if _, rest, ok := strings.Cut(end, separator); ok {
			return []rune(rest)
		}
	}
	return []rune(end)
}

// readAttempts returns the attempts that were recorded last, at most that number of them; 0 for all. They know their
// commits, and those without an end are judged. Those that wait on this machine to be recorded are among them.
func (a *app) readAttempts(ctx context.Context, l *load.Lake, most int) ([]attempts.Attempt, error) {
	entries, err := attempts.List(ctx, l.Store())
	if err != nil {
		return nil, err
	}
	if most > 0 && len(entries) > most {
		entries = entries[:most]
	}
	found, err := a.resolve(ctx, l, entries)
	return append(found, a.waiting(l, entries)...), err
}

// waiting returns the attempts on a lake that wait on this machine to be recorded, without those among the entries.
func (a *app) waiting(l *load.Lake, recorded []attempts.Entry) []attempts.Attempt {
	all, err := attempts.Waiting(a.settings.workDir, a.lakeIdentity(l.Store()))
	if err != nil {
		a.logger().Warn("earlier attempts still wait in the work folder", "error", err)
	}
	return slices.DeleteFunc(all, func(w attempts.Attempt) bool {
		return slices.ContainsFunc(recorded, func(e attempts.Entry) bool { return e.RunID == w.RunID })
	})
}

// resolve reads the attempts of entries, gives them their commits, and judges those without an end.
func (a *app) resolve(ctx context.Context, l *load.Lake, entries []attempts.Entry) ([]attempts.Attempt, error) {
	found, err := attempts.Read(ctx, l.Store(), entries)
	if err != nil {
		return nil, err
	}
	numbers, err := numbersOf(ctx, l, found)
	if err != nil {
		return nil, err
	}
	judge := attempts.Judge{Store: l.Store(), Now: a.Now()}
	for i := range found {
		found[i].Commit = cmp.Or(numbers[found[i].RunID], found[i].Commit)
		if err := judge.Resolve(ctx, &found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// numbersOf returns the commits of runs by run id, at least those of attempts that do not know theirs.
func numbersOf(ctx context.Context, l *load.Lake, made []attempts.Attempt) (map[string]int64, error) {
	log, numbers := l.Log(), map[string]int64{}
	for i := range log.Commits {
		numbers[log.Commits[i].RunID] = log.Commits[i].Number
	}
	old := func(a attempts.Attempt) bool {
		return a.Commit == 0 && numbers[a.RunID] == 0 && !log.Whole(1) && (a.After == nil || !log.Whole(a.After.Commit+1))
	}
	if !slices.ContainsFunc(made, old) {
		return numbers, nil
	}
	names, err := l.Names(ctx)
	if err != nil {
		return nil, err
	}
	for i := range names {
		numbers[names[i].RunID] = names[i].Number
	}
	return numbers, nil
}

// lastRuns returns the last commits without their files, at least that number of them; 0 for all.
func lastRuns(ctx context.Context, l *load.Lake, last int) ([]lake.Commit, error) {
	log, from := l.Log(), int64(1)
	if last > 0 {
		from = log.Number - int64(last) + 1
	}
	if log.Whole(from) {
		return log.Commits, nil
	}
	var commits []lake.Commit
	for run, err := range l.Runs(ctx, from) {
		if err != nil {
			return nil, err
		}
		commits = append(commits, *run)
	}
	return commits, nil
}

// rowsOf merges commits of a log and attempts, newest first.
func rowsOf(commits []lake.Commit, log *load.Log, made []attempts.Attempt) []runRow {
	rows := make([]runRow, 0, len(commits)+len(made))
	index := map[string]int{} // in rows, by run id
	for i := range commits {
		index[commits[i].RunID] = len(rows)
		rows = append(rows, runRow{Commit: commits[i]})
	}
	after := make([]int64, len(rows), cap(rows)) // place of a row: the commit that it is, or that it comes after
	for i := range rows {
		after[i] = rows[i].Number
	}
	for i := range made {
		if n, committed := index[made[i].RunID]; committed {
			rows[n].Attempt = &made[i]
			continue
		}
		rows = append(rows, runRow{Commit: commitOf(&made[i]), Attempt: &made[i]})
		after = append(after, placeOf(log, &made[i]))
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		a, b := &rows[x], &rows[y]
		// A commit is older than the attempts after it. Clocks only order attempts between two commits.
		return cmp.Or(cmp.Compare(after[y], after[x]), cmp.Compare(min(a.Number, 1), min(b.Number, 1)), b.StartedAt.Compare(a.StartedAt.Time))
	})
	sorted := make([]runRow, len(rows))
	for i, n := range order {
		sorted[i] = rows[n]
	}
	return sorted
}

// placeOf returns the number of the commit after which an attempt without a commit was made: the newest one that it knew,
// or if it could not read the lake, the newest one that was finished before by the clocks.
func placeOf(log *load.Log, a *attempts.Attempt) int64 {
	if a.After != nil {
		place := min(a.After.Commit, log.Number)
		if named, known := log.Named(a.After.Commit); known && a.After.SHA256 != "" && named.SHA256 != a.After.SHA256 {
			place-- // that commit was lost, and another one has its number
		}
		return place
	}
	for i := len(log.Commits) - 1; i >= 0; i-- {
		if !log.Commits[i].FinishedAt.After(a.StartedAt.Time) {
			return log.Commits[i].Number
		}
	}
	return 0
}

// commitOf returns what an attempt without a commit says, in the form of a commit.
func commitOf(a *attempts.Attempt) lake.Commit {
	c := lake.Commit{
		RunID: a.RunID, Command: a.Command, DealflowVersion: a.DealflowVersion, StartedAt: a.StartedAt, FinishedAt: a.EndedAt,
		SnapshotDate: a.SnapshotDate, Outcome: a.Outcome, Feeds: []lake.FeedRun{}, Add: []lake.File{}, Remove: []string{}, Checks: []lake.Check{},
	}
	for _, f := range a.Feeds {
		c.Feeds = append(c.Feeds, lake.FeedRun{Feed: f.Feed, Outcome: f.Outcome, Error: f.Error, Drift: []lake.Drift{}})
	}
	return c
}
