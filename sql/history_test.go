package sql_test

import (
	"context"
	stdsql "database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/load/mirror"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/sql"
)

// firstNight is the known_at of a history's first commit; each later commit is a day later.
var firstNight = time.Date(2026, 1, 5, 22, 0, 0, 0, time.UTC)

// history is a lake's history whose rows a test writes by hand, including rows that no run would write. Written rows
// belong to the next commit.
type history struct {
	t       *testing.T
	root    string
	db      *stdsql.DB                                          // the rows of the next commit, in one table per table of the lake
	written map[string]map[api.Market]int64                     // number of rows by table
	said    map[api.Feed]map[int64]map[int32][]lake.FieldChange // by feed, deal and later version
	runs    []lake.Commit
	files   []lake.File
	yearly  bool // commits are half a year apart: see known
}

// historyTables lists the tables of a history, with their columns.
func historyTables() map[string][]lake.Column {
	all := map[string][]lake.Column{lake.DealVersions: lake.DealVersionColumns()}
	for _, table := range lake.Tables() {
		all[table.Name] = table.HistoryColumns()
	}
	return all
}

func newHistory(t *testing.T) *history {
	t.Helper()
	db, err := stdsql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(1)
	h := &history{t: t, root: t.TempDir(), db: db, written: map[string]map[api.Market]int64{}, said: map[api.Feed]map[int64]map[int32][]lake.FieldChange{}}
	h.exec("SET TimeZone = 'UTC'")
	for name, columns := range historyTables() {
		parts := make([]string, len(columns))
		for i := range columns {
			parts[i] = fmt.Sprintf("%q %s", columns[i].Name, columns[i].Type.SQL())
		}
		h.exec(fmt.Sprintf("CREATE TABLE %q (%s)", name, strings.Join(parts, ", ")))
	}
	return h
}

func (h *history) exec(statement string) {
	h.t.Helper()
	if _, err := h.db.Exec(statement); err != nil {
		h.t.Fatalf("%s: %v", statement, err)
	}
}

// known is the instant of the next commit. A yearly history has one in the first hour of each year, whose run began in the year before,
// and one in the middle of it.
func (h *history) known() lake.Instant {
	if h.yearly {
		return lake.At(time.Date(2026, time.Month(1+6*len(h.runs)), 1, 0, 30, 0, 0, time.UTC))
	}
	return lake.At(firstNight.AddDate(0, 0, len(h.runs)))
}

// started is when the run of the next commit begins.
func (h *history) started() lake.Instant { return lake.At(h.known().Add(-time.Hour)) }

func (h *history) runID() string { return fmt.Sprintf("0195-%d", len(h.runs)+1) }

// versions writes one version of each of the deals from first to last, without rows of their tables.
func (h *history) versions(feed api.Feed, change string, version int32, first, last int64) {
	h.t.Helper()
	h.exec(fmt.Sprintf(`INSERT INTO deal_versions BY NAME
		SELECT '%s' AS service, '%s' AS market, '%s' AS kind, range AS deal_id, %d AS version, '%s' AS change, TIMESTAMPTZ '%s' AS known_at,
		       TIMESTAMPTZ '%[6]s' AS observed_at, '%s' AS run_id, 1 AS hash_version, %d AS schema_version
		FROM range(%d, %d)`, feed.Service, feed.Market, feed.Kind, version, change, h.known(), h.runID(), lake.SchemaVersion, first, last+1))
	h.count(lake.DealVersions, feed.Market, last-first+1)
}

// rows writes a row of a table for each of the deals from first to last. set adds values, as "'T2' AS tier".
func (h *history) rows(table string, market api.Market, version int32, first, last int64, set ...string) {
	h.t.Helper()
	columns := append([]string{fmt.Sprintf("'%s' AS market, range AS deal_id, %d AS version", market, version)}, set...)
	h.exec(fmt.Sprintf("INSERT INTO %q BY NAME SELECT %s FROM range(%d, %d)", table, strings.Join(columns, ", "), first, last+1))
	h.count(table, market, last-first+1)
}

func (h *history) count(table string, market api.Market, rows int64) {
	if h.written[table] == nil {
		h.written[table] = map[api.Market]int64{}
	}
	h.written[table][market] += rows
}

// deals writes one version of each of the deals from first to last, each with its row in the deals' own table.
func (h *history) deals(feed api.Feed, version int32, first, last int64, set ...string) {
	h.t.Helper()
	change := lake.Changed
	if version == 1 {
		change = lake.Added
	}
	h.versions(feed, change, version, first, last)
	h.rows(lake.FeedTables(feed)[0].Name, feed.Market, version, first, last, set...)
}

// edit writes a version of each of the deals from first to last that differs from the one before in changes.
func (h *history) edit(feed api.Feed, version int32, first, last int64, changes ...lake.FieldChange) {
	h.t.Helper()
	h.deals(feed, version, first, last)
	h.says(feed, version, first, last, changes...)
}

// says makes diff return changes between a version and the one before.
func (h *history) says(feed api.Feed, version int32, first, last int64, changes ...lake.FieldChange) {
	if h.said[feed] == nil {
		h.said[feed] = map[int64]map[int32][]lake.FieldChange{}
	}
	for id := first; id <= last; id++ {
		if h.said[feed][id] == nil {
			h.said[feed][id] = map[int32][]lake.FieldChange{}
		}
		h.said[feed][id][version] = append(h.said[feed][id][version], changes...)
	}
}

func (h *history) diff(_ context.Context, pairs []lake.VersionPair, emit func(*lake.VersionPair, []lake.FieldChange) error) error {
	for i := range pairs {
		if err := emit(&pairs[i], h.said[pairs[i].Feed][pairs[i].DealID][pairs[i].After]); err != nil {
			return err
		}
	}
	return nil
}

// commit ends a commit: rows that are written from now on belong to the next one.
func (h *history) commit() (added []lake.File) {
	h.t.Helper()
	run := lake.Commit{Number: int64(len(h.runs) + 1), RunID: h.runID(), Command: "run", StartedAt: h.started(), KnownAt: h.known(), Outcome: lake.OutcomeDone}
	for _, feed := range api.Feeds() {
		run.Feeds = append(run.Feeds, lake.FeedRun{Feed: feed, Outcome: lake.OutcomeDone})
	}
	added = h.write()
	h.runs, h.files = append(h.runs, run), append(h.files, added...)
	return added
}

// check ends a commit, builds its catalog, and returns the results of the quality checks.
func (h *history) check(accepted ...string) (results []lake.Check) {
	h.t.Helper()
	added := h.commit()
	made, results, err := h.catalog().BuildAndCheck(h.t.Context(), filepath.Join(h.t.TempDir(), "catalog.duckdb"), added, accepted)
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return results
}

// build ends a commit, and returns the file of its catalog.
func (h *history) build() (path string) {
	h.t.Helper()
	h.commit()
	return h.buildFrom("")
}

// buildFrom returns the catalog file of the latest commit. It extends the catalog file previous; "" builds from
// scratch.
func (h *history) buildFrom(previous string) (path string) {
	h.t.Helper()
	path = filepath.Join(h.t.TempDir(), "catalog.duckdb")
	catalog := h.catalog()
	catalog.Previous = previous
	if err := catalog.Build(h.t.Context(), path); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// open opens a catalog file of the history until the test ends.
func (h *history) open(path string) *stdsql.DB {
	h.t.Helper()
	db, err := sql.Open(h.t.Context(), path, h.root)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			h.t.Error(err)
		}
	})
	return db
}

// localFiles returns the files of the lake in a folder.
func localFiles(t *testing.T, folder string) sql.LocalFiles {
	t.Helper()
	store, err := dirstore.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	local, err := mirror.Open(store, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return local
}

func (h *history) catalog() *sql.Catalog {
	last := &h.runs[len(h.runs)-1]
	return &sql.Catalog{Root: h.root, Local: localFiles(h.t, h.root), Commit: last.Number, Known: last.KnownAt, Files: h.files, Runs: h.runs, Diff: h.diff}
}

// compact ends a commit without new versions. It replaces all files by one per table and market.
func (h *history) compact() {
	h.t.Helper()
	for i := range h.files {
		f := &h.files[i]
		table, market := strings.TrimPrefix(f.Table, lake.HistoryTable("")), api.Market(f.Partition["market"])
		h.exec(fmt.Sprintf("INSERT INTO %q BY NAME FROM read_parquet('%s', hive_partitioning = false)", table, filepath.Join(h.root, filepath.FromSlash(f.Path))))
		h.count(table, market, f.Rows)
	}
	h.files = nil
	h.commit()
	run := &h.runs[len(h.runs)-1]
	run.Command, run.Feeds = "compact", nil
}

// write moves the written rows into files, one per table and market.
func (h *history) write() (added []lake.File) {
	h.t.Helper()
	for name := range historyTables() {
		for market, rows := range h.written[name] {
			year := h.started().Year()
			key := lake.HistoryKey(name, market, year, h.runID(), 0)
			path := filepath.Join(h.root, filepath.FromSlash(key))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				h.t.Fatal(err)
			}
			h.exec(fmt.Sprintf("COPY (FROM %q WHERE market = '%s') TO '%s' (FORMAT parquet)", name, market, strings.ReplaceAll(path, "'", "''")))
			added = append(added, lake.File{
				Path: key, Table: lake.HistoryTable(name), SchemaVersion: lake.SchemaVersion, Rows: rows,
				Partition: map[string]string{"market": string(market), "year": fmt.Sprint(year)},
			})
		}
		if len(h.written[name]) > 0 {
			h.exec(fmt.Sprintf("DELETE FROM %q", name))
		}
	}
	h.written = map[string]map[api.Market]int64{}
	slices.SortFunc(added, func(a, b lake.File) int { return strings.Compare(a.Path, b.Path) })
	return added
}
