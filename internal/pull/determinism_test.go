package pull_test

import (
	stdsql "database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
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

// TestSnapshotsAreHistory runs some nights, with failing feeds, and with days that are run again while the market
// changes. Then it checks for every day and table that the snapshot equals history as of that instant.
func TestSnapshotsAreHistory(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	w := world.New(t, sim.Config{Seed: 7, Deals: 25})
	for n := range 5 {
		w.Evening(3 * n)
		if n%2 == 1 {
			w.Interfere(world.Refuse(http.StatusInternalServerError, fmt.Sprintf("/v3/%s/", []string{"bond", "loan"}[n/2])))
			if _, err := w.Run(t); !errors.Is(err, pull.ErrFeedsFailed) {
				t.Fatalf("night %d: got %v, want ErrFeedsFailed", n, err)
			}
			w.Interfere(nil)
			w.Clock.Advance(40 * time.Minute)
		}
		w.MustRun(t)
	}
	w.Clock.Advance(time.Hour)
	w.MustRun(t)
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, "SELECT count(*) > 10 FROM history.deal_versions WHERE change = 'removed'", "true")
		world.WantLines(t, db, "SELECT count(*) > 100 FROM history.deal_versions WHERE change = 'changed'", "true")
		world.WantLines(t, db, "SELECT count(*), count(*) FILTER (outcome = 'partial'), count(DISTINCT snapshot_date) FROM runs", "8 2 5")
		world.WantAgreement(t, db, api.Feeds()...)
		world.WantInstants(t, db)
	})
}
