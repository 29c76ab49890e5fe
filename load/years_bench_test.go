package load_test

import (
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// BenchmarkYears opens a log of TEST_COMMITS commits (10,000; five years of syncs are 525,000): once from the commits
// alone, which writes a checkpoint, and then as every command does. It reports the seconds, and the memory that the open
// log holds.
func BenchmarkYears(b *testing.B) {
	commits := int64(10_000)
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
		begin := time.Now()
		l := open()
		b.ReportMetric(time.Since(begin).Seconds(), "s-from-commits")
		if l.Log().CheckpointDue() {
			if err := l.WriteDerived(b.Context(), map[api.Feed]lake.Latest{}); err != nil {
				b.Fatal(err)
			}
		}
		var before, after runtime.MemStats
		l = nil
		runtime.GC()
		runtime.ReadMemStats(&before)
		begin = time.Now()
		l = open()
		b.ReportMetric(time.Since(begin).Seconds(), "s-open")
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6, "MB-allocated")
		b.ReportMetric(float64(after.Sys)/1e6, "MB-system")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/1e6, "MB-held")
		runtime.KeepAlive(l)
	}
}
