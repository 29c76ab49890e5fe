package prometheus

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/promqltest"
)

// mayBeEmpty are parts of panels that show nothing of a lake with which all is well, or that has no server.
var mayBeEmpty = []string{"_findings", "_http_", "_held", "_failed", "_quarantined", "_unproved", "_requests", "_bytes", "_files", "_deals", "_success_", "_exit_code", "_duration_seconds{", "_state", "_last_success", "_lease"}

// TestDashboard evaluates each panel of the dashboard on a lake: the expressions can be evaluated, and show something where
// the lake has such metrics.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../../docs/ops/grafana/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	storage := promqltest.LoadedStorage(t, loaded(well("a"), day))
	t.Cleanup(func() { _ = storage.Close() })
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 10_000_000)
	shown := 0
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			query, err := engine.NewInstantQuery(t.Context(), storage, nil, strings.ReplaceAll(target.Expr, "$lake", "s3://bucket/deals"), time.Unix(day*60, 0))
			if err != nil {
				t.Errorf("%s: %s: %v", panel.Title, target.Expr, err)
				continue
			}
			result := query.Exec(t.Context())
			if result.Err != nil {
				t.Errorf("%s: %s: %v", panel.Title, target.Expr, result.Err)
				continue
			}
			vector, err := result.Vector()
			empty := false
			for _, part := range mayBeEmpty {
				empty = empty || strings.Contains(target.Expr, part)
			}
			if err != nil || len(vector) == 0 && !empty {
				t.Errorf("%s: %s shows nothing: %v", panel.Title, target.Expr, err)
			}
			shown += len(vector)
		}
	}
	if shown < 8 {
		t.Errorf("the panels show %d values: the test sees too little", shown)
	}
}
