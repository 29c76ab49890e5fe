package lakesource

import (
	"math"
	"testing"

	"dealflow/schemas/api"
	"dealflow/sql/engine"
)

// TestLeastIDs asks for the payloads of the least and the greatest id that the API's int64 has.
func TestLeastIDs(t *testing.T) {
	db, err := engine.Open("", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	var chosen []entry
	for _, statement := range []string{
		"CREATE SCHEMA files",
		"CREATE TABLE files.deal_versions (service VARCHAR, market VARCHAR, kind VARCHAR, deal_id BIGINT, version INTEGER, known_at TIMESTAMPTZ, run_id VARCHAR, payload VARCHAR)",
		"CREATE TABLE feed_runs (run_id VARCHAR, service VARCHAR, market VARCHAR, kind VARCHAR, base_url VARCHAR)",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []int64{math.MinInt64, -1, math.MaxInt64} {
		if _, err := db.ExecContext(t.Context(), "INSERT INTO files.deal_versions VALUES ('bond', 'IG', 'priced', $1, 1, "+known.literal()+", 'run', '{}')", id); err != nil {
			t.Fatal(err)
		}
		chosen = append(chosen, entry{known: known, id: id, version: 1})
	}
	var n int
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM ("+payloadQuery(api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}, chosen)+")").Scan(&n); err != nil || n != len(chosen) {
		t.Errorf("got %d payloads, %v, want %d", n, err, len(chosen))
	}
}
