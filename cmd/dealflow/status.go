package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"dealflow/internal/pipeline"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// statusResult is the object that status --json prints; fields are only ever added.
type statusResult struct {
	Lake          string       `json:"lake"`
	Commit        int64        `json:"commit"`
	KnownAt       lake.Instant `json:"known_at"`
	AgeSeconds    int64        `json:"age_seconds"`
	SnapshotDate  string       `json:"snapshot_date"`
	Outcome       string       `json:"outcome"`
	CatalogCommit int64        `json:"catalog_commit"` // 0: there is none
	Files         int          `json:"files"`
	Bytes         int64        `json:"bytes"`
	Feeds         []feedStatus `json:"feeds"`
}

// feedStatus is the newest that the lake holds of a feed, and the last attempt.
type feedStatus struct {
	Feed         api.Feed      `json:"feed"`
	SnapshotDate string        `json:"snapshot_date"` // of the newest complete snapshot; "" for none
	KnownAt      *lake.Instant `json:"known_at"`
	Last         *lake.FeedRun `json:"last"` // the last attempt; null where there was none
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
	published, err := pipeline.PublishedCommit(ctx, l, a.settings.workDir)
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
	last := &log.Runs[len(log.Runs)-1]
	s := &statusResult{
		Lake: l.Store().URL(), Commit: log.Number, KnownAt: log.KnownAt, AgeSeconds: int64(now.Sub(log.KnownAt.Time).Seconds()),
		SnapshotDate: log.SnapshotDay(), Outcome: last.Outcome,
	}
	for _, file := range log.AllFiles() {
		s.Files++
		s.Bytes += file.Bytes
	}
	for _, feed := range api.Feeds() {
		s.Feeds = append(s.Feeds, statusOfFeed(log, feed))
	}
	return s
}

func statusOfFeed(log *load.Log, feed api.Feed) feedStatus {
	s := feedStatus{Feed: feed}
	for i := len(log.Runs) - 1; i >= 0 && (s.Last == nil || s.KnownAt == nil); i-- {
		run := &log.Runs[i]
		f := run.Feed(feed)
		if f == nil {
			continue
		}
		if s.Last == nil {
			s.Last = f
		}
		if f.Outcome == lake.OutcomeDone && s.KnownAt == nil {
			s.KnownAt, s.SnapshotDate = &run.KnownAt, run.SnapshotDate
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
	var rows [][]string
	for _, f := range s.Feeds {
		row := []string{f.Feed.String(), f.SnapshotDate, "never pulled", "", "", "", "", "", ""}
		if last := f.Last; last != nil {
			row = []string{f.Feed.String(), f.SnapshotDate, last.Outcome, fmt.Sprint(last.Deals), fmt.Sprint(last.Added), fmt.Sprint(last.Changed),
				fmt.Sprint(last.Removed), fmt.Sprint(last.Quarantined), fmt.Sprint(last.DriftCount())}
		}
		rows = append(rows, row)
	}
	return printTable(a.Stdout, []string{"feed", "snapshot", "last", ">deals", ">new", ">changed", ">removed", ">quarantined", ">drift"}, rows)
}
