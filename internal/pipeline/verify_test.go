package pipeline_test

import (
	"cmp"
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
	"dealflow/load"
	"dealflow/load/parquet"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// verify looks at everything in a lake.
func verifyLake(t testing.TB, s store.Store) (*verify.Report, error) {
	t.Helper()
	return verify.Lake(t.Context(), s, verify.Config{ReadData: true, Memory: testkit.Allocator(t)})
}

// wantSound checks that a lake is what its commits say, and that everything was looked at.
func wantSound(t testing.TB, s store.Store) *verify.Report {
	t.Helper()
	report, err := verifyLake(t, s)
	if err != nil {
		t.Errorf("verify: %v", err)
	}
	if report == nil {
		t.FailNow()
	}
	for _, f := range report.Findings {
		t.Errorf("found in a sound lake: %s", finding(f))
	}
	if c := report.Checked; c.FilesRead != c.Files || c.Commits != report.Commit {
		t.Errorf("looked at %d of %d files, %d of %d commits", c.FilesRead, c.Files, c.Commits, report.Commit)
	}
	return report
}

func finding(f verify.Finding) string {
	of := ""
	if f.DealID != nil {
		of = fmt.Sprintf(" deal %d", *f.DealID)
	}
	if f.Version != nil {
		of += fmt.Sprintf(" version %d", *f.Version)
	}
	return fmt.Sprintf("%s %s %s%s: %s", f.Severity, f.Check, f.Path, of, f.Detail)
}

// TestSoundLakes verifies lakes of all kinds of histories: nothing is found in any.
func TestSoundLakes(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(*testing.T) *world{
		"nights of a market":               nightsOfAMarket,
		"an API that stumbles":             stumblingNights,
		"removals, quarantine, two a day":  eventfulNights,
		"syncs between nights":             syncedNights,
		"a feed that failed, pulled later": patchedNight,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fill(t)
			report := wantSound(t, w.store)
			var versions, rows int64
			for _, f := range w.log(t).AllFiles() {
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

func nightsOfAMarket(t *testing.T) *world {
	w := newWorld(t, sim.Config{Seed: 7, Deals: 40})
	for n := range 4 {
		w.night(t, n*3, quiet)
	}
	return w
}

func stumblingNights(t *testing.T) *world {
	w := newWorld(t, sim.Config{Seed: 8, Deals: 20})
	faults := serve.AllFaults(8, 0.05)
	faults.TooMany, faults.LinkSpelling = 0, 0
	server, err := serve.New(serve.Config{Source: w.market, Faults: faults})
	if err != nil {
		t.Fatal(err)
	}
	w.serve(t, server.Handler())
	w.pages, w.attempts = 10, 8
	w.night(t, 0, quiet)
	w.night(t, 3, quiet)
	return w
}

// eventfulNights has deals that go, come back and cannot be read, and a day that is run twice.
func eventfulNights(t *testing.T) *world {
	w, b := newBook(t)
	all := feeds(priced, expected, loanExpected)
	b.writeAll(priced, 1, 20, `"message":"A"`)
	b.writeAll(expected, 1, 6, `"tranches":[{"name":"a"},null,{"name":"b"}]`)
	b.writeAll(loanExpected, 1, 3, "")
	w.night(t, 0, all, quiet)
	b.strike(priced, 1)
	b.forbid(priced, 2)
	b.unlist(priced, 3)
	b.writeBody(priced, 4, `{"dealId":4,"dealId":4}`)
	b.writeBody(priced, 21, `["dealId",21]`)
	b.strike(expected, 1, 2)
	b.write(expected, 3, `"tranches":[]`)
	w.night(t, 1, all, quiet)
	b.strike(priced, 21)
	b.write(priced, 1, `"message":"A"`)
	b.write(priced, 4, `"message":"B"`)
	w.later(time.Hour)
	w.mustRun(t, all, quiet)
	b.write(priced, 5, `"message":"C"`)
	w.later(time.Hour)
	w.mustRun(t, all, quiet)
	w.night(t, 2, all, quiet)
	return w
}

func syncedNights(t *testing.T) *world {
	w := newWorld(t, sim.Config{Seed: 9, Deals: 30})
	for n := range 2 {
		w.night(t, 4*n, quiet)
		for range 3 {
			w.later(20 * time.Hour)
			w.mustSync(t, quiet)
		}
	}
	return w
}

func patchedNight(t *testing.T) *world {
	w, b := newBook(t)
	both := feeds(priced, expected)
	b.writeAll(priced, 1, 5, "")
	b.writeAll(expected, 1, 3, "")
	w.night(t, 0, both, quiet)
	w.evening(1)
	w.interfere(refuse(http.StatusInternalServerError, expected.Path()))
	if _, err := w.run(t, both, quiet); err == nil {
		t.Fatal("the feed did not fail")
	}
	w.interfere(nil)
	b.write(expected, 2, `"message":"changed"`)
	b.write(priced, 2, `"message":"changed"`)
	w.later(time.Hour)
	w.mustRun(t, both, quiet)
	w.later(time.Hour)
	b.writeAll(api.Feed{Service: api.Bond, Market: api.EM, Kind: api.Expected}, 1, 2, "")
	w.mustRun(t, quiet)
	return w
}

// TestSoundAfterRewriting verifies lakes of which later commits have rewritten files: history as a
// compaction does, history and snapshots as a replay does; or removed snapshots, as expiry does.
func TestSoundAfterRewriting(t *testing.T) {
	t.Parallel()
	base := shortLake(t)
	for name, want := range map[string]func(lake.File) bool{
		"compact": func(f lake.File) bool { return strings.HasPrefix(f.Table, "history.") },
		"replay":  func(f lake.File) bool { return f.Table != lake.QuarantineTable },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := copyStore(t, base.store, new(memstore.Mem))
			rewrite(t, s, name, want)
			wantSound(t, s)
			rewrite(t, s, name, want)
			report := wantSound(t, s)
			if report.Commit != 5 || report.Garbage.Files == 0 {
				t.Errorf("commit %d, %d files of garbage: nothing was rewritten", report.Commit, report.Garbage.Files)
			}
		})
	}
	t.Run("expire", func(t *testing.T) {
		t.Parallel()
		s := copyStore(t, base.store, new(memstore.Mem))
		rewrite(t, s, "expire", func(lake.File) bool { return false }, "2026-01-05")
		wantSound(t, s)
	})
}

// rewrite makes a commit in which the files that are wanted are one file a table and partition, and
// without the snapshots of some days.
func rewrite(t *testing.T, s store.Store, command string, wanted func(lake.File) bool, expired ...string) {
	t.Helper()
	l, err := load.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	at := l.Log().KnownAt.Add(time.Hour)
	run, err := l.Begin(load.RunConfig{ID: uuid.Must(uuid.NewV7()).String(), Started: at, WorkDir: t.TempDir(), Memory: testkit.Allocator(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	groups := map[string][]lake.File{}
	commit := lake.Commit{Command: command, KnownAt: lake.At(at), Outcome: lake.OutcomeDone, Feeds: []lake.FeedRun{}}
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
	if err := run.Settle(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

// rewriteFiles writes the rows of files of one partition into one file.
func rewriteFiles(t *testing.T, s store.Store, run *load.Run, files []lake.File) {
	t.Helper()
	d := &damager{T: t, store: s}
	var fields []arrow.Field
	var parts [][]arrow.Array
	for _, f := range files {
		var columns []arrow.Array
		fields, columns, _ = d.readFile(f.Path)
		parts = append(parts, columns)
	}
	columns := make([]arrow.Array, len(fields))
	for c := range columns {
		var of []arrow.Array
		for _, part := range parts {
			of = append(of, part[c])
		}
		var err error
		columns[c], err = array.Concatenate(of, memory.DefaultAllocator)
		d.check(err)
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
		columns[i] = pick(t, columns[i], order)
	}
	market := api.Market(files[0].Partition["market"])
	name, snapshot := strings.CutPrefix(files[0].Table, "snapshots.")
	table, known := lake.TableByName(strings.TrimPrefix(name, "history."))
	var w *parquet.Writer
	var err error
	switch {
	case snapshot:
		w, err = run.Snapshot(table, market, files[0].Partition["snapshot_date"])
	case known:
		w, err = run.History(table, market)
	default:
		w, err = run.DealVersions(market)
	}
	d.check(err)
	record := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(len(order)))
	ids := columns[slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == "deal_id" })].(*array.Int64).Int64Values()
	d.check(w.Write(record, slices.Min(ids), slices.Max(ids)))
	d.check(w.Finish(t.Context()))
}
