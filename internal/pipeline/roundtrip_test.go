package pipeline_test

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dealflow/internal/pipeline"
	"dealflow/load"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/lakesource"
	"dealflow/serve/sim"
	"dealflow/sql"
)

// TestRoundTrip closes the ring: a market is pulled into a lake night by night; the lake is served and
// pulled into a second one, each night right after it was committed; and, when all nights are over, each
// night again as of its instant, into a third. All three lakes hold the same.
//
// Reasons of removals are the same too, as long as the market never answers 403: what left an account's
// allowance there is, like all that does not stand, a 404 of the lake, and the second lake says gone.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	nights := 4
	if text := os.Getenv("DEALFLOW_NIGHTS"); text != "" {
		var err error
		if nights, err = strconv.Atoi(text); err != nil || nights < 1 {
			t.Fatalf("DEALFLOW_NIGHTS=%q: want a number of nights", text)
		}
	}
	w := newWorld(t, sim.Config{Seed: 5, Deals: 25, PerDay: 6})
	second := emptyWorld(t, w.clock)
	var past []lake.Instant
	for n := range nights {
		past = append(past, w.night(t, n).KnownAt)
		if n == 0 { // a lake without a commit cannot be served
			second.url = serveHTTP(t, w.lakeMarket(t))
		}
		second.night(t, n)
		sameFiles(t, fmt.Sprintf("night %d", n), w, second)
	}
	sameVersions(t, "night by night", w, second)
	third := emptyWorld(t, w.clock)
	for n, at := range past {
		third.url = second.url + "/as-of/" + at.String()
		third.night(t, n)
	}
	sameFiles(t, "as of each night", w, third)
	sameVersions(t, "as of each night", w, third)
}

// lakeMarket opens a world's lake as a market.
func (w *world) lakeMarket(t testing.TB) *lakesource.Source {
	t.Helper()
	dir := t.TempDir()
	source, err := lakesource.New(t.Context(), lakesource.Config{Newer: func(ctx context.Context, than int64) (*lakesource.Catalog, error) {
		l, err := load.Open(ctx, w.store)
		if err != nil || l.Log().Number <= than {
			return nil, err
		}
		file, err := pipeline.OpenCatalog(ctx, l, dir, nil)
		if err != nil {
			return nil, err
		}
		db, done, err := sql.OpenApart(ctx, file.Path, file.Root, dir)
		if err != nil {
			return nil, err
		}
		return &lakesource.Catalog{DB: db, Close: done}, file.Close()
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	return source
}

// serveHTTP serves a source until the test ends.
func serveHTTP(t testing.TB, source serve.Source) (url string) {
	t.Helper()
	server, err := serve.New(serve.Config{Source: source})
	if err != nil {
		t.Fatal(err)
	}
	http := httptest.NewServer(server.Handler())
	t.Cleanup(http.Close)
	return http.URL
}

// emptyWorld is an empty lake to fill from an API. It follows the API's clock: the one it moves is that
// of the market behind.
func emptyWorld(t testing.TB, clock *sim.ManualClock) *world {
	t.Helper()
	w := &world{clock: clock, root: filepath.Join(t.TempDir(), "lake")}
	var err error
	if w.store, err = dirstore.New(w.root); err != nil {
		t.Fatal(err)
	}
	return w
}

// sameFiles compares the files of the flattened tables byte for byte.
func sameFiles(t testing.TB, what string, a, b *world) {
	t.Helper()
	one, other := a.digests(t), b.digests(t)
	for _, part := range slices.Sorted(maps.Keys(one)) {
		if got := other[part]; !slices.Equal(got, one[part]) {
			t.Errorf("%s: %s differs: %d files %.12s, and %d files %.12s", what, part, len(one[part]), one[part], len(got), got)
		}
		delete(other, part)
	}
	for part := range other {
		t.Errorf("%s: %s is in the second lake only", what, part)
	}
}

// sameVersions compares what deal_versions says of all deals.
func sameVersions(t testing.TB, what string, a, b *world) {
	t.Helper()
	want, got := a.versions(t), b.versions(t)
	for _, change := range []string{lake.Added, lake.Changed, lake.Removed} {
		if !slices.ContainsFunc(want, func(row string) bool { return strings.Contains(row, " "+change+" ") }) {
			t.Errorf("%s: no deal was %s: the market is too small to prove anything", what, change)
		}
	}
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("%s: deal_versions differ, %d and %d rows; first:\n%s\n%s", what, len(want), len(got), want[min(i, len(want)-1)], got[min(i, len(got)-1)])
		}
	}
}

// digests gives the SHA-256 of the files of the flattened tables, in the order of their runs, by table
// and partition.
func (w *world) digests(t testing.TB) map[string][]string {
	t.Helper()
	l, err := load.Open(t.Context(), w.store)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	tables := map[string]bool{}
	for _, file := range l.Log().AllFiles() { // by path, so by run
		if table := strings.TrimPrefix(strings.TrimPrefix(file.Table, "history."), "snapshots."); file.Table != "quarantine" && table != lake.DealVersions {
			part := filepath.Dir(file.Path)
			all[part] = append(all[part], file.SHA256)
			tables[table] = true
		}
	}
	if len(tables) != len(lake.Tables()) {
		t.Errorf("%d tables have files: the market is too small to prove anything", len(tables))
	}
	return all
}

// versions gives every version as a text, in order.
func (w *world) versions(t testing.TB) (all []string) {
	t.Helper()
	w.ask(t, func(db *stdsql.DB) {
		rows, err := db.Query(`
SELECT concat_ws(' ', service, market, kind, deal_id, version, change, reason, hex(content_hash))
FROM history.deal_versions ORDER BY service, market, kind, deal_id, version`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var row string
			if err := rows.Scan(&row); err != nil {
				t.Fatal(err)
			}
			all = append(all, row)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	})
	return all
}
