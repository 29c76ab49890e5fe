package main

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"dealflow/internal/metrics"
)

// tellSettings say whom a command tells how it ended.
type tellSettings struct {
	metricsFile string
}

// addTelling adds the flags of the commands that tell how they ended.
func (s *settings) addTelling(flags *pflag.FlagSet) {
	s.addMetricsFile(flags)
}

// addMetricsFile adds the flag of the commands that write metrics.
func (s *settings) addMetricsFile(flags *pflag.FlagSet) {
	shared(flags, func(flags *pflag.FlagSet) {
		flags.StringVar(&s.tell.metricsFile, "metrics-file", "", "file for metrics in the text format of Prometheus, such as /var/lib/node_exporter/dealflow.prom (default: none)")
	})
}

// telling tells others how a command ended. None of that changes how it ended: what fails is a warning.
type telling struct {
	app     *app
	command string
	began   time.Time
}

// end tells how the command ended. at is nil if it could not open the store of its lake.
func (t *telling) end(ctx context.Context, at *attempt, err error) {
	ended := t.app.endingOf(ctx, t, at, err)
	ctx = context.WithoutCancel(ctx)
	t.writeMetrics(ctx, at, ended)
}

// writeMetrics writes the metrics file with the health of the lake after the command.
func (t *telling) writeMetrics(ctx context.Context, at *attempt, ended metrics.Ending) {
	a := t.app
	if a.settings.tell.metricsFile == "" {
		return
	}
	url := a.settings.lake
	var health *metrics.Health
	if at != nil {
		url = at.store.URL()
		health, _ = a.readHealth(ctx, at.store) // without it the file says that the lake could not be read
	}
	a.writeMetrics(url, health, &ended)
}
