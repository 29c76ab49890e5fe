package longlake_test

import (
	"path/filepath"
	"testing"

	"dealflow/internal/testkit/longlake"
)

// BenchmarkBuild builds the lake of fifteen years (longlake.BenchmarkConfig).
func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		report, err := longlake.Build(b.Context(), filepath.Join(b.TempDir(), "lake"), longlake.BenchmarkConfig())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(report.Versions), "versions")
		b.ReportMetric(float64(report.Files), "files")
		b.ReportMetric(float64(report.Bytes)/(1<<20), "MiB")
	}
}
