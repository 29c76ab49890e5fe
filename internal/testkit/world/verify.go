package world

import (
	"fmt"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/load/store"
	"dealflow/load/verify"
)

// Verify verifies a lake and reads all its data.
func Verify(t testing.TB, s store.Store) (*verify.Report, error) {
	t.Helper()
	return verify.Lake(t.Context(), s, verify.Config{ReadData: true, Memory: testkit.Allocator(t)})
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
