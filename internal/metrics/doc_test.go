package metrics_test

import (
	"fmt"
	"strings"
	"testing"

	"dealflow/internal/metrics"
	"dealflow/internal/testkit"
)

// TestMetricsDoc compares docs/generated/metrics.md with the metrics.
func TestMetricsDoc(t *testing.T) {
	var page strings.Builder
	page.WriteString(testkit.Generated + "# Metrics of a lake\n\n" +
		testkit.Wrap("All are gauges. `--metrics-file` writes them, and `watch` and `serve` show them for their lake. The label `lake` is the lake's URL. Names, labels and meanings stay; new ones are added. [How to monitor a lake](../how-to/monitor.md) says what to do with them.", "") +
		"\n\n| metric | labels | what |\n|---|---|---|\n")
	for _, d := range metrics.Describe() {
		fmt.Fprintf(&page, "| `%s` | %s | %s |\n", d.Name, strings.Join(d.Labels, ", "), d.Help)
	}
	testkit.Golden(t, "../../docs/generated/metrics.md", []byte(page.String()))
}
