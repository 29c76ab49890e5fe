package longlake_test

import (
	"path/filepath"
	"testing"

	"dealflow/internal/testkit/longlake"
)

// BenchmarkBuild builds the lake of fifteen years in full size: minutes, and about 600 MB of disk.
func BenchmarkBuild(b *testing.B) {
	for b.Loop() {
		report, err := longlake.Build(b.Context(), filepath.Join(b.TempDir(), "lake"), longlake.Config{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(report.Versions), "versions")
		b.ReportMetric(float64(report.Files), "files")
		b.ReportMetric(float64(report.Bytes)/(1<<20), "MiB")
	}
}
