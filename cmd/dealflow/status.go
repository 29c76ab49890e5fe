package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/catalog"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// statusResult is the object that status --json prints; fields are only ever added.
type statusResult struct {
	Lake          string       `json:"lake"`
	Commit        int64        `json:"commit"`
	KnownAt       lake.Instant `json:"known_at"` // known_at of the last pull; age_seconds and outcome are also those of that pull
	AgeSeconds    int64        `json:"age_seconds"`
	SnapshotDate  string       `json:"snapshot_date"`
	Outcome       string       `json:"outcome"`
	CatalogCommit int64        `json:"catalog_commit"` // 0: no catalog
	Files         int          `json:"files"`
	Bytes         int64        `json:"bytes"`
	OlderFiles    int          `json:"older_files"` // files of an older schema: `dealflow replay` writes them again
	Checks        []lake.Check `json:"checks"`      // checks of the last pull that did not pass
	Feeds         []feedStatus `json:"feeds"`
}

// feedStatus is the state of one feed in the lake, and its last pull.
type feedStatus struct {
	Feed         api.Feed      `json:"feed"`
	SnapshotDate string        `json:"snapshot_date"` // date of the latest snapshot; "" for none
	Deals        int64         `json:"deals"`         // in that snapshot
	KnownAt      *lake.Instant `json:"known_at"`      // known_at of the latest commit that pulled the feed: run, sync or retry
	Last         *lake.FeedRun `json:"last"`          // the last pull, also if it failed; null for none
}

func newStatus(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show how fresh the lake is, feed by feed",
		Example: "  dealflow status --lake /data/deals --json",
		Args:    args(cobra.NoArgs),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), a) },
	}
}

func runStatus(ctx context.Context, a *app) error {
	l, err := a.openLake(ctx)
	if err != nil {
		return err
	}
	published, err := catalog.PublishedCommit(ctx, l, a.settings.workDir)
	if err != nil {
		return err
	}
	s := statusOf(l, a.Now())
	s.CatalogCommit = published
	if a.settings.json {
		return printJSON(a.Stdout, s)
	}
	return a.printStatus(s)
}

func statusOf(l *load.Lake, now time.Time) *statusResult {
	log := l.Log()
	s := &statusResult{Lake: l.Store().URL(), Commit: log.Number, SnapshotDate: log.SnapshotDay(), Checks: []lake.Check{}}
	// A lake is as fresh as its last pull: maintenance adds no data.
	for i := range log.Runs {
		if run := &log.Runs[i]; len(run.Feeds) > 0 {
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
	for i := range log.Runs {
		run := &log.Runs[i]
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
			s.SnapshotDate, s.Deals = run.SnapshotDate, f.Deals
		}
	}
	return s
}

func (a *app) printStatus(s *statusResult) error {
	catalog := "up to date"
	switch {
	case s.CatalogCommit == 0:
		catalog = "absent; `dealflow catalog` builds it"
	case s.CatalogCommit < s.Commit:
		catalog = fmt.Sprintf("%d commits behind; `dealflow catalog` renews it", s.Commit-s.CatalogCommit)
	}
	fmt.Fprintf(a.Stdout, "lake      %s\ncommit    %d, %s\nknown at  %s (%s ago)\nsnapshot  %s\ncatalog   %s\nfiles     %d, %s\n\n",
		s.Lake, s.Commit, s.Outcome, s.KnownAt, age(time.Duration(s.AgeSeconds)*time.Second), s.SnapshotDate, catalog, s.Files, size(s.Bytes))
	if s.OlderFiles > 0 {
		fmt.Fprintf(a.Stdout, "%d files are of an older schema; `dealflow replay` makes them anew\n\n", s.OlderFiles)
	}
	for _, c := range s.Checks {
		fmt.Fprintf(a.Stdout, "check %s %s: %s\n\n", c.Name, c.Outcome, c.Detail)
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
