package iceberg_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit/longlake"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/iceberg"
	"dealflow/load/store"
	"dealflow/load/transfer"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// publish publishes a lake's tables.
func publish(b *testing.B, s store.Store) *iceberg.Result {
	b.Helper()
	l, err := load.Open(b.Context(), s)
	if err != nil {
		b.Fatal(err)
	}
	result, err := iceberg.Publish(b.Context(), l, iceberg.Config{Clock: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	return result
}

// copyUntil copies a lake up to a commit, 0 for the newest.
func copyUntil(b *testing.B, from, to store.Store, until int64) {
	b.Helper()
	if _, err := transfer.Copy(b.Context(), transfer.Config{From: from, To: to, Until: until, Memory: memory.DefaultAllocator}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPublish publishes the last night of the lake of fifteen years (longlake.BenchmarkConfig), whose last quarter has each
// night. It says what the publication before that took, too, which was from nothing.
func BenchmarkPublish(b *testing.B) {
	whole := world.Folder(b, longlake.Open(b, longlake.BenchmarkConfig()))
	l, err := load.Open(b.Context(), whole)
	if err != nil {
		b.Fatal(err)
	}
	root := filepath.Join(b.TempDir(), "before")
	before := world.Folder(b, root)
	copyUntil(b, whole, before, l.Log().Number-1)
	first := publish(b, before)
	var night *iceberg.Result
	address := 0 // characters: each snapshot of each table has it
	byKind := map[string]int64{}
	for b.Loop() {
		b.StopTimer()
		clone := world.Folder(b, longlake.Clone(b, root))
		publish(b, clone) // at its own place
		copyUntil(b, whole, clone, 0)
		old := objectSizes(b, clone)
		b.StartTimer()
		night = publish(b, clone)
		address = len(clone.URL())
		b.StopTimer()
		clear(byKind)
		for key, size := range objectSizes(b, clone) {
			if _, existed := old[key]; !existed {
				byKind[objectKind(key)] += size
			}
		}
		b.StartTimer()
	}
	if night.Rebuilt > 0 {
		b.Errorf("%d tables were built again, want none", night.Rebuilt)
	}
	b.ReportMetric(first.Seconds, "first-s")
	b.ReportMetric(float64(first.Bytes), "first-B")
	b.ReportMetric(float64(night.Bytes), "night-B")
	b.ReportMetric(float64(night.Objects), "night-objects")
	b.ReportMetric(float64(night.Kept), "kept")
	b.ReportMetric(float64(address), "address-chars")
	for kind, size := range byKind {
		b.ReportMetric(float64(size), "night-"+kind+"-B")
	}
}

// objectSizes returns the sizes of the objects under lake.IcebergPrefix, by key.
func objectSizes(b *testing.B, s store.Store) map[string]int64 {
	b.Helper()
	sizes := map[string]int64{}
	for object, err := range s.List(b.Context(), lake.IcebergPrefix) {
		if err != nil {
			b.Fatal(err)
		}
		sizes[object.Key] = object.Size
	}
	return sizes
}

// objectKind returns what an object of a publication is: the word in its name.
func objectKind(key string) string {
	for _, kind := range []string{"states", "metadata.json", "-snap-", "-data-", "-closed-", "-later-", "-rows-"} {
		if strings.Contains(key, kind) {
			return strings.Trim(strings.TrimSuffix(kind, ".json"), "-")
		}
	}
	return "other"
}

// BenchmarkRetention publishes a small lake of many nights, compacted each month: 30 nights, under -short fewer, or with
// TEST_FULL=1 1,500. It says how much the largest table has.
func BenchmarkRetention(b *testing.B) {
	nights := 30
	if testing.Short() {
		nights = 6
	}
	if os.Getenv("TEST_FULL") != "" {
		nights = 1500
	}
	var feeds []api.Feed
	for _, market := range []api.Market{api.IG, api.HY, api.EM} {
		feeds = append(feeds, api.Feed{Service: api.Bond, Market: market, Kind: api.Priced})
	}
	for b.Loop() {
		w, book := world.NewBook(b)
		for night := range nights {
			for _, feed := range feeds {
				if night == 0 {
					book.WriteAll(feed, 1, 200, `"message":"A","banks":[{"name":"one"},{"name":"two"}]`)
				}
				book.WriteAll(feed, int64(night*7%190)+1, int64(night*7%190)+8, fmt.Sprintf(`"message":"%d","banks":[{"name":"%d"}]`, night, night))
				book.Write(feed, int64(200+night), `"message":"new"`)
			}
			w.Night(b, night, world.Feeds(feeds...), world.Quiet)
			if night%30 == 29 {
				if _, err := maintain.Compact(b.Context(), w.Upkeep(b, func(c *maintain.Config) { c.NoCatalog = true })); err != nil {
					b.Fatal(err)
				}
			}
		}
		result := publish(b, w.Store)
		published, err := iceberg.ReadPublished(b.Context(), w.Store)
		if err != nil {
			b.Fatal(err)
		}
		var largest iceberg.PublishedTable
		for i := range published.Tables {
			if published.Tables[i].Bytes > largest.Bytes {
				largest = published.Tables[i]
			}
		}
		b.ReportMetric(float64(largest.Bytes), "table-B")
		b.ReportMetric(float64(largest.Objects), "table-objects")
		b.ReportMetric(float64(result.Kept), "kept")
		b.ReportMetric(result.Seconds, "first-s")
	}
}
