package pipeline_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"dealflow/internal/pipeline"
	"dealflow/schemas/api"
	"dealflow/serve/sim"
)

// foldersOf counts the tables among the folders of sums.
func foldersOf(sums []string) int {
	tables := map[string]bool{}
	for _, sum := range sums {
		parts := strings.Split(sum, "/")
		tables[parts[0]+"/"+parts[1]] = true
	}
	return len(tables)
}

// TestSnapshotsAreHistory runs some nights, with feeds that fail and days that are run again while the
// market goes on, and then asks of every day and table whether the snapshot is the history as of then.
func TestSnapshotsAreHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.Config{Seed: 7, Deals: 25})
	for n := range 5 {
		w.evening(3 * n)
		if n%2 == 1 {
			w.interfere(refuse(http.StatusInternalServerError, fmt.Sprintf("/v3/%s/", []string{"bond", "loan"}[n/2])))
			if _, err := w.run(t); !errors.Is(err, pipeline.ErrFeedsFailed) {
				t.Fatalf("night %d: got %v, want ErrFeedsFailed", n, err)
			}
			w.interfere(nil)
			w.clock.Advance(40 * time.Minute)
		}
		w.mustRun(t)
	}
	w.clock.Advance(time.Hour)
	w.mustRun(t)
	w.ask(t, func(db *stdsql.DB) {
		wantLines(t, db, "SELECT count(*) > 10 FROM history.deal_versions WHERE change = 'removed'", "true")
		wantLines(t, db, "SELECT count(*) > 100 FROM history.deal_versions WHERE change = 'changed'", "true")
		wantLines(t, db, "SELECT count(*), count(*) FILTER (outcome = 'partial'), count(DISTINCT snapshot_date) FROM runs", "8 2 5")
		wantAgreement(t, db, api.Feeds()...)
		wantInstants(t, db)
	})
}
