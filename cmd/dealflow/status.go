package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/catalog"
	"dealflow/internal/pull"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// statusResult is the object that status --json prints; fields are only ever added.
type statusResult struct {
	Lake          string            `json:"lake"`
	Commit        int64             `json:"commit"`
	KnownAt       lake.Instant      `json:"known_at"` // known_at of the last pull; age_seconds and outcome are also those of that pull
	AgeSeconds    int64             `json:"age_seconds"`
	SnapshotDate  string            `json:"snapshot_date"`
	Outcome       string            `json:"outcome"`
	CatalogCommit int64             `json:"catalog_commit"` // 0: no catalog, or none that can be read
	CatalogFlaw   string            `json:"catalog_flaw"`   // why readers do not use the catalog; "" for none
	Files         int               `json:"files"`
	Bytes         int64             `json:"bytes"`
	Lost          []lake.LostCommit `json:"lost"`        // commits that the lake has lost and that no commit records
	OlderFiles    int               `json:"older_files"` // files of an older schema: `dealflow replay` writes them again
	Checks        []lake.Check      `json:"checks"`      // checks of the last pull that did not pass
	DayZone       string            `json:"day_zone"`    // time zone of days
	Refused       string            `json:"refused"`     // why the next run would be refused now; "" if it would not
	Feeds         []feedStatus      `json:"feeds"`
}

// feedStatus is the state of one feed in the lake, and its last pull.
type feedStatus struct {
	Feed         api.Feed      `json:"feed"`
	SnapshotDate string        `json:"snapshot_date"` // date of the latest snapshot; "" for none
	Deals        int64         `json:"deals"`         // in that snapshot
	KnownAt      *lake.Instant `json:"known_at"`      // known_at of the latest commit that pulled the feed: run, sync or retry
	Last         *lake.FeedRun `json:"last"`          // the last pull, also if it failed; null for none

	Held           *load.Hold `json:"held"`            // why the removal guard holds the feed; null if it does not
	UnprovedAbsent int        `json:"unproved_absent"` // number of deals in that snapshot that no list shows, kept without evidence
}

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show how fresh the lake is, feed by feed",
		Example: "  dealflow status\n  dealflow status --lake /data/deals --json",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), a) },
	}
}

func runStatus(ctx context.Context, a *app) error {
	l, err := a.openLake(ctx)
	if err != nil {
		return err
	}
	published, err := catalog.ReadPublished(ctx, l, a.workDir())
	if err != nil {
		return err
	}
	s := statusOf(l, a.Now())
	s.CatalogCommit = published.Shows.Number
	if published.Flaw != nil {
		s.CatalogFlaw = published.Flaw.Error()
	}
	if err := pull.CheckNextRun(l.Log(), a.Now(), a.settings.dayZone); err != nil && a.settings.clock != "server" {
		s.Refused = err.Error()
	}
	for i := range s.Feeds {
		if s.Feeds[i].Held, err = l.Hold(ctx, s.Feeds[i].Feed); err != nil {
			return err
		}
	}
	if a.settings.json {
		return printJSON(a.Stdout, s)
	}
	return a.printStatus(s)
}

func statusOf(l *load.Lake, now time.Time) *statusResult {
	log := l.Log()
	s := &statusResult{Lake: l.Store().URL(), Commit: log.Number, SnapshotDate: log.SnapshotDay(), DayZone: log.DayZone(), Checks: []lake.Check{}, Lost: append([]lake.LostCommit{}, l.Lost()...)}
	// A lake is as fresh as its last pull: maintenance adds no data.
	for i := range log.Commits {
		if run := &log.Commits[i]; len(run.Feeds) > 0 {
			s.KnownAt, s.Outcome = run.KnownAt, run.Outcome
			s.Checks = slices.DeleteFunc(append([]lake.Check{}, run.Checks...), func(c lake.Check) bool { return c.Outcome == lake.CheckPassed })
		}
	}
	s.AgeSeconds = int64(now.Sub(s.KnownAt.Time).Seconds())
	for _, file := range log.AllFiles() {
		s.Files++
		s.Bytes += file.Bytes
		if file.SchemaVersion < lake.SchemaVersion {
			s.OlderFiles++
		}
	}
	for _, feed := range api.Feeds() {
		s.Feeds = append(s.Feeds, statusOfFeed(log, feed))
	}
	return s
}

func statusOfFeed(log *load.Log, feed api.Feed) feedStatus {
	s := feedStatus{Feed: feed}
	for i := range log.Commits {
		run := &log.Commits[i]
		f := run.Feed(feed)
		if f == nil {
			continue
		}
		s.Last = f
		if f.Outcome != lake.OutcomeDone {
			continue
		}
		s.KnownAt = &run.KnownAt
		if run.SnapshotDate != "" {
			s.SnapshotDate, s.Deals, s.UnprovedAbsent = run.SnapshotDate, f.Deals, len(f.UnprovedAbsent)
		}
	}
	if last := log.LastSnapshot(feed); last != nil {
		s.SnapshotDate, s.Deals = last.SnapshotDate, last.Feed(feed).Deals
	}
	return s
}

func (a *app) printStatus(s *statusResult) error {
	catalog := "up to date"
	switch {
	case s.CatalogFlaw != "":
		catalog = "not used: " + s.CatalogFlaw + "; `dealflow catalog` builds it again"
	case s.CatalogCommit == 0:
		catalog = "absent; `dealflow catalog` builds it"
	case s.CatalogCommit < s.Commit:
		catalog = fmt.Sprintf("%d commits older than the log; `dealflow catalog` renews it", s.Commit-s.CatalogCommit)
	}
	fmt.Fprintf(a.Stdout, "lake      %s\ncommit    %d, %s\nknown at  %s (%s ago)\nsnapshot  %s\ncatalog   %s\nfiles     %d, %s\n\n",
		s.Lake, s.Commit, s.Outcome, s.KnownAt, age(time.Duration(s.AgeSeconds)*time.Second), s.SnapshotDate, catalog, s.Files, size(s.Bytes))
	for i := range s.Lost {
		fmt.Fprintf(a.Stdout, "lost: %s, which %s names; `dealflow verify` says what to do\n\n", s.Lost[i].NamedCommit, strings.Join(s.Lost[i].NamedBy, " and "))
	}
	if s.Refused != "" {
		fmt.Fprintf(a.Stdout, "the next run will be refused: %s\n\n", s.Refused)
	}
	if s.OlderFiles > 0 {
		fmt.Fprintf(a.Stdout, "%d files are of an older schema; `dealflow replay` writes them again\n\n", s.OlderFiles)
	}
	for _, c := range s.Checks {
		fmt.Fprintf(a.Stdout, "check %s %s: %s\n\n", c.Name, c.Outcome, c.Detail)
	}
	for _, f := range s.Feeds {
		if f.Held != nil {
			fmt.Fprintf(a.Stdout, "%s is held since %s: %s\n\n", f.Feed, f.Held.Since, printable(f.Held.Reason))
		}
		if f.UnprovedAbsent > 0 {
			fmt.Fprintf(a.Stdout, "%s: %d deals that its list lacks are kept, because the API gives no evidence that they are gone; if they are, `dealflow run --accept-removals` removes them\n\n", f.Feed, f.UnprovedAbsent)
		}
	}
	var rows [][]string
	for _, f := range s.Feeds {
		row := []string{f.Feed.String(), f.SnapshotDate, "never pulled", "", "", "", "", "", ""}
		if last := f.Last; last != nil {
			row = []string{f.Feed.String(), f.SnapshotDate, last.Outcome, fmt.Sprint(f.Deals), fmt.Sprint(last.Added), fmt.Sprint(last.Changed),
				fmt.Sprint(last.Removed), fmt.Sprint(last.Quarantined), fmt.Sprint(last.DriftCount())}
		}
		rows = append(rows, row)
	}
	return printTable(a.Stdout, []string{"feed", "snapshot", "last", ">deals", ">new", ">changed", ">removed", ">quarantined", ">drift"}, rows)
}
