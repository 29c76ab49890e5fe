package iceberg_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/iceberg"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/storetest"
	"dealflow/load/verify"
	"dealflow/schemas/lake"
)

// turn changes the settings of a lake's tables, and publishes or removes them.
func turn(t testing.TB, w *world.World, change func(*iceberg.Settings)) *maintain.TablesResult {
	t.Helper()
	r, err := maintain.Tables(t.Context(), maintain.TablesConfig{Config: w.Upkeep(t, func(c *maintain.Config) { c.NoCatalog = true }), Change: change})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func on(s *iceberg.Settings)  { s.On = true }
func off(s *iceberg.Settings) { s.On = false }

// night changes some deals of two feeds, and runs.
func night(t testing.TB, w *world.World, b *world.Book, day int) {
	t.Helper()
	b.WriteAll(world.Priced, int64(day), int64(day)+3, fmt.Sprintf(`"message":"%d","banks":[{"name":"one"},{"name":"%d"}]`, day, day))
	b.Write(world.Expected, int64(day%3+1), fmt.Sprintf(`"tranches":[{"name":"a"},{"name":"%d"}]`, day))
	switch day {
	case 2:
		b.Strike(world.Priced, 1)
	case 4:
		b.Write(world.Priced, 1, `"message":"again"`)
	}
	w.Night(t, day, world.Feeds(world.Priced, world.Expected), world.Quiet)
}

// TestTables reads all tables as of each kept commit, after each change of a lake: nights over the border of a block and
// of a year, syncs, removals, compaction, replay, expiry; a deal has the greatest id. The rows are those of the catalog.
func TestTables(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	r := newRead(t, w.Store)
	b.WriteAll(world.Priced, 1, 12, `"message":"A","banks":[{"name":"one"},{"name":"two"}]`)
	b.WriteAll(world.Expected, 1, 3, `"tranches":[{"name":"a"}]`)
	night(t, w, b, 0)
	turn(t, w, on)
	for day := 1; day <= 8; day++ {
		b.Write(world.Priced, math.MaxInt64, fmt.Sprintf(`"message":"%d","banks":[{"name":"last"}]`, day))
		night(t, w, b, day)
	}
	w.Later(time.Hour)
	b.Write(world.Priced, 3, `"message":"sync"`)
	w.MustSync(t, world.Quiet)
	turn(t, w, nil)
	if n := r.wantEqual(w); n < 3*10+7 { // as each night has continued from the one before
		t.Errorf("%d comparisons, want one for each table and kept commit", n)
	}
	w.Later(time.Hour)
	unpublished := func(c *maintain.Config) { c.NoCatalog = true }
	if _, err := maintain.Compact(t.Context(), w.Upkeep(t, unpublished)); err != nil {
		t.Fatal(err)
	}
	night(t, w, b, 10)
	w.MustReplay(t, "snapshots", "force")
	night(t, w, b, 360) // of the next year; only it and the ends of months are kept
	w.Later(time.Hour)
	if _, err := w.Expire(t, maintain.Retention{Days: 1}, true, unpublished); err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for _, s := range r.table(iceberg.Tables()[0]).Snapshots {
		ids = append(ids, s.ID)
	}
	log := w.Log(t)
	if want := []int64{log.Number - 4, log.Number - 1, log.Number}; len(ids) != 3 || ids[1] != want[1] || ids[2] != want[2] {
		t.Errorf("kept commits %v, want the end of January, the last run, and the newest, as in %v", ids, want)
	}
	turn(t, w, func(s *iceberg.Settings) { s.KeepAll = true })
	if n := r.wantEqual(w); n < 3*12+7 {
		t.Errorf("%d comparisons of all commits", n)
	}
	night(t, w, b, 361) // it continues from tables that were built from the files
	world.WantSound(t, w.Store)
}

// TestSameBytes publishes a lake again from nothing: all objects have the same names and bytes.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	w := world.EventfulNights(t)
	turn(t, w, on)
	objects := func() map[string]string {
		found := map[string]string{}
		for _, key := range world.Keys(t, w.Store) {
			if strings.HasPrefix(key, lake.IcebergPrefix) && !strings.HasSuffix(key, "/published.json") {
				found[key] = string(newRead(t, w.Store).object(key))
			}
		}
		return found
	}
	before := objects()
	manifests := map[string]string{} // keys by bytes
	for key, data := range before {
		if !strings.Contains(key, "-data-") {
			continue
		}
		if other, twice := manifests[data]; twice {
			t.Errorf("%s and %s have the same bytes: want one object for both", key, other)
		}
		manifests[data] = key
	}
	if err := w.Store.Delete(t.Context(), slices.DeleteFunc(world.Keys(t, w.Store), func(key string) bool {
		return !strings.HasPrefix(key, lake.IcebergPrefix) || strings.HasSuffix(key, "/settings.json")
	})...); err != nil {
		t.Fatal(err)
	}
	turn(t, w, nil)
	if after := objects(); !maps.Equal(before, after) {
		t.Errorf("%d objects before, %d after, and some differ", len(before), len(after))
	}
	if r := turn(t, w, nil); r.Published.Objects != 0 {
		t.Errorf("published again without a new commit: %+v, want nothing put", r.Published)
	}
	if after := objects(); !maps.Equal(before, after) {
		t.Error("publishing again without a new commit has changed objects")
	}
}

// TestKilledPublication ends a publication at one call of the store after the other. Each time all that the tables name
// exists, and the next publication completes.
func TestKilledPublication(t *testing.T) {
	t.Parallel()
	w := world.ShortLake(t)
	r := newRead(t, w.Store)
	turn(t, w, on)
	night := func() { // a commit that the tables do not have yet
		if err := iceberg.WriteSettings(t.Context(), w.Store, iceberg.Settings{}); err != nil {
			t.Fatal(err)
		}
		w.Later(24 * time.Hour)
		w.MustRun(t, world.Feeds(world.Priced, world.Expected, world.LoanPriced), world.Quiet)
		if err := iceberg.WriteSettings(t.Context(), w.Store, iceberg.Settings{On: true}); err != nil {
			t.Fatal(err)
		}
	}
	night()
	publish := func(s store.Store) error {
		l, err := load.Open(t.Context(), w.Store)
		if err != nil {
			t.Fatal(err)
		}
		_, err = iceberg.Publish(t.Context(), l.Through(s), iceberg.Config{Clock: w.Clock.Now})
		return err
	}
	killed := 0
	for at := int64(1); ; at += 17 {
		err := publish(&faultstore.Store{Store: w.Store, FailAt: at, Applied: at%2 == 0})
		if err == nil {
			break
		}
		if !errors.Is(err, faultstore.ErrInjected) {
			t.Fatalf("killed at call %d: %v", at, err)
		}
		killed++
		r.wantComplete()
	}
	if killed < 8 {
		t.Errorf("%d kills, want more: the publication has more calls", killed)
	}
	if err := publish(w.Store); err != nil {
		t.Fatal(err)
	}
	w.Publish(t)
	r.wantEqual(w)
}

// TestExpireKeepsWhatIsPublished has expire meet tables that were not published for longer than the grace: it keeps what
// they name, and says so. After a publication and another grace all that is gone.
func TestExpireKeepsWhatIsPublished(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	s := world.NewDatedStore(w.Clock.Now)
	w.Store = s
	r := newRead(t, s)
	b.WriteAll(world.Priced, 1, 12, `"message":"A","banks":[{"name":"one"}]`)
	b.WriteAll(world.Expected, 1, 3, "")
	for day := range 3 {
		night(t, w, b, day)
	}
	turn(t, w, on)
	if err := iceberg.WriteSettings(t.Context(), s, iceberg.Settings{}); err != nil { // so that nothing publishes
		t.Fatal(err)
	}
	compact := func() []string {
		t.Helper()
		var old []string
		for _, f := range w.Log(t).AllFiles() {
			if strings.HasPrefix(f.Path, "history/bond_priced_deals") {
				old = append(old, f.Path)
			}
		}
		if _, err := maintain.Compact(t.Context(), w.Upkeep(t, func(c *maintain.Config) { c.NoCatalog = true })); err != nil {
			t.Fatal(err)
		}
		return old
	}
	old := compact()
	exist := func() (n int) {
		for _, key := range world.Keys(t, s) {
			if slices.Contains(old, key) {
				n++
			}
		}
		return n
	}
	expire := func() *maintain.ExpireResult {
		t.Helper()
		w.Later(8 * 24 * time.Hour)
		result, err := w.Expire(t, maintain.Retention{Days: 400}, true, func(c *maintain.Config) { c.NoCatalog = true })
		if err != nil {
			t.Fatal(err)
		}
		r.wantComplete()
		return result
	}
	if result := expire(); result.Pinned.Files == 0 || result.Garbage.Files != 0 || exist() != len(old) {
		t.Errorf("tables that name %d replaced files: got %+v, and %d of them exist", len(old), result, exist())
	}
	if err := iceberg.WriteSettings(t.Context(), s, iceberg.Settings{On: true}); err != nil {
		t.Fatal(err)
	}
	turn(t, w, nil)
	// The metadata that was replaced just now is needed for another grace.
	if result, err := w.Expire(t, maintain.Retention{Days: 400}, true); err != nil || result.Pinned.Files == 0 || exist() != len(old) {
		t.Errorf("right after the publication: got %+v, %v, and %d files exist", result, err, exist())
	}
	if result := expire(); result.Pinned.Files != 0 || result.Garbage.Files == 0 || result.Tables.Files == 0 || exist() != 0 {
		t.Errorf("a grace later: got %+v, and %d files exist, want none", result, exist())
	}
}

// undeletable is a store that refuses to delete objects of the tables.
type undeletable struct{ store.Store }

var errUndeletable = errors.New("not allowed to delete")

func (u undeletable) Delete(ctx context.Context, keys ...string) error {
	if slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, lake.IcebergPrefix) }) {
		return errUndeletable
	}
	return u.Store.Delete(ctx, keys...)
}

// TestOff removes the tables: no hint, no metadata, and nothing of them after the grace. Programs that do not know the
// tables can read the lake at all times, and cannot write to it from the first publication on.
func TestOff(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	s := world.NewDatedStore(w.Clock.Now)
	w.Store = s
	b.WriteAll(world.Priced, 1, 12, `"message":"A"`)
	b.WriteAll(world.Expected, 1, 3, "")
	night(t, w, b, 0)
	if needs := w.Log(t).Needs(); len(needs.Requires)+len(needs.RequiresToWrite) > 1 || slices.Contains(needs.RequiresToWrite, lake.NeedIceberg) {
		t.Errorf("a lake without tables needs %+v", needs)
	}
	if _, err := maintain.Tables(t.Context(), maintain.TablesConfig{Config: w.Upkeep(t)}); !errors.Is(err, maintain.ErrTablesOff) {
		t.Errorf("publish before on: %v, want ErrTablesOff", err)
	}
	turn(t, w, on)
	if needs := w.Log(t).Needs(); !slices.Contains(needs.RequiresToWrite, lake.NeedIceberg) || slices.Contains(needs.Requires, lake.NeedIceberg) {
		t.Errorf("a lake with tables needs %+v, want %s to write", needs, lake.NeedIceberg)
	}
	night(t, w, b, 1)
	if p, err := iceberg.ReadPublished(t.Context(), s); err != nil || p == nil || p.Number != w.Log(t).Number {
		t.Errorf("after a night %+v, %v is published, want its commit", p, err)
	}
	w.Store = undeletable{s}
	failed, err := maintain.Tables(t.Context(), maintain.TablesConfig{Config: w.Upkeep(t, func(c *maintain.Config) { c.NoCatalog = true }), Change: off})
	if !errors.Is(err, errUndeletable) || failed.Outcome == lake.OutcomeDone {
		t.Errorf("off that cannot delete: %+v, %v, want an error, and not the outcome %s", failed, err, lake.OutcomeDone)
	}
	w.Store = s
	turn(t, w, off)
	night(t, w, b, 2)
	for _, key := range world.Keys(t, s) {
		if strings.HasSuffix(key, "version-hint.text") || strings.HasSuffix(key, ".metadata.json") || strings.HasSuffix(key, "published.json") {
			t.Errorf("%s exists after off", key)
		}
	}
	w.Later(8 * 24 * time.Hour)
	if result := w.MustExpire(t, maintain.Retention{Days: 400}, true); result.Tables.Files == 0 {
		t.Errorf("expire a grace after off: %+v", result)
	}
	keys := slices.DeleteFunc(world.Keys(t, s), func(key string) bool { return !strings.HasPrefix(key, lake.IcebergPrefix) })
	if len(keys) != 1 {
		t.Errorf("a grace after off there are %v, want the settings only", keys)
	}
	turn(t, w, on)
	newRead(t, s).wantComplete()
}

// TestEarlierTables publishes after tables of earlier programs, whose metadata had the complete hashes of commits: verify
// finds nothing in them, no table is built again, and expire keeps what they need.
func TestEarlierTables(t *testing.T) {
	t.Parallel()
	w, b := removedNights(t)
	earlier(t, w)
	world.WantSound(t, w.Store)
	if err := iceberg.WriteSettings(t.Context(), w.Store, iceberg.Settings{}); err != nil { // so that the night does not publish
		t.Fatal(err)
	}
	night(t, w, b, 4)
	report, err := world.Verify(t, w.Store)
	if err != nil || report.Notes != 1 || report.Findings[0].Check != verify.NotChecked || !strings.Contains(report.Findings[0].Detail, "they show commit 5, and the newest is 6") {
		t.Errorf("tables that lack a commit: %v, %+v; want a note that their rows were not compared", err, report)
	}
	if report, err := verify.Lake(t.Context(), w.Store, verify.Config{}); err != nil || len(report.Findings) > 0 {
		t.Errorf("tables that lack a commit, without reading: %v, %+v; want nothing found", err, report)
	}
	turn := turn(t, w, on)
	if turn.Published.Rebuilt > 0 {
		t.Errorf("%d tables were built again, want none", turn.Published.Rebuilt)
	}
	newRead(t, w.Store).wantEqual(w)
	world.WantSound(t, w.Store)
	needed, err := iceberg.FindNeeded(t.Context(), w.Store, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range needed.Garbage(time.Now().Add(time.Hour)) {
		t.Errorf("%s is garbage, want the earlier tables to be kept for the grace", o.Key)
	}
}

// earlier changes the newest tables to those of an earlier program, and the state that they were made from.
func earlier(t *testing.T, w *world.World) {
	t.Helper()
	published, err := iceberg.ReadPublished(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(text []byte, old, replacement string) []byte {
		t.Helper()
		if !bytes.Contains(text, []byte(old)) {
			t.Fatalf("there is no %s in %.200s", old, text)
		}
		return bytes.ReplaceAll(text, []byte(old), []byte(replacement))
	}
	state, err := parquet.Decompress(bytes.NewReader(storetest.Bytes(t, w.Store, published.State)))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := parquet.Compress(replace(state, `"format_version":4`, `"format_version":2`))
	if err != nil {
		t.Fatal(err)
	}
	key := lake.IcebergPrefix + "states/earlier.json.zst"
	storetest.Remove(t, w.Store, published.State)
	storetest.Overwrite(t, w.Store, key, packed)
	storetest.Overwrite(t, w.Store, iceberg.PublishedKey, replace(storetest.Bytes(t, w.Store, iceberg.PublishedKey), published.State, key))
	for i := range published.Tables {
		metadata := replace(storetest.Bytes(t, w.Store, published.Tables[i].Metadata()), published.State, key)
		for _, c := range w.Log(t).Commits {
			sum := lake.SHA256(storetest.Bytes(t, w.Store, lake.CommitKey(c.Number)))
			metadata = bytes.ReplaceAll(metadata, fmt.Appendf(nil, `"dealflow.sha256":"%.12s"`, sum), fmt.Appendf(nil, `"dealflow.commit_sha256":%q`, sum))
		}
		storetest.Overwrite(t, w.Store, published.Tables[i].Metadata(), metadata)
	}
}
