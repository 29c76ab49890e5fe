package pipeline_test

import (
	"cmp"
	stdsql "database/sql"
	"fmt"
	"maps"
	"os"
	"strconv"
	"testing"

	"dealflow/internal/testkit/oracle"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve/sim"
)

// TestTruth is the whole path against the market's own state: over HTTP into the lake and out of the
// catalog, all seventeen tables, every column, row for row, for each night, both right after it and
// later on as of its instant; and each night's snapshot.
//
// DEALFLOW_SEEDS says how many markets are tried; the default is 4. The last of them is a larger one.
func TestTruth(t *testing.T) {
	const nights = 8
	seeds := seedsOf(t)
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			deals := 20 + int(seed)*5
			if seed == seeds-1 {
				deals = 200
			}
			w := newWorld(t, sim.Config{Seed: seed, Deals: deals})
			checkNights(t, w, nights)
		})
	}
}

// seedsOf reads DEALFLOW_SEEDS.
func seedsOf(t *testing.T) uint64 {
	t.Helper()
	text := cmp.Or(os.Getenv("DEALFLOW_SEEDS"), "4")
	seeds, err := strconv.ParseUint(text, 10, 16)
	if err != nil || seeds == 0 {
		t.Fatalf("DEALFLOW_SEEDS is %q, want a number from 1", text)
	}
	return seeds
}

func checkNights(t *testing.T, w *world, nights int) {
	t.Helper()
	tr := newTruth(t, api.Feeds()...)
	type night struct {
		knownAt lake.Instant
		day     string
		want    map[string][]oracle.Row
	}
	var past []night
	for n := range nights {
		result := w.night(t, n)
		now := night{result.KnownAt, result.SnapshotDate, tr.rows(t, w)}
		past = append(past, now)
		w.ask(t, func(db *stdsql.DB) {
			tr.compare(t, db, fmt.Sprintf("night %d, default schema", n), func(table string) string { return table }, now.want)
		})
	}
	snapshots := map[string][]oracle.Row{}
	w.ask(t, func(db *stdsql.DB) {
		for n, then := range past {
			tr.compare(t, db, fmt.Sprintf("as of night %d", n), asOf(then.knownAt), then.want)
			for table, rows := range then.want {
				snapshots[table] = append(snapshots[table], dated(rows, then.day)...)
			}
		}
		tr.compare(t, db, "snapshots", func(table string) string { return "snapshots." + table }, snapshots, snapshotDate)
	})
}

var snapshotDate = oracle.Column{Name: "snapshot_date", Type: "DATE"}

// dated gives rows as a day's snapshot holds them.
func dated(rows []oracle.Row, day string) []oracle.Row {
	of := make([]oracle.Row, len(rows))
	for i, row := range rows {
		of[i] = maps.Clone(row)
		of[i][snapshotDate.Name] = day
	}
	return of
}
