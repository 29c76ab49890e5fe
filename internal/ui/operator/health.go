package operator

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"dealflow/internal/chart"
	"dealflow/internal/ui/asof"
	"dealflow/internal/ui/frame"
	"dealflow/internal/ui/grid"
	"dealflow/internal/words"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Health is what `dealflow status` says of a lake.
type Health struct {
	Now      time.Time
	MaxAge   time.Duration // greatest age of a feed's snapshot that is no problem; 0: ages are not judged
	Findings []Finding     // problems first
	Feeds    []FeedHealth  // of the lake
	Attempts []Run         // the last ones, newest first
	Checks   []lake.Check  // of the last pull
	Size     []frame.Fact  // what the lake has grown to, and the state of its catalog

	Quarantine     []Quarantined // records that the last pulls of their feeds could not read
	QuarantineFlaw string        // why Quarantine is not known; "" if it is
}

// Quarantined is a record in quarantine.
type Quarantined struct {
	ID     string // of the record, for `dealflow quarantine show`
	Feed   api.Feed
	DealID *int64 // nil if it cannot be read
	Reason string
	Detail string
	Bytes  int64

	ObservedAt time.Time // by the first of those pulls that met it
}

// Finding is something that a person should know.
type Finding struct {
	Kind     string `json:"kind"` // of docs/reference/status.md
	Severity string `json:"severity"`
	Feed     string `json:"feed"`
	Reason   string `json:"reason"`
	Todo     string `json:"todo"` // with the command in backquotes

	Details []string `json:"details,omitempty"` // lines: what a check found
	RunID   string   `json:"run_id,omitempty"`  // of the attempt that it is about
}

// FeedHealth is the state of a feed.
type FeedHealth struct {
	Feed       api.Feed
	Deals      int64
	SnapshotAt time.Time // zero for none
	KnownAt    time.Time // of the newest run or sync; zero for none
	Stale      bool
	Held       bool
	Night      *lake.FeedRun // what the newest snapshot brought; nil for none
	Last       *lake.FeedRun // the newest pull, also if it failed; nil for none
}

// The verdicts, the worst first.
const (
	verdictFailed  = "failed"
	verdictHeld    = "held"
	verdictStale   = "stale"
	verdictPartial = "partial"
	verdictWarned  = "warned"
	verdictGood    = "good"
)

var verdicts = []string{verdictFailed, verdictHeld, verdictStale, verdictPartial, verdictWarned, verdictGood}

// verdictOf is the verdict of a finding by its kind. All others are warnings.
var verdictOf = map[string]string{
	"failed": verdictFailed, "refused": verdictFailed, "lost": verdictFailed, "damaged": verdictFailed, "unreadable": verdictFailed,
	"held": verdictHeld, "stale": verdictStale, "empty": verdictStale, "partial": verdictPartial,
}

// Verdict is the state in one word: that of the worst finding.
func (h *Health) Verdict() string {
	worst := verdictGood
	for _, f := range h.Findings {
		if v := cmp.Or(verdictOf[f.Kind], verdictWarned); slices.Index(verdicts, v) < slices.Index(verdicts, worst) {
			worst = v
		}
	}
	return worst
}

// verdictMarks are the mark and the colour of each verdict.
var verdictMarks = map[string]struct{ Mark, Class string }{
	verdictFailed: {"✖", "bad"}, verdictHeld: {"■", "bad"}, verdictStale: {"◷", "bad"}, verdictPartial: {"◐", "warn"}, verdictWarned: {"▲", "warn"}, verdictGood: {"✔", "ok"},
}

// kindSaid is what the page says first, by the kind of the worst finding.
var kindSaid = map[string]string{
	"failed": "A run or a sync failed, and committed nothing.", "refused": "The next run will be refused.", "lost": "The lake has lost a commit.",
	"damaged": "The lake is damaged.", "unreadable": "The lake cannot be read.",
	"stale": "The newest snapshot is too old.", "empty": "There is no snapshot yet.", "partial": "Some feeds are missing from the last run.",
}

// said is what the page says first.
func (h *Health) said() string {
	verdict, feeds := h.Verdict(), int64(0)
	for _, f := range toShow(h.Findings) {
		switch {
		case cmp.Or(verdictOf[f.Kind], verdictWarned) != verdict:
		case f.Kind != "held":
			return cmp.Or(kindSaid[f.Kind], "The last run is complete, with warnings.")
		case f.Feed == "":
			return "A run waits for a person: it committed nothing."
		default:
			feeds += int64(strings.Count(f.Feed, ",") + 1)
		}
	}
	if feeds > 0 {
		return grid.Plural(feeds, "feed waits", "feeds wait") + " for a person."
	}
	return "The last run is complete."
}

// unreadable is the health of a lake that cannot be read any more.
func unreadable(err error) *Health {
	return &Health{
		Findings:       []Finding{{Kind: "unreadable", Severity: "problem", Reason: err.Error(), Todo: "`dealflow doctor` tries the store; `dealflow verify` says what is damaged"}},
		QuarantineFlaw: err.Error(),
	}
}

// Limits of the page: what is beyond them is on the pages that it leads to.
const (
	attemptsShown    = 14
	driftShown       = 50
	quarantinedShown = 20
	nightsShown      = 30 // of the chart, and of each feed
)

type healthData struct {
	Verdict, Mark, Class string
	Known                bool // it says what is so now
	Findings             []findingView
	Feeds                *grid.Table
	Chart                *chart.Drawing
	Attempts             []attemptView
	Checks               *grid.Table
	Drift                *grid.Table
	DriftSaid            string
	DriftNew             bool // some of it is new: the table is open
	Quarantine           *grid.Table
	QuarantineSaid       string // of what the table does not have; "" for nothing
	QuarantineFlaw       string // as of Health
	Commit               int64  // of the last pull
	Run, Quality         string // addresses of its page, and of the analysis of the data
	Size                 []frame.Fact
	MaxAge               string
}

// findingView is a finding with its command apart, to be copied.
type findingView struct {
	Finding
	Commands []string
	Lines    [][]frame.Choice // Details in parts; those that are deals have an address
	Attempt  string           // address of the attempt's page; "" for none
}

type attemptView struct {
	Mark, Class, Command, Outcome, At, Said, Link string
}

func (s *source) showHealth(q *frame.Request) (*frame.Content, error) {
	data := &healthData{}
	c := &frame.Content{Title: "Health", Template: "health", Data: data}
	feeds, err := q.Ask(asof.Query{Name: "feeds"})
	if err != nil {
		return nil, err
	}
	last := lastPull(q.View.Commits())
	if last == nil {
		c.Lead = q.Empty("The lake has no snapshot yet: dealflow run takes the first one.")
	} else {
		data.addPull(q, c, last)
	}
	switch {
	case !q.View.Pinned():
		err = s.addNow(q, c, data, last, feeds)
	case last != nil:
		data.Feeds = feedsThen(q, feeds, lastKnown(q.View.Commits()))
		data.Checks = checksTable(last.Checks)
	}
	return c, err
}

// addPull adds what the last pull said, and the nights before it.
func (data *healthData) addPull(q *frame.Request, c *frame.Content, last *lake.Commit) {
	sums := sumsOf(last)
	what, deals := capital(last.Command), grid.Plural(sums.deals, "deal", "deals")
	if last.SnapshotDate != "" {
		what += " of " + last.SnapshotDate
	} else { // it has read what changed, not all deals of its feeds
		deals += " read"
	}
	c.Lead = fmt.Sprintf("%s, known %s: %d of %s, %s; %s new, %s changed, %s removed, %s quarantined%s.", what, grid.LongTime(last.KnownAt), sums.done,
		grid.Plural(int64(len(last.Feeds)), "feed", "feeds"), deals, chart.Count(sums.added), chart.Count(sums.changed), chart.Count(sums.removed), chart.Count(sums.quarantined), checksSaid(last.Checks))
	data.Commit, data.Run, data.Quality = last.Number, q.Link(fmt.Sprintf("runs/%d", last.Number)), q.Link("analyses/data_quality")
	data.Chart = nightsChart(q.View.Commits())
	data.Drift, data.DriftSaid, data.DriftNew = driftTable(sinceSnapshots(q.View.Commits()))
}

// addNow adds what is so now. last is the last pull, nil for none; feeds are those that statements know, for a lake that cannot be
// read any more.
func (s *source) addNow(q *frame.Request, c *frame.Content, data *healthData, last *lake.Commit, feeds *asof.Answer) error {
	h, err := s.Health(q.Ctx)
	if cause := context.Cause(q.Ctx); err != nil && cause != nil {
		return cause // the page took too long, or its reader has gone: that says nothing of the lake
	}
	if err != nil {
		h = unreadable(err)
		c.Status = http.StatusServiceUnavailable
	}
	data.Known, data.Verdict = true, h.Verdict()
	mark := verdictMarks[data.Verdict]
	data.Mark, data.Class = mark.Mark, mark.Class
	if last != nil && (data.Verdict == verdictFailed || data.Verdict == verdictHeld) {
		c.Lead = "Committed last: " + strings.ToLower(c.Lead[:1]) + c.Lead[1:] // the run of the verdict may have committed nothing
	}
	c.Lead = h.said() + " " + c.Lead
	for _, f := range toShow(h.Findings) {
		commands := commandsIn(f.Todo)
		f.Todo = strings.ReplaceAll(f.Todo, "`", "")
		view := findingView{Finding: f, Commands: commands}
		for _, line := range f.Details {
			view.Lines = append(view.Lines, linkedDeals(line, q.DealLink))
		}
		if plainID.MatchString(f.RunID) {
			view.Attempt = q.Link("runs/" + f.RunID)
		}
		data.Findings = append(data.Findings, view)
	}
	for i := range h.Attempts[:min(len(h.Attempts), attemptsShown)] {
		data.Attempts = append(data.Attempts, viewOf(q, &h.Attempts[i]))
	}
	data.Size = h.Size
	if last == nil {
		return nil
	}
	if data.Feeds = feedsNow(q, h); err != nil {
		data.Feeds, h.Checks = feedsThen(q, feeds, lastKnown(q.View.Commits())), last.Checks // which the explorer has read before
	}
	data.Checks = checksTable(h.Checks)
	data.Quarantine, data.QuarantineSaid = quarantineTable(q, h.Quarantine)
	data.QuarantineFlaw = h.QuarantineFlaw
	if h.MaxAge > 0 {
		data.MaxAge = fmt.Sprintf("%d h", int(h.MaxAge.Hours()))
	}
	return nil
}

// toShow returns findings in the order of their verdicts, the worst first. Those of several feeds that ask for the same are one, with a line
// for each feed; a command that names its feed names all of them.
func toShow(findings []Finding) (shown []Finding) {
	type alike struct{ kind, run, todo string }
	const feeds = "\x00" // in todo, where the names of feeds are
	places := map[alike]int{}
	for _, f := range findings {
		key := alike{f.Kind, f.RunID, f.Todo}
		if f.Feed != "" {
			key.todo = strings.ReplaceAll(f.Todo, f.Feed, feeds)
		}
		at, isKnown := places[key]
		if !isKnown || f.Feed == "" {
			if f.Feed != "" {
				places[key] = len(shown)
			}
			shown = append(shown, f)
			continue
		}
		first := &shown[at]
		if len(first.Details) == 0 {
			first.Details = []string{first.Reason}
		}
		first.Details = append(slices.Clone(first.Details), f.Reason)
		first.Reason = grid.Plural(int64(len(first.Details)), "feed", "feeds")
		first.Feed += "," + f.Feed
		first.Todo = strings.ReplaceAll(key.todo, feeds, first.Feed)
	}
	rank := func(f Finding) int { return slices.Index(verdicts, cmp.Or(verdictOf[f.Kind], verdictWarned)) }
	slices.SortStableFunc(shown, func(a, b Finding) int { return cmp.Compare(rank(a), rank(b)) })
	return shown
}

// plainID is the form of the ids of runs.
var plainID = regexp.MustCompile(`^[0-9a-f-]+$`)

// dealsSaid finds feeds, and the deals that a check names of the feed before them.
var dealsSaid = regexp.MustCompile(`\b(bond|loan)/([a-z]{2})/(priced|expected)\b|(?:deals, such as|\(such as deal) (\d+(?:, \d+)*)`)

// linkedDeals splits what a check found into parts. The deals that it names lead to their pages.
func linkedDeals(line string, address func(service, market, kind string, id int64) string) (parts []frame.Choice) {
	var feed []string
	from := 0
	for _, at := range dealsSaid.FindAllStringSubmatchIndex(line, -1) {
		if at[8] < 0 {
			feed = []string{line[at[2]:at[3]], line[at[4]:at[5]], line[at[6]:at[7]]}
			continue
		}
		if feed == nil {
			continue
		}
		for i, number := range strings.Split(line[at[8]:at[9]], ", ") {
			if i == 0 {
				parts = append(parts, frame.Choice{Text: line[from:at[8]]})
			} else {
				parts = append(parts, frame.Choice{Text: ", "})
			}
			id, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				parts = append(parts, frame.Choice{Text: number})
				continue
			}
			parts = append(parts, frame.Choice{Text: number, Address: address(feed[0], feed[1], feed[2], id)})
		}
		from = at[9]
	}
	return append(parts, frame.Choice{Text: line[from:]})
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// commandsIn returns the command lines that a text has in backquotes, if they are plain: they are made to be copied.
func commandsIn(todo string) (commands []string) {
	for i, part := range strings.Split(todo, "`") {
		plain := !strings.ContainsFunc(part, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789 _/=,.\"()", r) && (r < 'A' || r > 'Z') && r != '-'
		})
		if i%2 == 1 && plain && strings.HasPrefix(part, "dealflow ") {
			commands = append(commands, part)
		}
	}
	return commands
}

// lastPull returns the newest commit that pulled a feed; nil for none.
func lastPull(commits []lake.Commit) *lake.Commit {
	for i := len(commits) - 1; i >= 0; i-- {
		if len(commits[i].Feeds) > 0 {
			return &commits[i]
		}
	}
	return nil
}

// checksSaid says how many checks passed; "" if there were none.
func checksSaid(checks []lake.Check) string {
	if len(checks) == 0 {
		return ""
	}
	passed := 0
	for i := range checks {
		if checks[i].Outcome == lake.CheckPassed {
			passed++
		}
	}
	return fmt.Sprintf(", %d of %s passed", passed, grid.Plural(int64(len(checks)), "check", "checks"))
}

type sums struct{ deals, added, changed, removed, reappeared, quarantined, done int64 }

func sumsOf(c *lake.Commit) (s sums) {
	for i := range c.Feeds {
		f := &c.Feeds[i]
		s.deals += f.Deals
		s.added += f.Added
		s.changed += f.Changed
		s.removed += f.Removed
		s.reappeared += f.Reappeared
		s.quarantined += f.Quarantined
		if f.Outcome == lake.OutcomeDone {
			s.done++
		}
	}
	return s
}

// nightsChart draws what the last runs that took a snapshot brought.
func nightsChart(commits []lake.Commit) *chart.Drawing {
	c := &chart.Chart{
		Title: "Versions by night", Desc: "Vertical bars: the deals that each of the last nights found new, changed or removed.", Unit: "versions",
		Series: chart.Changes("new")[:3],
	}
	var nights []*lake.Commit
	for i := len(commits) - 1; i >= 0 && len(nights) < nightsShown; i-- {
		if commits[i].SnapshotDate != "" {
			nights = append(nights, &commits[i])
		}
	}
	slices.Reverse(nights)
	if len(nights) > 1 && nights[0].Number == 1 {
		nights = nights[1:] // the first commit has every deal: its bar would hide the others
	}
	for _, night := range nights {
		s := sumsOf(night)
		c.Categories = append(c.Categories, night.SnapshotDate[5:])
		for i, n := range []int64{s.added + s.reappeared, s.changed, s.removed} {
			c.Series[i].Values = append(c.Series[i].Values, float64(n))
		}
	}
	if !c.HasValues() {
		return nil
	}
	return chart.Both(func(narrow bool) *chart.Drawing {
		c.Narrow = narrow
		return chart.Stacked(c)
	})
}

func checksTable(checks []lake.Check) *grid.Table {
	t := &grid.Table{Caption: "Checks", Columns: grid.Columns("check", "severity", "outcome", ">found", "what")}
	for _, c := range checks {
		outcome := grid.Cell{Text: c.Outcome, Class: map[string]string{lake.CheckPassed: "ok", lake.CheckHeld: "bad"}[c.Outcome]}
		if c.Outcome != lake.CheckPassed && outcome.Class == "" {
			outcome.Class = "warn"
		}
		t.Add(grid.Cell{Text: c.Name}, grid.Cell{Text: c.Severity}, outcome, grid.Whole(c.Count), grid.Words(c.Detail))
	}
	return t
}

// pulled is what a commit brought of a feed, and the commits that know no more than what was there before.
type pulled struct {
	*lake.FeedRun
	before []lake.Commit
}

// pulledBy returns what a commit brought.
func pulledBy(commits []lake.Commit, c *lake.Commit) (all []pulled) {
	before := commits[:sort.Search(len(commits), func(i int) bool { return commits[i].Number >= c.Number })]
	for i := range c.Feeds {
		all = append(all, pulled{&c.Feeds[i], before})
	}
	return all
}

// sinceSnapshots returns what the newest snapshot of each feed brought, and what the syncs since it did, as the finding drift of
// `dealflow status` counts them.
func sinceSnapshots(commits []lake.Commit) (all []pulled) {
	for _, feed := range api.Feeds() {
		var runs []*lake.FeedRun // newest first
		for i, c := range slices.Backward(commits) {
			f := c.Feed(feed)
			if f == nil || f.Outcome != lake.OutcomeDone {
				continue
			}
			runs = append(runs, f)
			if c.SnapshotDate != "" {
				for _, run := range slices.Backward(runs) {
					all = append(all, pulled{run, commits[:i]})
				}
				break
			}
		}
	}
	return all
}

// driftTable lists what values are other than the API document says, and says how much of it is new, and whether any is. New ones are first, then the
// most frequent. Of a place that several pulls of a feed have, the first counts.
func driftTable(pulls []pulled) (t *grid.Table, said string, isAnyNew bool) {
	t = &grid.Table{Caption: "Drift", Columns: grid.Columns("feed", "pointer", "kind", "new", ">values", "example")}
	type pair struct {
		feed  api.Feed
		drift lake.Drift
		fresh bool
	}
	var all []pair
	count := 0 // of new ones
	for _, f := range pulls {
		fresh := lake.NewDrift(f.before, f.Feed, f.Drift)
		for _, d := range f.Drift {
			if slices.ContainsFunc(all, func(p pair) bool { return p.feed == f.Feed && lake.CompareDrift(p.drift, d) == 0 }) {
				continue
			}
			isNew := slices.Contains(fresh, d)
			all = append(all, pair{f.Feed, d, isNew})
			if isNew {
				count++
			}
		}
	}
	slices.SortStableFunc(all, func(a, b pair) int {
		if a.fresh != b.fresh {
			if a.fresh {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.drift.Count, a.drift.Count)
	})
	for _, p := range all[:min(len(all), driftShown)] {
		mark := grid.Cell{}
		if p.fresh {
			mark = grid.Cell{Text: "new", Class: "warn", Title: "no snapshot before had it"}
		}
		t.Add(grid.Cell{Text: p.feed.String()}, grid.Words(p.drift.Pointer), grid.Cell{Text: string(p.drift.Kind)}, mark, grid.Whole(p.drift.Count), grid.Words(p.drift.Example))
	}
	said = fmt.Sprintf("%s, %s of them new.", grid.Plural(int64(len(all)), "place", "places"), cmp.Or(strings.TrimPrefix(chart.Count(int64(count)), "0"), "none"))
	if len(all) > driftShown {
		said += fmt.Sprintf(" The table has the first %d.", driftShown)
	}
	return t, said, count > 0
}

// quarantineTable lists records in quarantine, and says what it leaves out.
func quarantineTable(q *frame.Request, records []Quarantined) (t *grid.Table, said string) {
	t = &grid.Table{Caption: "Quarantine", Sticky: 1, Columns: grid.Columns("feed", ">deal", "reason", "detail", ">size", "observed", "its bytes")}
	for i := range records[:min(len(records), quarantinedShown)] {
		r := &records[i]
		deal := grid.Cell{Text: chart.None, Title: "its id cannot be read", Null: true}
		if r.DealID != nil {
			deal = grid.Cell{Text: fmt.Sprint(*r.DealID), Link: q.Link(fmt.Sprintf("deals?q=%d", *r.DealID))} // no version of it may be known
		}
		t.Add(feedCell(q, r.Feed), deal, grid.Cell{Text: r.Reason}, grid.Words(r.Detail), grid.Cell{Text: words.Size(r.Bytes)}, grid.Moment(r.ObservedAt), grid.Cell{Text: r.ID, Link: q.Link("quarantine/" + r.ID), Title: "dealflow quarantine show " + r.ID})
	}
	if len(records) > quarantinedShown {
		said = fmt.Sprintf("%s; the table has the first %d, and dealflow quarantine list has all.", grid.Plural(int64(len(records)), "record", "records"), quarantinedShown)
	}
	return t, said
}

// showRecord answers with the exact bytes of a record in quarantine, as a file: a browser never reads them as a page.
func (s *source) showRecord(q *frame.Request) (*frame.Content, error) {
	id := q.Vars["record"]
	if q.View.Pinned() {
		return nil, frame.Errorf(http.StatusNotFound, "What is in quarantine is told as of now alone.")
	}
	if !plainID.MatchString(id) {
		return nil, frame.Errorf(http.StatusNotFound, "No record has such an id.")
	}
	data, err := s.Record(q.Ctx, id)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return nil, frame.Errorf(http.StatusNotFound, "No record %s is in quarantine.", id)
	}
	return &frame.Content{File: &frame.File{Name: "record-" + id + ".txt", Type: "text/plain; charset=utf-8", Data: data}}, nil
}

// nightsOf draws how many deals the last snapshots of a feed had. A night without a snapshot of it is a gap.
func nightsOf(commits []lake.Commit, feed api.Feed) grid.Cell {
	var values []float64
	lo, hi := int64(math.MaxInt64), int64(0)
	day := ""
	for i, c := range slices.Backward(commits) {
		if c.SnapshotDate == "" {
			continue
		}
		if c.SnapshotDate != day { // a day may be pulled again, or feed by feed: its newest snapshot of the feed counts
			if len(values) == nightsShown {
				break
			}
			day, values = c.SnapshotDate, append(values, math.NaN())
		}
		f, night := commits[i].Feed(feed), &values[len(values)-1]
		if f == nil || f.Outcome != lake.OutcomeDone || !math.IsNaN(*night) {
			continue
		}
		*night = float64(f.Deals)
		lo, hi = min(lo, f.Deals), max(hi, f.Deals)
	}
	slices.Reverse(values)
	drawing := chart.Spark(
		fmt.Sprintf("%s: deals of the last %d nights, %s to %s", feed, len(values), chart.Count(lo), chart.Count(hi)),
		"A line through the number of deals of each night, the newest last. The axis begins at the least of them.", values)
	if drawing == nil {
		return grid.Cell{Text: chart.None, Title: "fewer than two nights", Null: true}
	}
	return grid.Cell{Drawing: drawing}
}

// lastKnown returns a function that says when a feed was last known: of its newest run or sync, not of its snapshot.
func lastKnown(commits []lake.Commit) func(asof.Row, api.Feed) grid.Cell {
	return func(_ asof.Row, feed api.Feed) grid.Cell {
		for i := range slices.Backward(commits) {
			if f := commits[i].Feed(feed); f != nil && f.Outcome == lake.OutcomeDone {
				return grid.Moment(commits[i].KnownAt.Time)
			}
		}
		return grid.Moment(time.Time{})
	}
}

// feedsNow lists the feeds with their ages, and what the newest snapshot of each brought.
func feedsNow(q *frame.Request, h *Health) *grid.Table {
	t := &grid.Table{Caption: "Feeds", Sticky: 1, Columns: grid.Columns("feed", "snapshot", "known", ">deals", ">new", ">changed", ">removed", ">quarantined", "state", ">extract", ">write", "30 nights")}
	for i := range h.Feeds {
		f := &h.Feeds[i]
		if f.Last == nil {
			continue
		}
		state := grid.Cell{Text: f.Last.Outcome, Class: "ok"}
		switch {
		case f.Held:
			state = grid.Cell{Text: "held", Class: "bad"}
		case f.Stale:
			state = grid.Cell{Text: "stale", Class: "bad"}
		case f.Last.Outcome != lake.OutcomeDone:
			state.Class = "warn"
		}
		age := func(at time.Time) grid.Cell {
			c := grid.Moment(at)
			if !at.IsZero() {
				c.Text = grid.Ago(h.Now.Sub(at))
				c.Title = grid.LongTime(lake.At(at))
			}
			return c
		}
		night := cmp.Or(f.Night, f.Last)
		t.Add(feedCell(q, f.Feed), age(f.SnapshotAt), age(f.KnownAt), grid.Whole(f.Deals), grid.Whole(night.Added+night.Reappeared), grid.Whole(night.Changed), grid.Whole(night.Removed),
			grid.Whole(night.Quarantined), state, seconds(night.ExtractMS), seconds(night.WriteMS), nightsOf(q.View.Commits(), f.Feed))
	}
	return t
}

// seconds returns milliseconds as a cell.
func seconds(ms int64) grid.Cell { return grid.Cell{Text: fmt.Sprintf("%.1f s", float64(ms)/1000)} }

func feedCell(q *frame.Request, feed api.Feed) grid.Cell {
	return grid.Cell{Text: feed.String(), Link: q.Link(fmt.Sprintf("deals?service=%s&market=%s&kind=%s", feed.Service, feed.Market, feed.Kind))}
}

// feedsThen lists the feeds as they were known at the instant. known gives the column of that name.
func feedsThen(q *frame.Request, found *asof.Answer, known func(asof.Row, api.Feed) grid.Cell) *grid.Table {
	t := &grid.Table{Caption: "Feeds", Sticky: 1, Columns: grid.Columns("feed", "snapshot", "known", ">deals", ">new", ">changed", ">removed", ">quarantined", "state", "30 nights")}
	for _, r := range found.All() {
		feed := api.Feed{Service: api.Service(r.Text("service")), Market: api.Market(r.Text("market")), Kind: api.Kind(r.Text("kind"))}
		t.Add(feedCell(q, feed), grid.Day(r.Cell("snapshot_date")), known(r, feed), grid.Whole(r.Int("deals")),
			grid.Whole(r.Int("added")+r.Int("reappeared")), grid.Whole(r.Int("changed")), grid.Whole(r.Int("removed")), grid.Whole(r.Int("quarantined")), grid.Cell{Text: r.Text("outcome")}, nightsOf(q.View.Commits(), feed))
	}
	return t
}

// showFeeds is the table of feeds as a page of its own, which downloads come from.
func showFeeds(q *frame.Request) (*frame.Content, error) {
	found, err := q.Ask(asof.Query{Name: "feeds"})
	if err != nil {
		return nil, err
	}
	return &frame.Content{Title: "Feeds", Lead: "The newest snapshot of each feed.", Template: "list", Data: frame.List{Table: feedsThen(q, found, func(r asof.Row, _ api.Feed) grid.Cell { return grid.MomentOf(r.Cell("known_at")) }), Empty: q.Empty("No feed has a snapshot.")}}, nil
}

func mainFeeds(*frame.Request) (asof.Query, error) { return asof.Query{Name: "feeds"}, nil }
