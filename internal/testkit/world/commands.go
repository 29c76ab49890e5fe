package world

import (
	stdsql "database/sql"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"dealflow/internal/catalog"
	"dealflow/internal/maintain"
	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/mirror"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql"
)

// Change adapts the configuration of a run or a sync.
type Change func(*pull.Config)

// Feeds has only some feeds pulled, in this order.
func Feeds(feeds ...api.Feed) Change { return func(c *pull.Config) { c.Feeds = feeds } }

// Quiet publishes no catalog, which takes most of the time of a small run.
func Quiet(c *pull.Config) { c.NoCatalog = true }

// AcceptRemovals lets a run remove more deals than the removal guard allows.
func AcceptRemovals(c *pull.Config) { c.AcceptRemovals = true }

// Hears writes the log of a run to a writer.
func Hears(said io.Writer) Change {
	return func(c *pull.Config) { c.Log = slog.New(slog.NewTextHandler(said, nil)) }
}

// Config returns the configuration of a run or a sync with a new run id. Its memory is checked when the
// test ends.
func (w *World) Config(t testing.TB, changes ...Change) pull.Config {
	t.Helper()
	cfg := pull.Config{
		Store: w.Store, RunID: w.runID(), Clock: w.Clock.Now, ServerClock: true,
		WorkDir: t.TempDir(), Version: "test", Memory: testkit.Allocator(t),
		Stretch: w.Stretch,
	}
	cfg.Client, cfg.Base = w.Client(t, "demo")
	for _, change := range changes {
		change(&cfg)
	}
	return cfg
}

// Upkeep returns the configuration of a command that asks no API: compact, expire, replay.
func (w *World) Upkeep(t testing.TB, changes ...func(*maintain.Config)) maintain.Config {
	t.Helper()
	cfg := maintain.Config{
		Store: w.Store, RunID: w.runID(), Clock: w.Clock.Now,
		WorkDir: t.TempDir(), Version: "test", Memory: testkit.Allocator(t),
	}
	for _, change := range changes {
		change(&cfg)
	}
	return cfg
}

// Run executes a run.
func (w *World) Run(t testing.TB, changes ...Change) (*pull.Result, error) {
	t.Helper()
	return pull.Run(t.Context(), w.Config(t, changes...))
}

// MustRun executes a run. An error ends the test, and so does a warning, except one of each feed with records in quarantine.
func (w *World) MustRun(t testing.TB, changes ...Change) *pull.Result {
	t.Helper()
	result, err := w.Run(t, changes...)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range result.Feeds {
		if text := result.Feeds[i].QuarantineWarning(); text != "" {
			want = append(want, text)
		}
	}
	if !slices.Equal(result.Warnings, want) {
		t.Fatalf("warnings %q, want %q", result.Warnings, want)
	}
	return result
}

// Night is MustRun in the evening of a day after the Epoch.
func (w *World) Night(t testing.TB, day int, changes ...Change) *pull.Result {
	t.Helper()
	w.Evening(day)
	return w.MustRun(t, changes...)
}

// Sync executes a sync.
func (w *World) Sync(t testing.TB, changes ...Change) (*pull.Result, error) {
	t.Helper()
	return pull.Sync(t.Context(), w.Config(t, changes...))
}

// MustSync executes a sync. An error ends the test; a warning does not.
func (w *World) MustSync(t testing.TB, changes ...Change) *pull.Result {
	t.Helper()
	result, err := w.Sync(t, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// MustCompact compacts the lake. An error or a warning ends the test.
func (w *World) MustCompact(t testing.TB) *maintain.Result {
	t.Helper()
	result, err := maintain.Compact(t.Context(), w.Upkeep(t))
	if err != nil {
		t.Fatal(err)
	}
	wantNoWarnings(t, result.Warnings)
	return result
}

// Expire drops the snapshots that are not to be kept, and old garbage; without apply it only reports them.
func (w *World) Expire(t testing.TB, keep maintain.Retention, apply bool, changes ...func(*maintain.Config)) (*maintain.ExpireResult, error) {
	t.Helper()
	return maintain.Expire(t.Context(), maintain.ExpireConfig{Config: w.Upkeep(t, changes...), Keep: keep, Apply: apply})
}

// MustExpire is Expire, but an error or a warning ends the test.
func (w *World) MustExpire(t testing.TB, keep maintain.Retention, apply bool) *maintain.ExpireResult {
	t.Helper()
	result, err := w.Expire(t, keep, apply)
	if err != nil {
		t.Fatal(err)
	}
	wantNoWarnings(t, result.Warnings)
	return result
}

// Replay rebuilds the tables from the payloads and publishes no catalog. Its options are "snapshots" and
// "force".
func (w *World) Replay(t testing.TB, options ...string) (*maintain.ReplayResult, error) {
	t.Helper()
	return maintain.Replay(t.Context(), maintain.ReplayConfig{
		Config: w.Upkeep(t, func(c *maintain.Config) { c.NoCatalog = true }), Snapshots: slices.Contains(options, "snapshots"), Force: slices.Contains(options, "force"),
	})
}

// MustReplay is Replay, but an error or a warning ends the test.
func (w *World) MustReplay(t testing.TB, options ...string) *maintain.ReplayResult {
	t.Helper()
	result, err := w.Replay(t, options...)
	if err != nil {
		t.Fatal(err)
	}
	wantNoWarnings(t, result.Warnings)
	return result
}

func wantNoWarnings(t testing.TB, warnings []string) {
	t.Helper()
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
}

// Publish makes the catalog from scratch, as `dealflow catalog` does.
func (w *World) Publish(t testing.TB) {
	t.Helper()
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	if err := catalog.Publish(t.Context(), l, t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
}

// openCatalog opens the lake's catalog, with all files of the lake on this machine. The caller calls
// closeCatalog.
func (w *World) openCatalog(t testing.TB) (db *stdsql.DB, closeCatalog func() error) {
	t.Helper()
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := mirror.NewCache(filepath.Join(t.TempDir(), "cache"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := catalog.Open(t.Context(), l, t.TempDir(), cache)
	if err != nil {
		t.Fatal(err)
	}
	if db, err = sql.Open(t.Context(), catalog.Path, catalog.Root()); err != nil {
		t.Fatal(err)
	}
	if err := catalog.Fetch(t.Context(), db, allTables()); err != nil {
		t.Fatal(err)
	}
	return db, func() error { return errors.Join(db.Close(), catalog.Close()) }
}

// FeedRun returns what a run says about a feed. If it says nothing, the test ends.
func FeedRun(t testing.TB, result *pull.Result, feed api.Feed) lake.FeedRun {
	t.Helper()
	i := slices.IndexFunc(result.Feeds, func(f lake.FeedRun) bool { return f.Feed == feed })
	if i < 0 {
		t.Fatalf("%s was not pulled, only %d other feeds", feed, len(result.Feeds))
	}
	return result.Feeds[i]
}

// WantOutcomes checks which feeds a run pulled, in order, and the outcome of each: "bond/ig/priced done".
func WantOutcomes(t testing.TB, result *pull.Result, want ...string) {
	t.Helper()
	if result == nil {
		t.Fatalf("got no result, want %q", want)
	}
	var got []string
	for _, f := range result.Feeds {
		got = append(got, f.Feed.String()+" "+f.Outcome)
	}
	if !slices.Equal(got, want) {
		t.Errorf("outcomes: got %q, want %q", got, want)
	}
}

// WantCounts checks a feed's numbers of deals: added, changed, removed, reappeared, unchanged, quarantined.
func WantCounts(t testing.TB, result *pull.Result, feed api.Feed, want [6]int64) {
	t.Helper()
	f := FeedRun(t, result, feed)
	if got := [6]int64{f.Added, f.Changed, f.Removed, f.Reappeared, f.Unchanged, f.Quarantined}; got != want {
		t.Errorf("%s: added, changed, removed, reappeared, unchanged, quarantined: got %v, want %v", feed, got, want)
	}
}
