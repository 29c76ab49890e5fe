package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"dealflow/internal/attempts"
	"dealflow/internal/watch"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

func (a *app) printStatus(s *statusResult) error {
	fmt.Fprintf(a.Stdout, "state     %s\nlake      %s\ncommit    %d, %s\nknown at  %s (%s)\nsnapshot  %s\ncatalog   %s\nfiles     %d, %s\n",
		s.State, s.Lake, s.Commit, s.Outcome, s.KnownAt, ago(time.Duration(s.AgeSeconds)*time.Second), s.SnapshotDate, cmp.Or(catalogFlaw(s), "up to date"), s.Files, size(s.Bytes))
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
			row[3] = age(time.Duration(*f.AgeSeconds) * time.Second)
		}
		rows = append(rows, row)
	}
	return printTable(a.Stdout, []string{"feed", "snapshot", "last", ">age", ">deals", ">new", ">changed", ">removed", ">quarantined", ">drift"}, rows)
}

func (a *app) printStatusFinding(f finding) {
	fmt.Fprintf(a.Stdout, "%s: %s: %s; to do: %s\n", f.Severity, f.Kind, printable(f.Reason), f.Todo)
}

// printHistory prints what became of the commands on the lake.
func (a *app) printHistory(s *statusResult) {
	if l := s.LastSuccess; l != nil {
		fmt.Fprintf(a.Stdout, "success   %s of commit %d, %s, %s\n", l.Command, l.Commit, l.Outcome, ago(time.Duration(l.AgeSeconds)*time.Second))
	}
	failure := "none recorded"
	if f := s.LastFailure; f != nil {
		state := "over: a later one succeeded"
		if f.Open {
			state = "not over"
		}
		failure = fmt.Sprintf("%s of %s, %s, %s: %s", f.Command, f.StartedAt, f.Outcome, state, reasonLine(f.Error, f.RunID))
	}
	verify := "none recorded"
	if v := s.LastVerify; v != nil {
		verify = fmt.Sprintf("%s, %s", v.StartedAt, v.Outcome)
	}
	work := "no command"
	if s.Lease != nil && s.Lease.State == load.LeaseHeld {
		work = fmt.Sprintf("%s (run %s of %s)", s.Lease.Lease.Command, s.Lease.Lease.RunID, printable(s.Lease.Lease.Owner))
	}
	fmt.Fprintf(a.Stdout, "failure   %s\nverify    %s\nat work   %s\nnext run  %s\n", failure, verify, work, nextRunText(s))
	if w := s.Watch; w != nil {
		fmt.Fprintf(a.Stdout, "watch     %s\n", watchText(w))
	}
	if n := int64(len(s.Nights)); n > 0 {
		var sum statusNight
		for _, night := range s.Nights {
			sum.Seconds += night.Seconds
			sum.Requests += night.Requests
			sum.BytesReceived += night.BytesReceived
			sum.Bytes += night.Bytes
		}
		fmt.Fprintf(a.Stdout, "nights    the last %d on average: %.1f s, %d requests, %s received, %s added\n", n, sum.Seconds/float64(n), sum.Requests/n, size(sum.BytesReceived/n), size(sum.Bytes/n))
	}
}

// watchText says which watch is at work, or was.
func watchText(w *statusWatch) string {
	p := w.Watch
	text := fmt.Sprintf("%s: %s, since %s, last seen at %s", w.State, printable(p.Owner), p.Since, p.Beat)
	switch {
	case w.State == watch.Stopped:
		return fmt.Sprintf("%s at %s: %s", w.State, p.Ended, printable(p.Owner))
	case w.State == watch.Alive && len(p.Next) > 0:
		for _, next := range p.Next {
			text += fmt.Sprintf("; %s at %s", next.Command, next.At)
		}
	}
	return text
}

func nextRunText(s *statusResult) string {
	if s.Refused != "" {
		return "will be refused"
	}
	return fmt.Sprintf("is not refused, unless its clock shows less than %s", s.RefusedBefore)
}

// unknownStatus is the object that status --json prints if the lake cannot be read.
type unknownStatus struct {
	Lake string `json:"lake"`
	statusVerdict
	Waiting []statusAttempt `json:"waiting"`
}

// unknown returns what can be said of a lake that cannot be read.
func (a *app) unknown(where store.Store, now time.Time, reason error) *unknownStatus {
	u := &unknownStatus{Lake: where.URL(), Waiting: []statusAttempt{}}
	waiting, err := attempts.Waiting(a.settings.workDir, a.lakeIdentity(where))
	if err != nil {
		reason = errors.Join(reason, err)
	}
	for i := range waiting {
		u.Waiting = append(u.Waiting, shortOf(&waiting[i]))
	}
	u.State, u.Now = "unknown", lake.At(now)
	u.add("unreadable", "", "`dealflow doctor` tries the store; `dealflow verify` says what is damaged", "%s", reason.Error())
	return u
}

// emptyStatus is unknown for a place without a commit. reason says that there is no lake.
func (a *app) emptyStatus(ctx context.Context, where store.Store, reason error) *unknownStatus {
	in, o, err := a.settledInspection()
	if err == nil {
		var s *statusResult
		if s, err = in.inspectEmpty(ctx, where, o); err == nil {
			return s.unknown()
		}
	}
	return a.unknown(where, a.Now(), errors.Join(reason, err))
}

// unknown returns what is said of a place without a commit.
func (s *statusResult) unknown() *unknownStatus {
	u := &unknownStatus{Lake: s.Lake, statusVerdict: s.statusVerdict, Waiting: s.Waiting}
	u.State = "unknown"
	return u
}

// printUnknown prints what can be said of a lake that cannot be read, and returns the reason.
func (a *app) printUnknown(where store.Store, now time.Time, reason error) error {
	u := a.unknown(where, now, reason)
	if a.settings.json {
		return errors.Join(reason, printJSON(a.Stdout, u))
	}
	a.printWaiting(u.Waiting)
	return reason
}

// printWaiting prints the attempts that only this machine knows.
func (a *app) printWaiting(waiting []statusAttempt) {
	for i := range waiting {
		w := &waiting[i]
		fmt.Fprintf(a.Stdout, "known here: %s of %s, %s: %s\n", w.Command, w.StartedAt, w.Outcome, reasonLine(w.Error, w.RunID))
	}
}

// printEmpty prints what is known of a place without a commit, and returns that there is no lake: the finding says what
// to do.
func (a *app) printEmpty(ctx context.Context, in *inspection, where store.Store, o statusOptions, reason error) error {
	s, err := in.inspectEmpty(ctx, where, o)
	if err != nil {
		return errors.Join(reason, err)
	}
	reason = fmt.Errorf("%w: %s has no commit", load.ErrNoLake, where.URL())
	if a.settings.json {
		return errors.Join(reason, printJSON(a.Stdout, s.unknown()))
	}
	a.printWaiting(s.Waiting)
	for _, f := range s.Findings {
		a.printStatusFinding(f)
	}
	return reason
}
