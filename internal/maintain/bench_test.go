package maintain_test

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"dealflow/internal/catalog"
	"dealflow/internal/maintain"
	"dealflow/internal/testkit/longlake"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
	"dealflow/sql"
)

// BenchmarkFilesOfAYear takes a small lake of all feeds through TEST_NIGHTS nights (365; 2 with -short), each maintained as
// by `run --maintain --keep-days 35`, and reports how many files are part of it at the end. Their number does not depend on the
// number of deals.
func BenchmarkFilesOfAYear(b *testing.B) {
	nights := 365
	if testing.Short() {
		nights = 2
	}
	if text := os.Getenv("TEST_NIGHTS"); text != "" {
		var err error
		if nights, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		w := world.New(b, sim.Config{Seed: 21, Deals: 15})
		most := 0
		for night := range nights {
			w.Evening(night)
			w.MustRun(b, world.Quiet, world.AcceptRemovals)
			w.Later(time.Minute)
			if _, err := maintain.Compact(b.Context(), w.Upkeep(b, quietly)); err != nil {
				b.Fatal(err)
			}
			if _, err := w.Expire(b, maintain.Retention{Days: 35, MonthEnds: true}, true, quietly); err != nil {
				b.Fatal(err)
			}
			most = max(most, len(w.Log(b).AllFiles()))
		}
		b.ReportMetric(float64(len(w.Log(b).AllFiles())), "files")
		b.ReportMetric(float64(most), "files-at-most")
	}
}

// BenchmarkOneMarketOfADay asks for wide rows of one market and day, in a lake of fifteen years before and after a
// compaction, and reports both times and their ratio (longlake.BenchmarkConfig).
func BenchmarkOneMarketOfADay(b *testing.B) {
	root := longlake.Clone(b, longlake.Open(b, longlake.BenchmarkConfig()))
	s, err := dirstore.New(root)
	if err != nil {
		b.Fatal(err)
	}
	cfg := func() maintain.Config {
		return maintain.Config{Store: s, RunID: uuid.Must(uuid.NewV7()).String(), Clock: time.Now, WorkDir: b.TempDir(), NoCatalog: true}
	}
	for b.Loop() {
		before := medians(b, root, s)
		began := time.Now()
		result, err := maintain.Compact(b.Context(), cfg())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "compaction-s")
		b.ReportMetric(float64(result.FilesRemoved), "files-before")
		b.ReportMetric(float64(result.FilesAdded), "files-after")
		for i, after := range medians(b, root, s) {
			market := []string{"IG", "EM"}[i]
			b.ReportMetric(before[i]*1000, market+"-before-ms")
			b.ReportMetric(after*1000, market+"-after-ms")
			b.ReportMetric(after/before[i], market+"-ratio")
		}
	}
}

// medians returns the seconds of the query for IG and for EM, on the oldest day with a snapshot.
func medians(b *testing.B, root string, s *dirstore.Dir) []float64 {
	b.Helper()
	l, err := load.Open(b.Context(), s)
	if err != nil {
		b.Fatal(err)
	}
	if err := catalog.Publish(b.Context(), l, b.TempDir(), nil); err != nil {
		b.Fatal(err)
	}
	db, done, err := sql.OpenApart(b.Context(), root+"/"+lake.CatalogKey, root, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := done(); err != nil {
			b.Error(err)
		}
	}()
	var day string
	if err := db.QueryRowContext(b.Context(), "SELECT min(snapshot_date)::VARCHAR FROM snapshots.bond_priced_deals").Scan(&day); err != nil {
		b.Fatal(err)
	}
	var times []float64
	for _, market := range []string{"IG", "EM"} {
		query := fmt.Sprintf("SELECT max(COLUMNS(*)) FROM snapshots.bond_priced_deals WHERE market = '%s' AND snapshot_date = DATE '%s'", market, day)
		var found []float64
		for range 9 {
			began := time.Now()
			readAll(b.Context(), b, db, query)
			found = append(found, time.Since(began).Seconds())
		}
		slices.Sort(found)
		times = append(times, found[len(found)/2])
	}
	return times
}

// readAll carries out a query that reads all columns.
func readAll(ctx context.Context, b *testing.B, db *stdsql.DB, query string) {
	b.Helper()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		b.Fatal(err)
	}
	for rows.Next() {
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		b.Fatal(err)
	}
}
