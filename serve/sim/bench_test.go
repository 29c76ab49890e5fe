package sim_test

import (
	"runtime"
	"strconv"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// years is a market of fifteen years: all of them where scale is 1, except under -short.
func years(seed uint64, scale float64) sim.Config {
	if testing.Short() {
		scale /= 50
	}
	return sim.Config{Seed: seed, Years: 15, Scale: scale, Epoch: time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)}
}

func BenchmarkBuild(b *testing.B) {
	for _, deals := range []int{200, 5000} {
		b.Run(strconv.Itoa(deals), func(b *testing.B) {
			for b.Loop() {
				market := sim.New(sim.Config{Seed: 1, Deals: deals, Expected: 50})
				for _, feed := range api.Feeds() {
					market.Deals(feed)
				}
			}
		})
	}
}

// BenchmarkFifteenYears measures the time to the first page, and the memory in use then.
func BenchmarkFifteenYears(b *testing.B) {
	for b.Loop() {
		before := heap()
		market := sim.New(years(1, 1))
		if _, err := market.List(b.Context(), serve.Query{Feed: api.Feeds()[0], Limit: 1000}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		runtime.KeepAlive(market)
	}
}

// BenchmarkFifteenYearsWalk measures a walk over all lists of fifteen years in pages of 1,000, which makes every body,
// and the memory in use then.
func BenchmarkFifteenYearsWalk(b *testing.B) {
	for b.Loop() {
		before := heap()
		market, deals := sim.New(years(1, 1)), 0
		for _, feed := range api.Feeds() {
			query := serve.Query{Feed: feed, Limit: 1000}
			for more := true; more; {
				page, err := market.List(b.Context(), query)
				if err != nil {
					b.Fatal(err)
				}
				if more = page.More; more {
					last := page.Records[len(page.Records)-1]
					query.After = &serve.Position{UpdatedAt: last.UpdatedAt, ID: last.ID}
				}
				deals += len(page.Records)
			}
		}
		b.ReportMetric(float64(deals), "deals")
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		b.ReportMetric(float64(stats.Sys)/(1<<20), "MiB-from-system")
		runtime.KeepAlive(market)
	}
}

// heap returns the bytes in use after a garbage collection.
func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func BenchmarkListPage(b *testing.B) {
	market := sim.New(sim.Config{Seed: 1, Deals: 5000, Expected: 50})
	for _, size := range []int{100, 1000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			query := serve.Query{Feed: api.Feeds()[0], Limit: size}
			for b.Loop() {
				if _, err := market.List(b.Context(), query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkColdPage makes every body of a page of 1,000.
func BenchmarkColdPage(b *testing.B) {
	config := sim.Config{Seed: 1, Deals: 5000, Expected: 50, CacheBytes: 1}
	market := sim.New(config)
	query := serve.Query{Feed: api.Feeds()[0], Limit: 1000}
	for b.Loop() {
		if _, err := market.List(b.Context(), query); err != nil {
			b.Fatal(err)
		}
	}
}
