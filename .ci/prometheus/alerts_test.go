// Package prometheus tests the alert rules of docs/ops with the rule package of Prometheus: lakes are shown minute by
// minute, and the alerts that fire are compared with those that a person would want.
package prometheus

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

const (
	file = "../../docs/ops/prometheus/alerts.yaml"
	hour = 60 // minutes
	day  = 24 * hour
)

// series are the values of metrics by minute.
type series map[string]func(minute int) float64

func always(value float64) func(int) float64 { return func(int) float64 { return value } }

// from is 0 before a minute, and then value.
func from(start int, value float64) func(int) float64 {
	return func(minute int) float64 {
		if minute < start {
			return 0
		}
		return value
	}
}

// nightly is the second of the last night, at 22:00 of each day; there was one before the first day.
func nightly(minute int) float64 { return float64((minute+2*hour)/day*day-2*hour)*60 + 1e-3 }

// stopsAt shows what was true at a minute from then on.
func stopsAt(stop int, value func(int) float64) func(int) float64 {
	return func(minute int) float64 { return value(min(minute, stop)) }
}

// well is a lake with which all is well. The instance is a label that a scrape adds.
func well(instance string) series {
	l := func(name string, more ...string) string {
		return name + "{" + strings.Join(append([]string{`lake="s3://bucket/deals"`, `instance="` + instance + `"`}, more...), ",") + "}"
	}
	const ig, ll = `feed="bond/ig/priced"`, `feed="loan/ll/priced"`
	return series{
		l("dealflow_lake_readable"): always(1), l("dealflow_lake_commit"): always(7), l("dealflow_lake_catalog_commit"): always(7),
		l("dealflow_lake_findings", `kind="failed"`, `severity="problem"`): always(0), l("dealflow_lake_findings", `kind="stale"`, `severity="problem"`): always(0),
		l("dealflow_lake_findings", `kind="drift"`, `severity="warning"`): always(0),
		l("dealflow_night_duration_seconds"):                              always(300), l("dealflow_night_timestamp_seconds"): nightly,
		l("dealflow_feed_snapshot_timestamp_seconds", ig): nightly, l("dealflow_feed_snapshot_timestamp_seconds", ll): nightly,
		l("dealflow_feed_max_age_seconds", ig): always(26 * 3600), l("dealflow_feed_max_age_seconds", ll): always(26 * 3600),
		l("dealflow_command_end_timestamp_seconds", `command="run"`): nightly, l("dealflow_command_end_timestamp_seconds", `command="verify"`): always(60),
	}
}

// set replaces the series whose name and labels contain all parts.
func (s series) set(value func(int) float64, parts ...string) series {
	found := false
	for name := range s {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(name, part) }) {
			s[name], found = value, true
		}
	}
	if !found {
		panic(fmt.Sprint("no series has ", parts))
	}
	return s
}

// stops freezes a lake's metrics: no command writes the file.
func (s series) stops(minute int) series {
	for name, value := range s {
		s[name] = stopsAt(minute, value)
	}
	return s
}

// and adds the series of another instance.
func (s series) and(other series) series {
	for name, value := range other {
		s[name] = value
	}
	return s
}

func TestAlerts(t *testing.T) {
	const stale = "DealflowSnapshotStale bond/ig/priced, DealflowSnapshotStale loan/ll/priced"
	for name, c := range map[string]struct {
		series series
		want   map[int]string // alerts that fire, by minute
	}{
		"all is well for three days": {well("a"), map[int]string{0: "", 20 * hour: "", 22*hour - 5: "", day: "", 46 * hour: "", 3 * day: ""}},
		"the schedule ends": {well("a").stops(day), map[int]string{
			48*hour - 5: "", 48*hour + 10: "", 48*hour + 25: "DealflowFileOld, " + stale, 3 * day: "DealflowFileOld, " + stale,
		}},
		"one feed fails": {well("a").set(stopsAt(day, nightly), "snapshot_timestamp", "loan/ll"), map[int]string{
			48 * hour: "", 48*hour + 25: "DealflowSnapshotStale loan/ll/priced", 3 * day: "DealflowSnapshotStale loan/ll/priced",
		}},
		"a feed that was never complete": {well("a").set(always(0), "snapshot_timestamp", "loan/ll"), map[int]string{3 * day: ""}},
		"ages are not judged":            {well("a").set(stopsAt(0, nightly), "snapshot_timestamp").set(always(0), "max_age"), map[int]string{3 * day: ""}},
		"a failure":                      {well("a").set(from(hour, 1), `kind="failed"`), map[int]string{hour: "", hour + 10: "DealflowProblem failed"}},
		"stale by the file alone":        {well("a").set(from(hour, 2), `kind="stale"`), map[int]string{day: ""}},
		"the store is down":              {well("a").set(func(m int) float64 { return 1 - from(hour, 1)(m) }, "readable"), map[int]string{hour + 10: "", hour + 20: "DealflowLakeUnreadable"}},
		"drift for a day, and for two":   {well("a").set(from(hour, 12), `kind="drift"`), map[int]string{day: "", 48 * hour: "", 49*hour + 5: "DealflowWarning drift"}},
		"the catalog is older":           {well("a").set(func(m int) float64 { return 7 - from(hour, 1)(m) }, "catalog_commit"), map[int]string{2*hour - 5: "", 2 * hour: "DealflowCatalogOld"}},
		"a night that takes ever longer": {well("a").set(func(m int) float64 { return 300 + from(2*day, 650)(m) }, "night_duration"), map[int]string{2 * day: "", 2*day + 20: "DealflowNightSlow"}},
		"a slow night of minutes":        {well("a").set(func(m int) float64 { return 100 + from(2*day, 450)(m) }, "night_duration"), map[int]string{2*day + 20: ""}},
		// Another machine shows the same lake, and its file is old.
		"two machines":              {well("a").and(well("b").stops(day)), map[int]string{3 * day: ""}},
		"two machines, one sees it": {well("a").set(from(hour, 1), `kind="failed"`).and(well("b")), map[int]string{hour + 10: "DealflowProblem failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := firing(t, c.series, slices.Max(slices.Collect(mapKeys(c.want))))
			for minute, want := range c.want {
				if got[minute] != want {
					t.Errorf("after %s: %q fire, want %q", time.Duration(minute)*time.Minute, got[minute], want)
				}
			}
		})
	}
}

func mapKeys[V any](m map[int]V) func(func(int) bool) {
	return func(yield func(int) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// loaded returns the series up to a minute in the notation of promqltest.
func loaded(s series, last int) string {
	var load strings.Builder
	load.WriteString("load 1m\n")
	for name, value := range s {
		load.WriteString("  " + name)
		for minute := range last + 1 {
			fmt.Fprintf(&load, " %g", value(minute))
		}
		load.WriteString("\n")
	}
	return load.String()
}

// firing evaluates the rules every five minutes up to a minute, and returns the alerts that fire after each evaluation.
func firing(t *testing.T, s series, last int) map[int]string {
	t.Helper()
	storage := promqltest.LoadedStorage(t, loaded(s, last))
	t.Cleanup(func() { _ = storage.Close() })
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, 10_000_000)
	query := rules.EngineQueryFunc(engine, storage)
	p := parser.NewParser(parser.Options{})
	groups, faults := rulefmt.ParseFile(file, false, model.UTF8Validation, p, slog.New(slog.DiscardHandler))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var all []*rules.AlertingRule
	for _, group := range groups.Groups {
		for _, r := range group.Rules {
			expr, err := p.ParseExpr(r.Expr)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), time.Duration(r.KeepFiringFor),
				labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler)))
		}
	}
	fire := map[int]string{}
	for minute := 0; minute <= last; minute += 5 {
		var now []string
		for _, rule := range all {
			if _, err := rule.Eval(context.Background(), 0, time.Unix(int64(minute)*60, 0), query, &url.URL{}, 0); err != nil {
				t.Fatalf("%s: %v", rule.Name(), err)
			}
			for _, alert := range rule.ActiveAlerts() {
				alert.Annotations.Range(func(l labels.Label) {
					if strings.Contains(l.Value, "error expanding") || strings.Contains(l.Value, "{{") || strings.Contains(l.Value, "<no value>") {
						t.Errorf("%s: %s is %q", rule.Name(), l.Name, l.Value)
					}
				})
				if alert.Labels.Get("lake") == "" || alert.Labels.Get("severity") == "" {
					t.Errorf("%s has the labels %s", rule.Name(), alert.Labels)
				}
				if alert.State == rules.StateFiring {
					now = append(now, strings.TrimSpace(rule.Name()+" "+alert.Labels.Get("feed")+alert.Labels.Get("kind")))
				}
			}
		}
		slices.Sort(now)
		fire[minute] = strings.Join(now, ", ")
	}
	return fire
}
