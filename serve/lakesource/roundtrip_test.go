package lakesource_test

import (
	"crypto/sha256"
	stdsql "database/sql"
	"encoding/binary"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// TestRoundTrip pulls a market into a lake, night by night. It serves the lake and pulls it into a second one, each
// night right after its commit. After the last night it pulls each night again, as of its instant, into a third lake.
// All three lakes must contain the same.
//
// The reasons of removals are the same too, because this market never answers 403. The lake answers 404 for every deal
// that is not current, so a second lake would say gone where the first says forbidden.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	nights := testkit.Count(t, "TEST_NIGHTS", 4)
	w := world.New(t, sim.Config{Seed: 5, Deals: 25, PerDay: 6})
	second := emptyWorld(t, w.Clock)
	var past []lake.Instant
	for n := range nights {
		past = append(past, w.Night(t, n).KnownAt)
		if n == 0 { // a lake without a commit cannot be served
			source, _ := lakeMarket(t, w.Store)
			second.ServeAgain(t, serve.Config{Source: source})
		}
		second.Night(t, n)
		sameFiles(t, fmt.Sprintf("night %d", n), w, second)
	}
	sameVersions(t, "night by night", w, second)
	third := emptyWorld(t, w.Clock)
	for n, at := range past {
		third.URL = second.URL + "/as-of/" + at.String()
		third.Night(t, n)
	}
	sameFiles(t, "as of each night", w, third)
	world.WantSound(t, third.Store)
	sameVersions(t, "as of each night", w, third)
}

// emptyWorld returns a World with an empty lake and without a market. clock is that of the original market: the lake is
// pulled from an API that follows it.
func emptyWorld(t testing.TB, clock *sim.ManualClock) *world.World {
	t.Helper()
	root := filepath.Join(t.TempDir(), "lake")
	return &world.World{Clock: clock, Root: root, Store: world.Folder(t, root)}
}

// sameFiles compares the files of the flattened tables byte for byte, without what footers note.
func sameFiles(t testing.TB, what string, a, b *world.World) {
	t.Helper()
	one, other := digests(t, a), digests(t, b)
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
func sameVersions(t testing.TB, what string, a, b *world.World) {
	t.Helper()
	want, got := versionRows(t, a), versionRows(t, b)
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

// digestOf is the SHA-256 of a file; of one of a snapshot's deals, of the bytes before its footer. Its footer notes the deals that
// were pulled with other bytes than their version has: the market writes the same content in several ways, a lake serves the bytes
// of the version, and their links have another address as of another night.
func digestOf(t testing.TB, s store.Store, file lake.File) string {
	t.Helper()
	if !strings.HasPrefix(file.Table, "snapshots.") || !strings.HasSuffix(file.Table, "_deals") {
		return file.SHA256
	}
	data, err := store.Read(t.Context(), s, file.Path)
	if err != nil {
		t.Fatal(err)
	}
	// Four bytes of length and four of magic follow the footer.
	footer := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	return fmt.Sprintf("%x", sha256.Sum256(data[:footer]))
}

// digests returns the digests of the files of the flattened tables by table and partition, in the order of their runs.
func digests(t testing.TB, w *world.World) map[string][]string {
	t.Helper()
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	tables := map[string]bool{}
	for _, file := range l.Log().AllFiles() { // by path, so by run
		if table := strings.TrimPrefix(strings.TrimPrefix(file.Table, "history."), "snapshots."); file.Table != "quarantine" && table != lake.DealVersions {
			part := filepath.Dir(file.Path)
			all[part] = append(all[part], digestOf(t, w.Store, file))
			tables[table] = true
		}
	}
	if len(tables) != len(lake.Tables()) {
		t.Errorf("%d tables have files: the market is too small to prove anything", len(tables))
	}
	return all
}

// versionRows returns every version as a text, in order.
func versionRows(t testing.TB, w *world.World) (all []string) {
	t.Helper()
	w.Ask(t, func(db *stdsql.DB) {
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
