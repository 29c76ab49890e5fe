package load_test

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store/dirstore"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// BenchmarkYears opens a log of TEST_COMMITS commits (2,500; five years of syncs are 525,000): once from the commits
// alone, which writes a checkpoint, and then as every command does. It reports the seconds, the memory that the open log
// holds, and how long it takes to name all runs, to read all, and to verify the log. There are no data files, so verify
// misses those that are live. With TEST_LAKE the commits are kept in that folder.
func BenchmarkYears(b *testing.B) {
	commits := int64(2_500)
	if text := os.Getenv("TEST_COMMITS"); text != "" {
		var err error
		if commits, err = strconv.ParseInt(text, 10, 64); err != nil {
			b.Fatal(err)
		}
	}
	folder := b.TempDir()
	if kept := os.Getenv("TEST_LAKE"); kept != "" {
		folder = kept
	}
	s, err := dirstore.New(folder)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(folder + "/" + lake.CommitKey(commits)); err != nil {
		if err := os.MkdirAll(folder+"/"+lake.CommitsPrefix, 0o750); err != nil {
			b.Fatal(err)
		}
		loadtest.Years(b, commits, len(api.Feeds()), true, func(key string, data []byte) error { // faster than with the store's care
			return os.WriteFile(folder+"/"+key, data, 0o600)
		})
	}
	open := func() *load.Lake {
		l, err := load.Open(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		return l
	}
	for b.Loop() {
		derive := func() { // apart, so that nothing of it stays in memory
			begin := time.Now()
			l := open()
			b.ReportMetric(time.Since(begin).Seconds(), "s-from-commits")
			if l.Log().CheckpointDue() {
				if err := l.WriteDerived(b.Context(), map[api.Feed]lake.Latest{}); err != nil {
					b.Fatal(err)
				}
			}
		}
		derive()
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		begin := time.Now()
		l := open()
		b.ReportMetric(time.Since(begin).Seconds(), "s-open")
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6, "MB-allocated")
		b.ReportMetric(float64(after.Sys)/1e6, "MB-system")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/1e6, "MB-held")
		begin = time.Now()
		if names, err := l.Names(b.Context()); err != nil || int64(len(names)) != commits {
			b.Fatal(len(names), err)
		}
		b.ReportMetric(time.Since(begin).Seconds(), "s-names")
		begin = time.Now()
		for _, err := range l.Runs(b.Context(), 1) {
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(time.Since(begin).Seconds(), "s-runs")
		begin = time.Now()
		if report, err := verify.Lake(b.Context(), s, verify.Config{}); !errors.Is(err, verify.ErrDamage) || report.Checked.Commits != commits {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(begin).Seconds(), "s-verify")
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.Sys)/1e6, "MB-system-verify")
	}
}
