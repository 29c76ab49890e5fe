package arch_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestOpsMetrics checks that the alert rules and the dashboard name only metrics that the program has, and that the page on
// monitoring has each alert with its severity. How the rules evaluate is tested in .ci/prometheus.
func TestOpsMetrics(t *testing.T) {
	const root = "../.."
	known := map[string]bool{}
	for _, page := range []string{"docs/generated/metrics.md", "serve/metrics.go"} {
		for _, name := range regexp.MustCompile(`\bdealflow_[a-z_]+`).FindAllString(text(t, root+"/"+page), -1) {
			known[name] = true
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert       string            `yaml:"alert"`
				Expr        string            `yaml:"expr"`
				Labels      map[string]string `yaml:"labels"`
				Annotations map[string]string `yaml:"annotations"`
			} `yaml:"rules"`
		} `yaml:"groups"`
	}
	if err := yaml.Unmarshal([]byte(text(t, root+"/docs/ops/prometheus/alerts.yaml")), &rules); err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal([]byte(text(t, root+"/docs/ops/grafana/dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	page := text(t, root+"/docs/how-to/monitor.md")
	used := map[string]bool{}
	use := func(where, expr string) {
		for _, name := range regexp.MustCompile(`\bdealflow_[a-z_]+`).FindAllString(expr, -1) {
			used[name] = true
			if !known[name] {
				t.Errorf("%s names %s, which is no metric", where, name)
			}
		}
	}
	alerts := 0
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			alerts++
			use(rule.Alert, rule.Expr)
			if !strings.Contains(page, "| `"+rule.Alert+"` | "+rule.Labels["severity"]+" |") {
				t.Errorf("docs/how-to/monitor.md has no row for %s, %s", rule.Alert, rule.Labels["severity"])
			}
			if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%s does not say what to do", rule.Alert)
			}
		}
	}
	if rows := strings.Count(page, "\n| `Dealflow"); rows != alerts {
		t.Errorf("docs/how-to/monitor.md has %d alerts, the rules have %d", rows, alerts)
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			use("dashboard.json", target.Expr)
		}
	}
	if alerts < 6 || len(used) < 15 {
		t.Errorf("%d alerts, and the metrics %v: the test sees too little", alerts, slices.Sorted(maps.Keys(used)))
	}
}
