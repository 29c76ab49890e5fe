package pipeline_test

import (
	"testing"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// BenchmarkFirstNight is a run into an empty lake, end to end over HTTP, the catalog included; the
// server runs in the same process.
func BenchmarkFirstNight(b *testing.B) { benchmarkNight(b, 0) }

// BenchmarkUsualNight is the run a day later: most deals are as they were.
func BenchmarkUsualNight(b *testing.B) { benchmarkNight(b, 1) }

func benchmarkNight(b *testing.B, day int) {
	var deals, bytes int64
	for b.Loop() {
		b.StopTimer()
		w := newWorld(b, sim.Config{Seed: 1, Deals: 500})
		for n := range day {
			w.night(b, n)
		}
		// The market catches up with its clock, and renders its deals, outside the measurement.
		w.evening(day)
		for _, feed := range api.Feeds() {
			w.market.Deals(feed)
		}
		b.StartTimer()
		result := w.night(b, day)
		deals = result.Count(func(f *lake.FeedRun) int64 { return f.Deals })
		bytes = result.Count(func(f *lake.FeedRun) int64 { return f.Bytes })
	}
	b.ReportMetric(float64(deals), "deals")
	b.ReportMetric(float64(bytes), "wire-B")
}
