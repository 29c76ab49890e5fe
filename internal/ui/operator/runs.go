package operator

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dealflow/internal/attempts"
	"dealflow/internal/chart"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/grid"
	"dealflow/internal/words"
	"dealflow/schemas/lake"
)

// Run is a commit, an attempt that made none, or both.
type Run struct {
	Commit  lake.Commit       // of an attempt without a commit, Number is 0
	Attempt *attempts.Attempt // nil if none was recorded
	Todo    string            // what mends it, with the command in backquotes
}

// Listing is the newest runs.
type Listing struct {
	Runs []Run
	Flaw string // why attempts that made no commit are not among them; "" if they are
}

// FileChange is what a commit added and removed.
type FileChange struct {
	Known          bool // false if the commit's object is lost
	Added, Removed int
	AddedBytes     int64
	RemovedBytes   int64 // -1: not known, because the commits that added them are not
}

// runsShown is the number of runs on a page.
const runsShown = 100

// runFilter is what a request asks of runs; "" for all.
type runFilter struct{ command, outcome string }

func (f runFilter) matches(r *Run) bool {
	return (f.command == "" || f.command == r.Commit.Command) && (f.outcome == "" || f.outcome == r.Commit.Outcome)
}

// readRuns returns runs, newest first, and whether they are all: of a pinned page the commits up to its instant, and no attempt;
// otherwise as many that a page is full of those that match. Attempts are read one by one, so that there are no more than needed.
func (s *source) readRuns(q *frame.Request, wanted runFilter) (found *Listing, isWhole bool) {
	found = &Listing{}
	for most := runsShown; !q.View.Pinned(); most *= 8 {
		all, err := s.Runs(q.Ctx, most)
		if err != nil {
			found.Flaw = err.Error() // the view has every commit
			break
		}
		matching := 0
		for i := range all.Runs {
			if wanted.matches(&all.Runs[i]) {
				matching++
			}
		}
		if isWhole = len(all.Runs) < most; isWhole || matching >= runsShown {
			return all, isWhole
		}
	}
	for _, c := range slices.Backward(q.View.Commits()) {
		found.Runs = append(found.Runs, Run{Commit: c})
	}
	return found, true
}

// viewOf returns a run as the strip of attempts shows it.
func viewOf(q *frame.Request, r *Run) attemptView {
	v := attemptView{Command: r.Commit.Command, Outcome: r.Commit.Outcome, At: grid.ShortTime(r.Commit.StartedAt.Time), Mark: "✔", Class: "ok"}
	if r.Commit.Number > 0 {
		v.Link = q.Link(fmt.Sprintf("runs/%d", r.Commit.Number))
	}
	switch {
	case r.Attempt != nil && r.Commit.Number == 0 && r.Attempt.Failed():
		v.Mark, v.Class = "✖", "bad"
		if r.Commit.Outcome == lake.OutcomeHeld {
			v.Mark = "■"
		}
		v.Said = firstLine(r.Attempt.Error)
		v.Link = q.Link("runs/" + r.Attempt.RunID)
	case r.Commit.Outcome == lake.OutcomePartial:
		v.Mark, v.Class = "◐", "warn"
	case r.Commit.Number == 0:
		v.Mark, v.Class = "·", ""
	}
	return v
}

// firstLine returns the first line of a message, with the next one if that is what it announces.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.HasSuffix(line, ":") {
		next, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
		line += " " + next
	}
	return line
}

func (s *source) showRuns(q *frame.Request) (*frame.Content, error) {
	wanted := filterOf(q)
	found, isWhole := s.readRuns(q, wanted)
	t := &grid.Table{Caption: "Runs", Sticky: 1, Columns: grid.Columns(">commit", "started", "known", "command", "day", "outcome", ">new", ">changed", ">removed", ">back", ">quarantined", ">drift", "reason")}
	var runs []*Run // those on the page
	for i := range found.Runs {
		if r := &found.Runs[i]; wanted.matches(r) && len(runs) < runsShown {
			runs = append(runs, r)
			t.Rows = append(t.Rows, runRow(q, r))
		}
	}
	lead := runsLead(runs)
	if len(found.Runs) == 0 {
		lead = "The lake had no run yet."
	}
	if q.View.Pinned() {
		lead += " A lake as of an instant has commits alone: attempts that made none are shown as of now."
	}
	if found.Flaw != "" {
		lead += " Attempts that made no commit are not among them: " + found.Flaw + "."
	}
	if !isWhole {
		lead += fmt.Sprintf(" The filters count all commits, and the attempts without one that are among the last %s runs.", chart.Count(int64(len(found.Runs))))
	}
	return &frame.Content{Title: "Runs", Lead: lead, Template: "list", Data: frame.List{Table: t, Empty: q.Empty("No run matches. Take a filter away."), Filters: runFilters(q, wanted, found.Runs, isWhole)}}, nil
}

// runFilters counts the runs that each command, and each outcome, leaves. Of a list that is not whole the view has the commits.
func runFilters(q *frame.Request, wanted runFilter, runs []Run, isWhole bool) []frame.Filter {
	commands, outcomes := map[string]int64{}, map[string]int64{}
	count := func(r *Run) {
		if (runFilter{outcome: wanted.outcome}).matches(r) {
			commands[r.Commit.Command]++
		}
		if (runFilter{command: wanted.command}).matches(r) {
			outcomes[r.Commit.Outcome]++
		}
	}
	for i := range runs {
		if isWhole || runs[i].Commit.Number == 0 {
			count(&runs[i])
		}
	}
	if !isWhole {
		for _, c := range q.View.Commits() {
			count(&Run{Commit: c})
		}
	}
	return []frame.Filter{q.Filter("command", commands, 0), q.Filter("outcome", outcomes, 0)}
}

// runsLead says how many runs a page has, over which time, and how they ended.
func runsLead(runs []*Run) string {
	if len(runs) == 0 {
		return "No run matches."
	}
	outcomes := map[string]int64{}
	for _, r := range runs {
		outcomes[r.Commit.Outcome]++
	}
	var ended []string
	for _, outcome := range slices.SortedFunc(maps.Keys(outcomes), func(a, b string) int { return cmp.Or(cmp.Compare(outcomes[b], outcomes[a]), cmp.Compare(a, b)) }) {
		ended = append(ended, chart.Count(outcomes[outcome])+" "+outcome)
	}
	lead := fmt.Sprintf("%s of %s to %s: %s.", grid.Plural(int64(len(runs)), "run", "runs"),
		grid.ShortTime(runs[len(runs)-1].Commit.StartedAt.Time), grid.LongTime(runs[0].Commit.StartedAt), strings.Join(ended, ", "))
	if len(runs) == runsShown {
		lead = "The last " + lead + " The download has all commits."
	}
	return lead
}

func runRow(q *frame.Request, r *Run) grid.Row {
	c := &r.Commit
	s := sumsOf(c)
	name, reason := grid.Cell{Text: chart.None, Title: "no commit", Null: true}, ""
	if c.Number > 0 {
		name = grid.Cell{Text: fmt.Sprint(c.Number), Link: q.Link(fmt.Sprintf("runs/%d", c.Number))}
	} else if r.Attempt != nil {
		name.Link, name.Text = q.Link("runs/"+r.Attempt.RunID), "attempt"
		reason = firstLine(r.Attempt.Error)
	}
	outcome := grid.Cell{Text: c.Outcome, Class: outcomeClass(c.Outcome)}
	if c.Number == 0 {
		return grid.Row{Cells: []grid.Cell{name, grid.Moment(c.StartedAt.Time), {Text: ""}, {Text: c.Command}, {Text: c.SnapshotDate}, outcome, {}, {}, {}, {}, {}, {}, grid.Words(reason)}}
	}
	var quarantined, drift int64
	for i := range c.Feeds {
		quarantined += c.Feeds[i].Quarantined
		drift += c.Feeds[i].DriftCount()
	}
	return grid.Row{Cells: []grid.Cell{
		name, grid.Moment(c.StartedAt.Time), grid.Moment(c.KnownAt.Time), {Text: c.Command}, {Text: c.SnapshotDate}, outcome,
		grid.Whole(s.added), grid.Whole(s.changed), grid.Whole(s.removed), grid.Whole(s.reappeared), grid.Whole(quarantined), grid.Whole(drift), grid.Words(reason),
	}}
}

func outcomeClass(outcome string) string {
	switch outcome {
	case lake.OutcomeDone, lake.OutcomeUnchanged:
		return "ok"
	case lake.OutcomePartial, lake.OutcomeSkipped, attempts.OutcomeRunning:
		return "warn"
	}
	return "bad"
}

func filterOf(q *frame.Request) runFilter {
	return runFilter{q.Values.Get("command"), q.Values.Get("outcome")}
}

// mainRuns are the commits of those runs.
func mainRuns(q *frame.Request) (asof.Query, error) {
	wanted := filterOf(q)
	return asof.Query{Name: "runs", Args: asof.Args{"command": wanted.command, "outcome": wanted.outcome}}, nil
}

func moveToLast(q *frame.Request) (string, error) {
	c := lastPull(q.View.Commits())
	if c == nil {
		return "", frame.Errorf(http.StatusNotFound, "the lake had no run yet")
	}
	return fmt.Sprintf("./%d", c.Number), nil
}

type runData struct {
	Run            *Run
	Facts          []frame.Fact
	Commands       []string
	Error          string
	Warnings       []string
	Feeds, Traffic *grid.Table
	Checks, Drift  *grid.Table
	Stages         *chart.Drawing // how long each stage took; nil for none
	StagesSaid     string
	Quarantine     string // what it could not read; "" for nothing
	Changes        string // address of what it brought; "" for nothing
	Before, Next   string
}

// findRun returns the run that a path names: by commit number, or by the id of an attempt.
func (s *source) findRun(q *frame.Request) (*Run, error) {
	name := q.Vars["commit"]
	if !q.View.Pinned() {
		run, err := s.Run(q.Ctx, name)
		if err == nil && run == nil {
			err = frame.Errorf(http.StatusNotFound, "No commit or attempt %s.", name)
		}
		return run, err
	}
	commits := q.View.Commits()
	found := slices.IndexFunc(commits, func(c lake.Commit) bool { return strconv.FormatInt(c.Number, 10) == name })
	if found < 0 {
		return nil, frame.Errorf(http.StatusNotFound, "No commit %s as of this instant.", name)
	}
	return &Run{Commit: commits[found]}, nil
}

func (s *source) showRun(q *frame.Request) (*frame.Content, error) {
	r, err := s.findRun(q)
	if err != nil {
		return nil, err
	}
	data := &runData{Run: r, Commands: commandsIn(r.Todo)}
	c := &frame.Content{Template: "run", Data: data, Title: fmt.Sprintf("Commit %d", r.Commit.Number)}
	if a := r.Attempt; a != nil {
		data.Error, data.Warnings = a.Error, a.Warnings
	}
	if r.Commit.Number == 0 {
		c.Title = "Attempt of " + r.Commit.Command
		c.Lead = fmt.Sprintf("%s started %s: %s. It made no commit.", capital(r.Commit.Command), grid.ShortTime(r.Commit.StartedAt.Time), r.Commit.Outcome)
		data.Facts = attemptFacts(r.Attempt)
		return c, nil
	}
	data.Stages, data.StagesSaid = stagesOf(r)
	return c, s.fill(q, data, c, &r.Commit)
}

// stagesOf draws how long the stages of a pull took, one after the other, and says it.
func stagesOf(r *Run) (*chart.Drawing, string) {
	switch {
	case len(r.Commit.Feeds) == 0:
		return nil, "" // maintenance has none
	case r.Attempt == nil || r.Attempt.StageSeconds == nil:
		return nil, "not recorded"
	}
	s := r.Attempt.StageSeconds
	c := &chart.Chart{Title: "Stages", Desc: "One horizontal bar: how long each stage of the run took, from left to right.", Unit: "seconds", Categories: []string{r.Commit.Command}}
	var said []string
	total := 0.0
	for i, stage := range []struct {
		name    string
		seconds float64
	}{{"open", s.Open}, {"feeds", s.Feeds}, {"commit", s.Commit}, {"catalog", s.Catalog}} {
		c.Series = append(c.Series, chart.Series{Name: stage.name, Class: fmt.Sprintf("s%d", i), Values: []float64{stage.seconds}})
		said = append(said, fmt.Sprintf("%s %.1f s", stage.name, stage.seconds))
		total += stage.seconds
	}
	c.Notes = []string{fmt.Sprintf("%.1f s", total)}
	text := strings.Join(said, ", ")
	if !c.HasValues() {
		return nil, text
	}
	return chart.Both(func(narrow bool) *chart.Drawing {
		c.Narrow = narrow
		return chart.Bars(c)
	}), text
}

func attemptFacts(a *attempts.Attempt) []frame.Fact {
	facts := []frame.Fact{{Name: "Run", Value: a.RunID}, {Name: "By", Value: a.Owner}, {Name: "Program", Value: "dealflow " + a.DealflowVersion}}
	if !a.EndedAt.IsZero() {
		facts = append(facts, frame.Fact{Name: "Ended", Value: grid.LongTime(a.EndedAt)})
	}
	if a.ExitCode != nil {
		facts = append(facts, frame.Fact{Name: "Exit code", Value: fmt.Sprint(*a.ExitCode)})
	}
	return facts
}

// fill adds what a commit says.
func (s *source) fill(q *frame.Request, d *runData, page *frame.Content, c *lake.Commit) error {
	if _, err := q.Ask(asof.Query{Name: "run_feeds", Args: asof.Args{"commit": fmt.Sprint(c.Number)}}); err != nil {
		return err
	}
	brought := sumsOf(c)
	page.Lead = fmt.Sprintf("%s, %s, known %s.", capital(c.Command), c.Outcome, grid.LongTime(c.KnownAt))
	if len(c.Feeds) > 0 {
		page.Lead = fmt.Sprintf("%s, %s, known %s: %s new, %s changed, %s removed, %s back.", capital(c.Command), c.Outcome, grid.LongTime(c.KnownAt),
			chart.Count(brought.added), chart.Count(brought.changed), chart.Count(brought.removed), chart.Count(brought.reappeared))
	}
	d.Facts = []frame.Fact{
		{Name: "Snapshot day", Value: cmp.Or(c.SnapshotDate, "none")}, {Name: "Started", Value: grid.LongTime(c.StartedAt)}, {Name: "Finished", Value: grid.LongTime(c.FinishedAt)},
		{Name: "Run", Value: c.RunID}, {Name: "Program", Value: "dealflow " + c.DealflowVersion},
	}
	files, err := s.Files(q.Ctx, c.Number)
	if err != nil {
		return err
	}
	if files.Known {
		d.Facts = append(d.Facts, frame.Fact{Name: "Files added", Value: fmt.Sprintf("%d, %s", files.Added, words.Size(files.AddedBytes))}, frame.Fact{Name: "Files removed", Value: removedSaid(files)})
	}
	if d.StagesSaid != "" && !q.View.Pinned() { // an attempt is of now
		d.Facts = append(d.Facts, frame.Fact{Name: "Stages", Value: d.StagesSaid})
	}
	if len(c.Feeds) > 0 {
		d.Quarantine = "It put no record into quarantine."
		if brought.quarantined > 0 {
			d.Quarantine = fmt.Sprintf("It could not read %s as a deal. dealflow quarantine list --all shows them.", grid.Plural(brought.quarantined, "record", "records"))
		}
	}
	d.Feeds = &grid.Table{Caption: "Feeds", Sticky: 1, Columns: grid.Columns("feed", "outcome", ">deals", ">new", ">changed", ">removed", ">not entitled", ">back", ">unchanged", ">quarantined", ">drift", "error")}
	d.Traffic = &grid.Table{Caption: "Traffic", Sticky: 1, Columns: grid.Columns("feed", ">pages", ">requests", ">size", ">retries", ">waited", ">sweeps", ">asked by id", ">extract", ">write")}
	for i := range c.Feeds {
		f := &c.Feeds[i]
		d.Feeds.Add(feedCell(q, f.Feed), grid.Cell{Text: f.Outcome, Class: outcomeClass(f.Outcome)}, grid.Whole(f.Deals), grid.Whole(f.Added), grid.Whole(f.Changed), grid.Whole(f.Removed), grid.Whole(f.NotEntitled),
			grid.Whole(f.Reappeared), grid.Whole(f.Unchanged), grid.Whole(f.Quarantined), grid.Whole(f.DriftCount()), grid.Words(f.Error))
		d.Traffic.Add(grid.Cell{Text: f.Feed.String()}, grid.Whole(f.Pages), grid.Whole(f.Requests), grid.Cell{Text: words.Size(f.Bytes)}, grid.Whole(f.Retries), seconds(f.WaitedMS), grid.Whole(f.Sweeps), grid.Whole(f.Confirmations), seconds(f.ExtractMS), seconds(f.WriteMS))
	}
	commits := q.View.Commits()
	d.Checks = checksTable(c.Checks)
	d.Drift, _, _ = driftTable(pulledBy(commits, c))
	at := slices.IndexFunc(commits, func(other lake.Commit) bool { return other.Number == c.Number })
	if at > 0 {
		d.Before = q.Link(fmt.Sprintf("runs/%d", commits[at-1].Number))
	}
	if at+1 < len(commits) {
		d.Next = q.Link(fmt.Sprintf("runs/%d", commits[at+1].Number))
	}
	if len(c.Feeds) > 0 {
		from := lake.At(c.KnownAt.Add(-time.Microsecond))
		d.Changes = q.Link("changes?from=" + asof.Path(from) + "&to=" + asof.Path(c.KnownAt))
	}
	return nil
}

// removedSaid says how many files a commit removed, and their size.
func removedSaid(f FileChange) string {
	switch {
	case f.Removed == 0:
		return "0"
	case f.RemovedBytes < 0:
		return fmt.Sprintf("%d, their size is not known", f.Removed)
	}
	return fmt.Sprintf("%d, %s", f.Removed, words.Size(f.RemovedBytes))
}

func mainRun(q *frame.Request) (asof.Query, error) {
	number, err := strconv.ParseInt(q.Vars["commit"], 10, 64)
	if err != nil {
		return asof.Query{}, frame.Errorf(http.StatusNotFound, "an attempt without a commit has no table")
	}
	return asof.Query{Name: "run_feeds", Args: asof.Args{"commit": fmt.Sprint(number)}}, nil
}
