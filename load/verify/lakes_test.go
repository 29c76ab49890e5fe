package verify_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestSoundLakes verifies lakes with all kinds of histories: there are no findings.
func TestSoundLakes(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(testing.TB) *world.World{
		"nights of a market":               world.NightsOfAMarket,
		"an API that stumbles":             world.StumblingNights,
		"removals, quarantine, two a day":  world.EventfulNights,
		"syncs between nights":             world.SyncedNights,
		"a feed that failed, pulled later": patchedNight,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fill(t)
			report := world.WantSound(t, w.Store)
			var versions, rows int64
			for _, f := range w.Log(t).AllFiles() {
				rows += f.Rows
				if f.Table == "history.deal_versions" {
					versions += f.Rows
				}
			}
			if report.Checked.Versions != versions || report.Checked.RowsRead != rows || versions == 0 {
				t.Errorf("checked %d versions and %d rows, the lake has %d and %d", report.Checked.Versions, report.Checked.RowsRead, versions, rows)
			}
		})
	}
}

func patchedNight(t testing.TB) *world.World {
	t.Helper()
	w, b := world.NewBook(t)
	both := world.Feeds(world.Priced, world.Expected)
	b.WriteAll(world.Priced, 1, 5, "")
	b.WriteAll(world.Expected, 1, 3, "")
	w.Night(t, 0, both, world.Quiet)
	w.Evening(1)
	w.Interfere(world.Refuse(http.StatusInternalServerError, world.Expected.Path()))
	if _, err := w.Run(t, both, world.Quiet); err == nil {
		t.Fatal("the feed did not fail")
	}
	w.Interfere(nil)
	b.Write(world.Expected, 2, `"message":"changed"`)
	b.Write(world.Priced, 2, `"message":"changed"`)
	w.Later(time.Hour)
	w.MustRun(t, both, world.Quiet)
	w.Later(time.Hour)
	b.WriteAll(api.Feed{Service: api.Bond, Market: api.EM, Kind: api.Expected}, 1, 2, "")
	w.MustRun(t, world.Quiet)
	return w
}

// TestSoundAfterRewriting verifies lakes in which later commits have rewritten history as a compaction does, rewritten
// history and snapshots as a replay does, or removed snapshots as expire does.
func TestSoundAfterRewriting(t *testing.T) {
	t.Parallel()
	base := world.ShortLake(t)
	for name, want := range map[string]func(lake.File) bool{
		"compact": func(f lake.File) bool { return strings.HasPrefix(f.Table, "history.") },
		"replay":  func(f lake.File) bool { return f.Table != lake.QuarantineTable },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := world.CopyStore(t, base.Store, new(memstore.Mem))
			rewrite(t, s, name, want)
			world.WantSound(t, s)
			rewrite(t, s, name, want)
			report := world.WantSound(t, s)
			if report.Commit != 5 || report.Garbage.Files == 0 {
				t.Errorf("commit %d, %d files of garbage: nothing was rewritten", report.Commit, report.Garbage.Files)
			}
		})
	}
	t.Run("expire", func(t *testing.T) {
		t.Parallel()
		s := world.CopyStore(t, base.Store, new(memstore.Mem))
		rewrite(t, s, "expire", func(lake.File) bool { return false }, "2026-01-05")
		world.WantSound(t, s)
	})
}

// TestTableOfALaterProgram verifies a lake with files of a table that a later program has added: each is a note, and its bytes
// are checked.
func TestTableOfALaterProgram(t *testing.T) {
	t.Parallel()
	s := world.ShortLake(t).Store
	d := &world.Damager{TB: t, Store: s}
	renamed := []string{}
	for n := int64(1); n <= 3; n++ {
		for _, f := range d.ReadCommit(n).Add {
			if kind, name, _ := strings.Cut(f.Table, "."); name == "bond_priced_banks" {
				d.Do(fmt.Sprintf("commit commit@%d schema %s %d", n, f.Path, lake.SchemaVersion+1))
				d.Do(fmt.Sprintf("commit commit@%d table %s %s.bond_priced_notes", n, f.Path, kind))
				renamed = append(renamed, f.Path)
			}
		}
	}
	report, err := world.Verify(t, s)
	if err != nil || report.Notes != int64(len(renamed)) || slices.ContainsFunc(report.Findings, func(f verify.Finding) bool { return f.Check != verify.NotChecked }) {
		t.Errorf("got %v, %+v; want a note for each of %d files", err, report.Findings, len(renamed))
	}
	d.Do("flip " + renamed[0] + " data")
	report, err = world.Verify(t, s)
	if !errors.Is(err, verify.ErrDamage) || !slices.ContainsFunc(report.Findings, func(f verify.Finding) bool { return f.Check == verify.FileHash }) {
		t.Errorf("a flipped bit: got %v, %+v; want %s", err, report.Findings, verify.FileHash)
	}
}

// rewrite makes a commit that merges the wanted files into one per table and partition, and removes the snapshots of
// some days.
func rewrite(t *testing.T, s store.Store, command string, wanted func(lake.File) bool, expired ...string) {
	t.Helper()
	l, err := load.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	started := l.Log().KnownAt.Add(time.Hour)
	run, err := l.Begin(load.TransactionConfig{ID: uuid.Must(uuid.NewV7()).String(), Command: "run", Clock: time.Now, Started: started, WorkDir: t.TempDir(), Memory: testkit.Allocator(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close(t.Context())
	groups := map[string][]lake.File{}
	commit := lake.Commit{Command: command, KnownAt: lake.At(started), Outcome: lake.OutcomeDone, Feeds: []lake.FeedRun{}}
	for _, f := range l.Log().AllFiles() {
		if slices.Contains(expired, f.Partition["snapshot_date"]) {
			commit.Remove = append(commit.Remove, f.Path)
		} else if wanted(f) {
			commit.Remove = append(commit.Remove, f.Path)
			groups[path.Dir(f.Path)] = append(groups[path.Dir(f.Path)], f)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(groups)) {
		rewriteFiles(t, s, run, groups[folder])
	}
	if _, err := run.Commit(t.Context(), commit); err != nil {
		t.Fatal(err)
	}
	if err := l.WriteDerived(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// rewriteFiles writes the rows of files of one partition into one file.
func rewriteFiles(t *testing.T, s store.Store, run *load.Transaction, files []lake.File) {
	t.Helper()
	d := &world.Damager{TB: t, Store: s}
	var fields []arrow.Field
	var parts [][]arrow.Array
	for _, f := range files {
		var columns []arrow.Array
		fields, columns, _ = d.ReadFile(f.Path)
		parts = append(parts, columns)
	}
	columns := make([]arrow.Array, len(fields))
	for c := range columns {
		var chunks []arrow.Array
		for _, part := range parts {
			chunks = append(chunks, part[c])
		}
		var err error
		columns[c], err = array.Concatenate(chunks, memory.DefaultAllocator)
		d.Check(err)
	}
	keys := map[string]arrow.Array{}
	for i, field := range fields {
		keys[field.Name] = columns[i]
	}
	number := func(name string, row int) int64 {
		switch column := keys[name].(type) {
		case *array.Int64:
			return column.Value(row)
		case *array.Int32:
			return int64(column.Value(row))
		}
		return 0
	}
	order := make([]int, columns[0].Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		for _, name := range []string{"deal_id", "version", "tranche_ordinal", "ordinal"} {
			if by := cmp.Compare(number(name, a), number(name, b)); by != 0 {
				return by
			}
		}
		return 0
	})
	for i := range columns {
		columns[i] = world.Pick(t, columns[i], order)
	}
	market := api.Market(files[0].Partition["market"])
	name, snapshot := strings.CutPrefix(files[0].Table, "snapshots.")
	table, known := lake.TableByName(strings.TrimPrefix(name, "history."))
	var w *parquet.Writer
	var err error
	switch {
	case snapshot:
		w, err = run.Snapshot(table.Name, market, files[0].Partition["snapshot_date"])
	case known:
		w, err = run.History(table.Name, market)
	default:
		w, err = run.History(lake.DealVersions, market)
	}
	d.Check(err)
	record := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(len(order)))
	ids := columns[slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == "deal_id" })].(*array.Int64).Int64Values()
	d.Check(w.Write(record, slices.Min(ids), slices.Max(ids)))
	d.Check(w.Finish(t.Context()))
}
