package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"dealflow/internal/advice"
	"dealflow/internal/attempts"
	"dealflow/internal/exitcode"
	"dealflow/internal/pull"
	"dealflow/internal/runlist"
	"dealflow/internal/watch"
	"dealflow/internal/words"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// Finding is something that a person should know: what it is, and the command that mends it.
type Finding struct {
	Kind     string `json:"kind"`     // one of Kinds()
	Severity string `json:"severity"` // problem or warning
	Feed     string `json:"feed"`     // "" if it is about the lake
	Reason   string `json:"reason"`
	Todo     string `json:"todo"`
}

// States of a lake. The severity of a finding is one of the last two.
const (
	OK      = "ok"
	Warning = "warning"
	Problem = "problem"
)

// kinds are all kinds of findings, with their severity. docs/reference/status.md explains them.
var kinds = map[string]string{
	"failed":     Problem,
	"empty":      Problem,
	"stale":      Problem,
	"held":       Problem,
	"refused":    Problem,
	"lost":       Problem,
	"damaged":    Problem,
	"unreadable": Problem,

	"partial":     Warning,
	"warned":      Warning,
	"check":       Warning,
	"drift":       Warning,
	"quarantine":  Warning,
	"unproved":    Warning,
	"catalog":     Warning,
	"schema":      Warning,
	"iceberg":     Warning,
	"maintenance": Warning,
	"waiting":     Warning,
	"lease":       Warning,
	"unjudged":    Warning,
	"watch":       Warning,
	"missed":      Warning,
}

// Kinds returns all kinds of findings, with their severity.
func Kinds() map[string]string { return maps.Clone(kinds) }

func (v *Verdict) add(kind, feed, todo, reason string, args ...any) {
	if len(args) > 0 {
		reason = fmt.Sprintf(reason, args...)
	}
	v.Findings = append(v.Findings, Finding{Kind: kind, Severity: kinds[kind], Feed: feed, Reason: reason, Todo: todo})
}

// conclude sorts the findings and sets the state.
func (v *Verdict) conclude() {
	slices.SortStableFunc(v.Findings, func(a, b Finding) int { return cmp.Compare(a.Severity, b.Severity) }) // "problem" is before "warning"
	v.State = OK
	if len(v.Findings) > 0 {
		v.State = v.Findings[0].Severity
	}
}

// DefaultMaxAge is a day, and two hours by which a night may take longer than the one before.
const DefaultMaxAge = 26 * time.Hour

// judge adds the findings and the state.
func (in *inspection) judge(s *Result) {
	s.Findings = []Finding{}
	in.judgeRuns(s)
	in.judgeAges(s)
	in.judgeFeeds(s)
	in.judgeLake(s)
	in.judgeWatch(s)
	for i := range s.Findings {
		s.Findings[i].Todo = advice.IfWritable(in.lake, s.Findings[i].Todo)
	}
	s.conclude()
}

// judgeRuns adds findings about the last attempts.
func (in *inspection) judgeRuns(s *Result) {
	rows := runlist.Merge(in.log.Commits, in.log, s.made)
	judged := map[string]bool{} // commands whose newest attempt was judged
	for i := range rows {
		r := &rows[i]
		t := r.Attempt
		switch {
		case judged[r.Command] || t != nil && (t.Outcome == attempts.OutcomeRunning || t.Outcome == lake.OutcomeSkipped):
			continue // a command that gave way says nothing about those before
		case r.Number > 0 || !t.Failed():
		case t.FoundDamage(): // addDamage
		case r.Command == lake.CommandRun || r.Command == lake.CommandSync && !judged[lake.CommandRun]:
			s.add("failed", "", advice.AfterAttempt(t), "%s", FailureText(t))
		case r.Command != lake.CommandSync:
			s.add("maintenance", "", advice.AfterAttempt(t), "%s", FailureText(t))
		}
		judged[r.Command] = true
	}
	s.addDamage(rows)
	last := s.LastSuccess
	if last == nil {
		return
	}
	for _, warning := range last.Warnings {
		s.add("warned", "", fmt.Sprintf("see `dealflow runs show %d`", last.Commit), "%s of commit %d warned: %s", last.Command, last.Commit, warning)
	}
}

// addDamage adds a finding for each verify that found what no later one has seen mended. rows are newest first.
func (s *Result) addDamage(rows []runlist.Row) {
	for _, d := range openDamage(rows) {
		flag, found := advice.ReadDataFlag(d.ReadData), "damage"
		if d.Findings > 0 {
			found = fmt.Sprintf("damage (findings: %d)", d.Findings)
		}
		s.add("damaged", "", "`dealflow verify"+flag+"` says for each finding what to do", "the verify%s that started at %s found %s, and none since has read as much and found none", flag, d.StartedAt, found)
	}
}

// openDamage returns what is not over after the newest verify that has ended.
func openDamage(rows []runlist.Row) []attempts.Damage {
	for i := range rows {
		if t := rows[i].Attempt; t != nil && t.Command == attempts.Verify && t.State == attempts.Ended {
			return t.OpenDamage()
		}
	}
	return nil
}

// FailureText says which attempt failed, when, and why.
func FailureText(t *attempts.Attempt) string {
	how := t.Outcome
	switch {
	case exitcode.WasHeld(t.ExitCode):
		how = fmt.Sprintf("was held (exit code %d) and committed nothing", *t.ExitCode)
	case t.ExitCode != nil:
		how = fmt.Sprintf("%s (exit code %d)", t.Outcome, *t.ExitCode)
	}
	return fmt.Sprintf("the last %s, started at %s, %s: %s", t.Command, t.StartedAt, how, cmp.Or(words.Reason(t.Error, t.RunID), "it said nothing"))
}

// judgeAges adds a finding for each feed whose snapshot is too old.
func (in *inspection) judgeAges(s *Result) {
	for i := range s.Feeds {
		if f := &s.Feeds[i]; f.SnapshotAt != nil {
			seconds := int64(in.Now.Sub(f.SnapshotAt.Time).Seconds())
			f.AgeSeconds = &seconds
		}
	}
	maxAge := in.MaxAge
	if maxAge == 0 && in.severalDays() {
		maxAge = DefaultMaxAge
	}
	if !in.Dated {
		if maxAge > 0 {
			s.add("unjudged", "", "name the source's time with `dealflow status --now`", "the ages of the feeds are not judged: with --clock=server the time of the runs is the source's")
		}
		return
	}
	s.MaxAgeSeconds = int64(maxAge.Seconds())
	stale := map[lake.Instant][]*Feed{} // by the instant of the snapshot
	for i := range s.Feeds {
		f := &s.Feeds[i]
		f.judged = maxAge > 0 && slices.Contains(in.Feeds, f.Feed)
		if f.AgeSeconds == nil || !f.judged || *f.AgeSeconds <= s.MaxAgeSeconds {
			continue
		}
		f.Stale = true
		stale[*f.SnapshotAt] = append(stale[*f.SnapshotAt], f)
	}
	// Most often no run came through, and all feeds are of the same one: that is one finding.
	for _, at := range slices.SortedFunc(maps.Keys(stale), func(a, b lake.Instant) int { return a.Compare(b.Time) }) {
		s.addStale(at, stale[at], maxAge)
	}
}

// addStale adds a finding for the feeds whose newest snapshot is that of one instant.
func (v *Verdict) addStale(at lake.Instant, feeds []*Feed, maxAge time.Duration) {
	names, why, one := make([]string, len(feeds)), "", ""
	held := true
	for i, f := range feeds {
		names[i] = f.Feed.String()
		held = held && f.Held != nil
		if f.LastFailure != nil && why == "" {
			why = fmt.Sprintf("; since then, at %s: %s: %s", f.LastFailure.StartedAt, f.LastFailure.Outcome, words.Reason(pull.HeldBy(f.LastFailure.Error), f.LastFailure.RunID))
		}
	}
	if len(feeds) == 1 {
		one = names[0]
	}
	todo := "see whether the schedule runs, then `dealflow run`"
	if held { // another run would be held, too
		todo = "do first what is said of the feeds that are held"
	}
	v.add("stale", one, todo, "the newest snapshot of %s is of %s, %s ago, want %s at most%s",
		strings.Join(names, ", "), at, words.Age(time.Duration(*feeds[0].AgeSeconds)*time.Second), words.Age(maxAge), why)
}

// severalDays says whether the lake has snapshots of more than one day.
func (in *inspection) severalDays() bool {
	day := ""
	for i := range in.log.Commits {
		switch next := in.log.Commits[i].SnapshotDate; {
		case next == "":
		case day != "" && next != day:
			return true
		default:
			day = next
		}
	}
	return false
}

// judgeFeeds adds findings about single feeds.
func (in *inspection) judgeFeeds(s *Result) {
	for i := range s.Feeds {
		f := &s.Feeds[i]
		name := f.Feed.String()
		if f.Held != nil {
			s.add("held", name, "look at the source; if the deals are gone, "+pull.RemovalCommand(advice.HeldDay(in.log, s.made, f.Held), f.Feed), "%s is held since %s: %s", name, f.Held.Since, pull.HeldBy(f.Held.Reason))
		}
		if f.UnprovedAbsent > 0 {
			s.add("unproved", name, "if they are gone, "+pull.RemovalCommand(max(f.SnapshotDate, in.log.SnapshotDay()), f.Feed)+" removes them",
				"%s: %d deals that its list lacks are kept, because the API gives no evidence that they are gone", name, f.UnprovedAbsent)
		}
		if f.Last == nil {
			continue
		}
		if f.Last.Outcome == lake.OutcomeFailed {
			s.add("partial", name, "`dealflow run` pulls it again", "%s failed: %s", name, f.Last.Error)
		}
		if f.Last.Quarantined > 0 {
			s.add("quarantine", name, "`dealflow quarantine list` shows them, `dealflow quarantine retry` requests them again", "%s: %d records could not be read", name, f.Last.Quarantined)
		}
	}
	in.judgeDrift(s)
}

// judgeDrift adds one finding for the new drift of all feeds: there is often some in many of them. What an earlier snapshot had
// is no news, and a warning that is there each night hides the others.
func (in *inspection) judgeDrift(s *Result) {
	values, example, newest := int64(0), "", int64(0)
	var names []string
	for i := range s.Feeds {
		feed := s.Feeds[i].Feed
		fresh, commit := in.newDrift(feed)
		if len(fresh) == 0 {
			continue
		}
		for _, d := range fresh {
			values += d.Count
		}
		names, newest = append(names, feed.String()), max(newest, commit)
		example = cmp.Or(example, fmt.Sprintf("%s at %s of %s", fresh[0].Kind, fresh[0].Pointer, feed))
	}
	if len(names) > 0 {
		s.add("drift", "", fmt.Sprintf("`dealflow runs show %d` lists it", newest), "%d values of %s are other than the API document says, in a way that no earlier snapshot had, such as %s", values, strings.Join(names, ", "), example)
	}
}

// newDrift returns the drift of a feed's newest complete snapshot and of the syncs since it that no snapshot before had, and
// the newest commit that has some of it.
func (in *inspection) newDrift(feed api.Feed) (fresh []lake.Drift, commit int64) {
	since := in.log.SinceSnapshot(feed)
	if len(since) == 0 {
		return nil, 0
	}
	first := slices.IndexFunc(in.log.Commits, func(c lake.Commit) bool { return c.Number == since[0].Number })
	for _, run := range since {
		for _, d := range lake.NewDrift(in.log.Commits[:first], feed, run.Feed(feed).Drift) {
			commit = run.Number
			if !slices.ContainsFunc(fresh, func(known lake.Drift) bool { return lake.CompareDrift(known, d) == 0 }) {
				fresh = append(fresh, d)
			}
		}
	}
	return fresh, commit
}

// judgeLake adds findings about the lake as a whole.
func (in *inspection) judgeLake(s *Result) {
	for i := range s.Lost {
		s.add("lost", "", advice.LostCommit, "%s, which %s", s.Lost[i].NamedCommit, s.Lost[i].Naming())
	}
	if s.Refused != "" {
		s.add("refused", "", "do what the reason says, then `dealflow run`", "the next run will be refused: %s", strings.ReplaceAll(s.Refused, "\n", "; "))
	}
	for _, c := range s.Checks {
		s.add("check", "", "look at the source; `dealflow query \"FROM data_quality()\"` says more", "check %s %s: %s", c.Name, c.Outcome, c.Detail)
	}
	if flaw := s.CatalogTrouble(); flaw != "" {
		s.add("catalog", "", "`dealflow catalog` builds it again", "catalog.duckdb is %s", flaw)
	}
	if s.OlderFiles > 0 {
		command := "dealflow replay"
		if s.olderSnapshots {
			command += " --snapshots"
		}
		s.add("schema", "", "`"+command+"` writes them again", "%d files are of an older schema", s.OlderFiles)
	}
	in.judgeTables(s)
	if n := len(s.Waiting); n > 0 {
		s.add("waiting", "", "the next `dealflow run` on this machine puts them", "%d attempts wait in the work folder, because the lake could not be written", n)
	}
	in.judgeLease(s)
}

// judgeLease adds a finding for the lease of a command that did not end well.
func (*inspection) judgeLease(s *Result) {
	if l := s.Lease; l != nil && l.State != load.LeaseHeld {
		s.add("lease", "", "nothing: no command waits for it; `dealflow lease break` removes it", "the lease of %s (run %s of %s) is %s: that command did not end well", l.Lease.Command, l.Lease.RunID, l.Lease.Owner, l.State)
	}
}

// judgeWatch adds findings about the watch.
func (in *inspection) judgeWatch(s *Result) {
	if s.Watch == nil {
		return
	}
	p := s.Watch.Watch
	switch s.Watch.State {
	case watch.Dead:
		s.add("watch", "", "see what ended the process (memory, a restart of the machine), then start `dealflow watch` again", "the watch of %s, last seen at %s, was killed", p.Owner, p.Beat)
	case watch.Silent:
		s.add("watch", "", "see whether its machine is up and reaches the store, then start `dealflow watch` again", "the watch of %s was last seen at %s", p.Owner, p.Beat)
	}
	week := lake.DateOf(in.Now.AddDate(0, 0, -7))
	recent := slices.DeleteFunc(slices.Clone(p.Missed), func(day string) bool { return day < week })
	failed, untried := watch.SplitMissed(recent, p.Tried)
	if len(failed) > 0 {
		s.add("missed", "", "see `dealflow runs`; a snapshot of the past cannot be taken", "all tries failed for the nights of %s: they have no complete snapshot", strings.Join(failed, ", "))
	}
	if len(untried) > 0 {
		s.add("missed", "", "see why no watch was at work; a snapshot of the past cannot be taken", "no run was made for the nights of %s: no watch was at work, or the machine slept", strings.Join(untried, ", "))
	}
}

// CatalogTrouble says why readers do not use the published catalog; "" if they do.
func (s *Result) CatalogTrouble() string {
	switch {
	case s.CatalogFlaw != "":
		return "not used: " + s.CatalogFlaw
	case s.CatalogCommit == 0:
		return "absent"
	case s.CatalogCommit < s.Commit:
		return fmt.Sprintf("%d commits older than the log", s.Commit-s.CatalogCommit)
	}
	return ""
}
