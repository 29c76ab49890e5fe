package main

import (
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"dealflow/internal/config"
	"dealflow/internal/logs"
	"dealflow/internal/metrics"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// readHealth returns what status says of a lake, with the settings of status, in numbers. It logs nothing.
func (a *app) readHealth(ctx context.Context, where store.Store) (*metrics.Health, error) {
	quiet := *a
	quiet.sink = logs.NewSink(io.Discard, a.sink.Program)
	s, err := quiet.readStatus(ctx, where)
	return s.health(), err
}

// readStatus returns what status says of a lake, with the settings of status.
func (a *app) readStatus(ctx context.Context, where store.Store) (*statusResult, error) {
	in, o, err := a.settledInspection()
	if err != nil {
		return nil, err
	}
	return in.inspect(ctx, where, o)
}

// settledInspection returns an inspection with the settings of status.
func (a *app) settledInspection() (*inspection, statusOptions, error) {
	o, err := a.statusSettings()
	if err != nil {
		return nil, o, err
	}
	in, err := a.newInspection(o)
	return in, o, err
}

// statusSettings returns what the environment and the settings file say to status.
func (a *app) statusSettings() (statusOptions, error) {
	o := statusOptions{timeout: statusTimeout}
	for _, setting := range []struct {
		name string
		into *time.Duration
	}{{"max_age", &o.maxAge}, {"timeout", &o.timeout}} {
		found, ok := a.settings.sources.Find(config.Setting{Command: "status", Name: setting.name})
		if !ok {
			continue
		}
		var err error
		if *setting.into, err = time.ParseDuration(found.Text); err != nil {
			return o, usagef("%s of status, from %s: %w", setting.name, found.From, err)
		}
	}
	found, _ := a.settings.sources.Find(config.Setting{Command: "status", Name: "feeds"})
	o.feeds = found.Text
	return o, nil
}

// health returns the result in numbers; nil for none.
func (s *statusResult) health() *metrics.Health {
	if s == nil {
		return nil
	}
	h := &metrics.Health{
		State: s.State, MaxAge: time.Duration(s.MaxAgeSeconds) * time.Second, Refused: s.Refused != "",
		AtWork: s.Lease != nil && s.Lease.State == load.LeaseHeld, Waiting: len(s.Waiting), Succeeded: map[string]time.Time{},
		Size: metrics.Size{Commit: s.Commit, CatalogCommit: s.CatalogCommit, Files: s.Files, Bytes: s.Bytes, OlderFiles: s.OlderFiles},
	}
	counts := map[string]int{}
	for _, f := range s.Findings {
		counts[f.Kind]++
	}
	for _, kind := range slices.Sorted(maps.Keys(findingKinds)) {
		h.Findings = append(h.Findings, metrics.Finding{Kind: kind, Severity: findingKinds[kind], Count: counts[kind]})
	}
	for command, at := range s.succeeded {
		h.Succeeded[command] = at.Time
	}
	if l := s.LastSuccess; l != nil {
		h.LastSuccess = l.KnownAt.Time
	}
	if l := s.LastFailure; l != nil {
		h.LastFailure, h.FailureOpen = l.StartedAt.Time, l.Open
	}
	if v := s.LastVerify; v != nil {
		h.LastVerify, h.VerifyBad = v.StartedAt.Time, v.Open
	}
	if len(s.Nights) > 0 {
		n := &s.Nights[0]
		h.Night = metrics.Night{KnownAt: n.KnownAt.Time, Seconds: n.Seconds, Requests: n.Requests, BytesReceived: n.BytesReceived, BytesAdded: n.Bytes, FilesAdded: n.Files}
	}
	for i := range s.Feeds {
		f := &s.Feeds[i]
		if f.Last == nil {
			continue
		}
		feed := metrics.Feed{
			Name: f.Feed.String(), Deals: f.Deals, Held: f.Held != nil, Failed: f.Last.Outcome == lake.OutcomeFailed,
			Quarantined: f.Last.Quarantined, Drift: f.Last.DriftCount(), Unproved: f.UnprovedAbsent,
		}
		if f.SnapshotAt != nil {
			feed.SnapshotAt = f.SnapshotAt.Time
		}
		if f.judged {
			feed.MaxAge = h.MaxAge
		}
		h.Feeds = append(h.Feeds, feed)
	}
	return h
}

// lakeMetrics returns a collector that reads the health of a lake when a scrape asks for it, once a minute at most.
func (a *app) lakeMetrics(where store.Store) *metrics.Lake {
	l := metrics.New(where.URL())
	l.Follow(func(ctx context.Context) (*metrics.Health, error) { return a.readHealth(ctx, where) }, time.Minute)
	return l
}

// writeMetrics writes the metrics file, if there is one. health is nil for a lake that could not be read, ended is nil for
// a command that does not count. It is no fault of the command if that fails.
func (a *app) writeMetrics(url string, health *metrics.Health, ended *metrics.Ending) {
	path := a.settings.tell.metricsFile
	if path == "" {
		return
	}
	l := metrics.New(url)
	l.Set(health)
	if ended != nil {
		l.Ended(*ended)
	}
	if err := metrics.WriteFile(path, l); err != nil {
		a.say().Warn("the metrics file could not be read or written", "path", path, "error", err, logs.Text("%v", err))
	}
}

// endingOf returns how a command ended, for metrics.
func (a *app) endingOf(ctx context.Context, t *telling, at *attempt, err error) metrics.Ending {
	e := metrics.Ending{Command: t.command, StartedAt: t.began, EndedAt: a.Now(), ExitCode: exitCode(ctx, err)}
	if at != nil {
		e.Skipped = at.result.Outcome == lake.OutcomeSkipped
		e.Requests, e.Warnings = at.result.Requests, len(at.result.Warnings)
	}
	return e
}
