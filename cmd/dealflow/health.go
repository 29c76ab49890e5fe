package main

import (
	"context"
	"io"
	"time"

	"dealflow/internal/config"
	"dealflow/internal/logs"
	"dealflow/internal/metrics"
	"dealflow/internal/status"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// readHealth returns what status says of a lake, with the settings of status, in numbers. It logs nothing.
func (a *app) readHealth(ctx context.Context, where store.Store) (*metrics.Health, error) {
	quiet := *a
	quiet.sink = logs.NewSink(io.Discard, a.sink.Program)
	s, err := quiet.readStatus(ctx, where)
	return s.Health(), err
}

// readStatus returns what status says of a lake, with the settings of status.
func (a *app) readStatus(ctx context.Context, where store.Store) (*status.Result, error) {
	cfg, err := a.settledStatus()
	if err != nil {
		return nil, err
	}
	return status.Inspect(ctx, where, cfg)
}

// settledStatus returns what the settings of status say of an inspection.
func (a *app) settledStatus() (status.Config, error) {
	o, err := a.statusSettings()
	if err != nil {
		return status.Config{}, err
	}
	return a.statusConfig(o)
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
