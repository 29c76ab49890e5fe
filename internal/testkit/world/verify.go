package world

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/catalog"

	"dealflow/internal/testkit"
	"dealflow/load/store"
	"dealflow/load/verify"
	"dealflow/schemas/api"
	"dealflow/transform"
)

// Verify verifies a lake, reads all its data, and compares its published catalog with it.
func Verify(t testing.TB, s store.Store) (*verify.Report, error) {
	t.Helper()
	cfg := verify.Config{
		ReadData: true, Memory: testkit.Allocator(t), Lifter: func(mem memory.Allocator, feed api.Feed) verify.Lifter { return transform.NewLifter(mem, feed) },
		ContentHash: transform.ContentHash,
	}
	published, err := catalog.Inspect(t.Context(), s, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if published != nil {
		cfg.Catalog = published
		defer func() {
			if err := published.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	return verify.Lake(t.Context(), s, cfg)
}

// WantSound checks that Verify finds nothing, not even something to note, and that it has checked every
// commit and read every file.
func WantSound(t testing.TB, s store.Store) *verify.Report {
	t.Helper()
	report, err := Verify(t, s)
	if err != nil {
		t.Errorf("verify: %v", err)
	}
	if report == nil {
		t.FailNow()
	}
	for _, f := range report.Findings {
		t.Errorf("found in a sound lake: %s", FindingText(f))
	}
	if c := report.Checked; c.FilesRead != c.Files || c.Commits != report.Commit {
		t.Errorf("looked at %d of %d files, %d of %d commits", c.FilesRead, c.Files, c.Commits, report.Commit)
	}
	return report
}

// FindingText is a finding in one line.
func FindingText(f verify.Finding) string {
	subject := ""
	if f.DealID != nil {
		subject = fmt.Sprintf(" deal %d", *f.DealID)
	}
	if f.Version != nil {
		subject += fmt.Sprintf(" version %d", *f.Version)
	}
	return fmt.Sprintf("%s %s %s%s: %s", f.Severity, f.Check, f.Path, subject, f.Detail)
}
