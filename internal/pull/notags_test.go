package pull_test

import (
	"testing"

	"dealflow/internal/catalog"
	"dealflow/internal/pull"
	"dealflow/internal/testkit/s3test"
	"dealflow/internal/testkit/world"
	"dealflow/load"
)

// TestCatalogWithoutTags runs as the single writer of a real S3 server that gives no ETag and ignores conditions: the
// catalog of each commit is published, and so is that of `dealflow catalog`.
func TestCatalogWithoutTags(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	w.Store = s3test.Start(t, s3test.Options{IgnoreConditions: true}).Store(t, "lake")
	published := func(when string, want int64) {
		t.Helper()
		l, err := load.Open(t.Context(), w.Store)
		if err != nil || l.Log().Number != want {
			t.Fatalf("%s: commit %d, %v; want %d", when, l.Log().Number, err, want)
		}
		if got, err := catalog.ReadPublished(t.Context(), l, t.TempDir()); err != nil || got.Shows.Number != want {
			t.Errorf("%s: the published catalog shows commit %d, %v; want %d", when, got.Shows.Number, err, want)
		}
	}
	for night := range 3 {
		b.WriteAll(world.Expected, 1, int64(3+night), "")
		w.Evening(night)
		result, err := w.Run(t, world.Feeds(world.Expected), func(c *pull.Config) { c.SingleWriter = true })
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Warnings) > 0 {
			t.Errorf("night %d: %q", night, result.Warnings)
		}
		published("after a night", int64(night+1))
	}
	w.Publish(t)
	published("after dealflow catalog", 3)
}
