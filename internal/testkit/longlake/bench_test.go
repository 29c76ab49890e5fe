package longlake_test

import (
	"os"
	"path/filepath"
	"testing"

	"dealflow/internal/testkit/longlake"
)

// BenchmarkBuild builds the lake of fifteen years: a hundredth of it, under -short less, or with TEST_FULL=1 all, which takes
// minutes and about 600 MB of disk.
func BenchmarkBuild(b *testing.B) {
	config := longlake.Config{Scale: 0.01}
	if testing.Short() {
		config.Scale = 0.002
	}
	if os.Getenv("TEST_FULL") != "" {
		config = longlake.Config{}
	}
	for b.Loop() {
		report, err := longlake.Build(b.Context(), filepath.Join(b.TempDir(), "lake"), config)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(report.Versions), "versions")
		b.ReportMetric(float64(report.Files), "files")
		b.ReportMetric(float64(report.Bytes)/(1<<20), "MiB")
	}
}
