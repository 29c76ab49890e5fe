package parquet_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/internal/testkit"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// inStore puts a finished file into a store.
func inStore(s store.Store, files *[]lake.File) parquet.PutFunc {
	return func(ctx context.Context, file lake.File, body *parquet.Finished) error {
		defer body.Close()
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return err
		}
		*files = append(*files, file)
		return s.Put(ctx, file.Path, body, store.CreateOnly)
	}
}

// TestTakeOver writes snapshots of each table for two days with the same rows. The second one takes over row groups of the
// first, some of them from other places in the file: it has the bytes that it has when all is encoded again.
func TestTakeOver(t *testing.T) {
	for _, table := range lake.Tables() {
		t.Run(table.Name, func(t *testing.T) {
			mem := testkit.Allocator(t)
			columns := table.SnapshotColumns()
			common := len(columns) - 1
			var files []lake.File
			s := new(memstore.Mem)
			create := func(path string) *parquet.Writer {
				w, err := parquet.Create(mem, t.TempDir(), lake.File{Path: path, Table: table.Name, SchemaVersion: lake.SchemaVersion}, columns, inStore(s, &files))
				if err != nil {
					t.Fatal(err)
				}
				return w
			}
			finish := func(w *parquet.Writer) {
				if err := w.Finish(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			write := func(w *parquet.Writer, group arrow.Record) {
				if err := w.Write(group, 1, 9); err != nil {
					t.Fatal(err)
				}
			}
			// Texts of each length, none of them, one row, and other rows for the day after.
			var yesterday, today []arrow.Record
			for seed, c := range []struct{ rows, texts int }{{300, 20}, {1, 20}, {200, noTexts}, {300, 5}} {
				group := fill(mem, lake.ArrowSchema(columns), uint64(seed), c.rows, c.texts)
				defer group.Release()
				next := fill(mem, lake.ArrowSchema(columns), uint64(seed)+10, c.rows, c.texts)
				defer next.Release()
				same := array.NewRecord(group.Schema(), append(slices.Clone(group.Columns()[:common]), next.Column(common)), group.NumRows())
				defer same.Release()
				yesterday, today = append(yesterday, group), append(today, same)
			}
			first := create("yesterday")
			for _, group := range yesterday {
				write(first, group)
			}
			finish(first)
			whole := create("whole")
			today[1] = yesterday[0] // some rows are new
			for _, group := range today {
				write(whole, group)
			}
			finish(whole)

			from, err := parquet.Open(t.Context(), s, "yesterday")
			if err != nil {
				t.Fatal(err)
			}
			defer from.Close()
			groups, err := from.GroupDeals()
			if err != nil {
				t.Fatal(err)
			}
			taken := create("taken")
			for number, group := range today {
				if number == 1 {
					write(taken, group)
					continue
				}
				rest := array.NewRecord(lake.BatchSchema(columns[common:]), group.Columns()[common:], group.NumRows())
				defer rest.Release()
				if err := taken.TakeOver(from, number, parquet.GroupDeals{Rows: groups[number].Rows, MinDealID: 1, MaxDealID: 9}, rest); err != nil {
					t.Fatal(err)
				}
			}
			finish(taken)
			want, got := files[1], files[2]
			want.Path = got.Path
			if got.SHA256 != want.SHA256 || got.Rows != want.Rows || got.MinDealID != 1 || got.MaxDealID != 9 {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// TestTakeOverNeedsTheSameColumns takes a row group over from a file of another table, and one with another number of rows.
func TestTakeOverNeedsTheSameColumns(t *testing.T) {
	mem := testkit.Allocator(t)
	var files []lake.File
	s := new(memstore.Mem)
	for _, table := range lake.Tables()[:2] {
		columns := table.SnapshotColumns()
		rows := fill(mem, lake.ArrowSchema(columns), 1, 10, 20)
		defer rows.Release()
		w, err := parquet.Create(mem, t.TempDir(), lake.File{Path: table.Name, Table: table.Name}, columns, inStore(s, &files))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(rows, 1, 10); err != nil {
			t.Fatal(err)
		}
		if err := w.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	columns := lake.Tables()[0].SnapshotColumns()
	for number, c := range []struct {
		rows int
		want string
	}{{9, "has 10 rows, its new columns 9"}, {10, "has other columns"}} {
		t.Run(c.want, func(t *testing.T) {
			from, err := parquet.Open(t.Context(), s, lake.Tables()[number].Name)
			if err != nil {
				t.Fatal(err)
			}
			defer from.Close()
			w, err := parquet.Create(mem, t.TempDir(), lake.File{Path: "new"}, columns, inStore(s, &files))
			if err != nil {
				t.Fatal(err)
			}
			defer w.Abort()
			day := fill(mem, lake.BatchSchema(columns[len(columns)-1:]), 1, c.rows, 0)
			defer day.Release()
			if err := w.TakeOver(from, 0, parquet.GroupDeals{}, day); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

// TestStretch cuts deals into stretches, and then without one of them, with one more, and with more at the end. The lengths
// are within the bounds, and few ends move.
func TestStretch(t *testing.T) {
	ends := func(ids []int64) map[int64]bool {
		found := map[int64]bool{}
		stretch := parquet.Stretch{Least: parquet.LeastStretch}
		length := 0
		for _, id := range ids {
			if stretch.EndsBefore(id) {
				if length < 1024 || length > 4096 {
					t.Errorf("a stretch of %d deals ends before deal %d, want 1,024 to 4,096", length, id)
				}
				found[id], length = true, 0
			}
			length++
		}
		return found
	}
	var ids []int64
	for id := int64(100_000); len(ids) < 100_000; id += 1 + id*id%3 {
		ids = append(ids, id)
	}
	whole := ends(ids)
	if len(whole) < 100_000/4096 || len(whole) > 100_000/1024 {
		t.Fatalf("got %d ends, want about one for each 2,000 deals", len(whole))
	}
	for name, other := range map[string][]int64{
		"one less":    slices.Concat(ids[:50_000], ids[50_001:]),
		"one more":    slices.Insert(slices.Clone(ids), 50_000, ids[49_999]+1),
		"some at end": slices.Concat(ids, []int64{ids[99_999] + 5, ids[99_999] + 6}),
	} {
		moved := 0
		for id := range ends(other) {
			if !whole[id] {
				moved++
			}
		}
		if moved > 5 {
			t.Errorf("%s: %d ends moved of %d, want those near it", name, moved, len(whole))
		}
	}
}

// TestStretches writes deals of a feed in stretches, and reads back what the file says of them: where each begins, and its
// drift, unless that is too much.
func TestStretches(t *testing.T) {
	mem := testkit.Allocator(t)
	var files []lake.File
	s := new(memstore.Mem)
	feed := api.Feed{Service: api.Bond, Market: "IG", Kind: api.Expected}
	rows, err := transform.NewSnapshotBatches(mem, feed, "2026-01-05")
	if err != nil {
		t.Fatal(err)
	}
	tables := parquet.NewTables(rows, func(table *lake.Table) (*parquet.Writer, error) {
		return parquet.Create(mem, t.TempDir(), lake.File{Path: table.Name, Table: table.Name, SchemaVersion: lake.SchemaVersion}, table.SnapshotColumns(), inStore(s, &files))
	})
	defer tables.Release()
	flattener := transform.NewFlattener(feed, api.Base{})
	stretches := parquet.Stretches{Tables: tables, Stretch: parquet.Stretch{Least: 4}, Drift: flattener.TakeDrift}
	var begins []int64 // by the rule
	rule := parquet.Stretch{Least: 4}
	for id := int64(1); id <= 40; id++ {
		unknown := `"unknown":1`
		if id == 40 {
			unknown = `"` + strings.Repeat("x", 20<<10) + `":1`
		}
		if rule.EndsBefore(id) || id == 1 {
			begins = append(begins, id)
		}
		if err := stretches.Begin(id); err != nil {
			t.Fatal(err)
		}
		if _, err := flattener.Read(fmt.Appendf(nil, `{"id":%d,%s}`, id, unknown)); err != nil {
			t.Fatal(err)
		}
		rows.Append(flattener, id, 1)
	}
	if err := errors.Join(stretches.End(), tables.Finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.Open(t.Context(), s, "bond_expected_deals")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	notes, err := f.Stretches()
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(notes)); !slices.Equal(got, begins) || len(begins) < 3 {
		t.Fatalf("got stretches that begin with %v, want %v", got, begins)
	}
	groups, err := f.GroupDeals()
	if err != nil {
		t.Fatal(err)
	}
	for i, first := range begins {
		last := int64(40)
		if i+1 < len(begins) {
			last = begins[i+1] - 1
		}
		if g := groups[i]; g.MinDealID != first || g.MaxDealID != last || g.Rows != last-first+1 {
			t.Errorf("row group %d: got %+v, want the deals %d to %d", i, g, first, last)
		}
		at := slices.IndexFunc(notes[first].Drift, func(d lake.Drift) bool { return d.Kind == lake.DriftUnknown })
		if last == 40 {
			if notes[first].Drift != nil {
				t.Errorf("stretch %d: got %d bytes of drift, want none noted", first, len(fmt.Sprint(notes[first].Drift)))
			}
		} else if at < 0 || notes[first].Drift[at].Count != last-first+1 {
			t.Errorf("stretch %d: got drift %v, want one of each deal", first, notes[first].Drift)
		}
	}
}
