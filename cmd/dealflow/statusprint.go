package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"dealflow/internal/attempts"
	"dealflow/internal/status"
	"dealflow/internal/watch"
	"dealflow/internal/words"
	"dealflow/load"
	"dealflow/load/store"
)

func (a *app) printStatus(s *status.Result) error {
	fmt.Fprintf(a.Stdout, "state     %s\nlake      %s\ncommit    %d, %s\nknown at  %s (%s)\nsnapshot  %s\ncatalog   %s\nfiles     %d, %s\n",
		s.State, s.Lake, s.Commit, s.Outcome, s.KnownAt, words.Ago(time.Duration(s.AgeSeconds)*time.Second), s.SnapshotDate, cmp.Or(s.CatalogTrouble(), "up to date"), s.Files, words.Size(s.Bytes))
	if s.Iceberg.On {
		fmt.Fprintf(a.Stdout, "iceberg   %s\n", tablesText(&s.Iceberg, s.Commit))
	}
	a.printHistory(s)
	fmt.Fprintln(a.Stdout)
	for _, f := range s.Findings {
		a.printStatusFinding(f)
	}
	if len(s.Findings) > 0 {
		fmt.Fprintln(a.Stdout)
	}
	var rows [][]string
	for _, f := range s.Feeds {
		row := []string{f.Feed.String(), f.SnapshotDate, "never pulled", "", "", "", "", "", "", ""}
		if last := f.Last; last != nil {
			row = []string{f.Feed.String(), f.SnapshotDate, last.Outcome, "", fmt.Sprint(f.Deals), fmt.Sprint(last.Added), fmt.Sprint(last.Changed),
				fmt.Sprint(last.Removed), fmt.Sprint(last.Quarantined), fmt.Sprint(last.DriftCount())}
		}
		if f.AgeSeconds != nil {
			row[3] = words.Age(time.Duration(*f.AgeSeconds) * time.Second)
		}
		rows = append(rows, row)
	}
	return printTable(a.Stdout, []string{"feed", "snapshot", "last", ">age", ">deals", ">new", ">changed", ">removed", ">quarantined", ">drift"}, rows)
}

func (a *app) printStatusFinding(f status.Finding) {
	fmt.Fprintf(a.Stdout, "%s: %s: %s; to do: %s\n", f.Severity, f.Kind, words.Printable(f.Reason), f.Todo)
}

// printHistory prints what became of the commands on the lake.
func (a *app) printHistory(s *status.Result) {
	if l := s.LastSuccess; l != nil {
		fmt.Fprintf(a.Stdout, "success   %s of commit %d, %s, %s\n", l.Command, l.Commit, l.Outcome, words.Ago(time.Duration(l.AgeSeconds)*time.Second))
	}
	failure := "none recorded"
	if f := s.LastFailure; f != nil {
		state := "over: a later one succeeded"
		if f.Open {
			state = "not over"
		}
		failure = fmt.Sprintf("%s of %s, %s, %s: %s", f.Command, f.StartedAt, f.Outcome, state, words.Reason(f.Error, f.RunID))
	}
	verify := "none recorded"
	if v := s.LastVerify; v != nil {
		verify = fmt.Sprintf("%s, %s", v.StartedAt, v.Outcome)
	}
	work := "no command"
	if s.Lease != nil && s.Lease.State == load.LeaseHeld {
		work = fmt.Sprintf("%s (run %s of %s)", s.Lease.Lease.Command, s.Lease.Lease.RunID, words.Printable(s.Lease.Lease.Owner))
	}
	fmt.Fprintf(a.Stdout, "failure   %s\nverify    %s\nat work   %s\nnext run  %s\n", failure, verify, work, nextRunText(s))
	if w := s.Watch; w != nil {
		fmt.Fprintf(a.Stdout, "watch     %s\n", watchText(w))
	}
	if n := int64(len(s.Nights)); n > 0 {
		var sum status.Night
		for _, night := range s.Nights {
			sum.Seconds += night.Seconds
			sum.Requests += night.Requests
			sum.BytesReceived += night.BytesReceived
			sum.Bytes += night.Bytes
		}
		fmt.Fprintf(a.Stdout, "nights    the last %d on average: %.1f s, %d requests, %s received, %s added\n", n, sum.Seconds/float64(n), sum.Requests/n, words.Size(sum.BytesReceived/n), words.Size(sum.Bytes/n))
	}
}

// watchText says which watch is at work, or was.
func watchText(w *status.Watch) string {
	p := w.Watch
	text := fmt.Sprintf("%s: %s, since %s, last seen at %s", w.State, words.Printable(p.Owner), p.Since, p.Beat)
	switch {
	case w.State == watch.Stopped:
		return fmt.Sprintf("%s at %s: %s", w.State, p.Ended, words.Printable(p.Owner))
	case w.State == watch.Alive && len(p.Next) > 0:
		for _, next := range p.Next {
			text += fmt.Sprintf("; %s at %s", next.Command, next.At)
		}
	}
	return text
}

func nextRunText(s *status.Result) string {
	if s.Refused != "" {
		return "will be refused"
	}
	return fmt.Sprintf("is not refused, unless its clock shows less than %s", s.RefusedBefore)
}

// unreadable returns what can be said of a lake that cannot be read.
func (a *app) unreadable(where store.Store, now time.Time, reason error) *status.Unknown {
	waiting, err := attempts.Waiting(a.settings.workDir, a.lakeIdentity(where))
	if err != nil {
		reason = errors.Join(reason, err)
	}
	return status.Unreadable(where.URL(), waiting, now, reason)
}

// emptyStatus is unreadable for a place without a commit. reason says that there is no lake.
func (a *app) emptyStatus(ctx context.Context, where store.Store, reason error) *status.Unknown {
	cfg, err := a.settledStatus()
	if err == nil {
		var s *status.Result
		if s, err = status.InspectEmpty(ctx, where, cfg); err == nil {
			return s.Empty()
		}
	}
	return a.unreadable(where, a.Now(), errors.Join(reason, err))
}

// printUnknown prints what can be said of a lake that cannot be read, and returns the reason.
func (a *app) printUnknown(where store.Store, now time.Time, reason error) error {
	u := a.unreadable(where, now, reason)
	if a.settings.json {
		return errors.Join(reason, printJSON(a.Stdout, u))
	}
	a.printWaiting(u.Waiting)
	return reason
}

// printWaiting prints the attempts that only this machine knows.
func (a *app) printWaiting(waiting []status.Attempt) {
	for i := range waiting {
		w := &waiting[i]
		fmt.Fprintf(a.Stdout, "known here: %s of %s, %s: %s\n", w.Command, w.StartedAt, w.Outcome, words.Reason(w.Error, w.RunID))
	}
}

// printEmpty prints what is known of a place without a commit, and returns that there is no lake: the finding says what
// to do.
func (a *app) printEmpty(ctx context.Context, where store.Store, cfg status.Config, reason error) error {
	s, err := status.InspectEmpty(ctx, where, cfg)
	if err != nil {
		return errors.Join(reason, err)
	}
	reason = fmt.Errorf("%w: %s has no commit", load.ErrNoLake, where.URL())
	if a.settings.json {
		return errors.Join(reason, printJSON(a.Stdout, s.Empty()))
	}
	a.printWaiting(s.Waiting)
	for _, f := range s.Findings {
		a.printStatusFinding(f)
	}
	return reason
}

// tablesText says in short what the Iceberg tables show, where they are on.
func tablesText(s *status.Tables, newest int64) string {
	if s.BehindSince == nil {
		return "up to date"
	}
	return fmt.Sprintf("the tables show commit %d of %d", s.Commit, newest)
}
