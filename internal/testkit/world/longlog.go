package world

import (
	"os"
	"path/filepath"
	"testing"

	"dealflow/schemas/lake"
)

// Lengthen adds commits that change nothing, as years of maintenance do: the log gets long. Each becomes known
// a microsecond after the one before it. It writes nothing that is derived from commits. The lake must be in a folder.
func (w *World) Lengthen(t testing.TB, commits int) {
	t.Helper()
	log := w.Log(t)
	last, known := log.Newest(), log.KnownAt
	for range commits {
		known = known.Next()
		c := lake.Commit{
			FormatVersion: lake.FormatVersion, Number: last.Number + 1, RunID: w.runID(), Command: "compact", KnownAt: known, PreviousSHA256: last.SHA256,
			DealflowVersion: "test", StartedAt: known, FinishedAt: known, Outcome: lake.OutcomeDone, Feeds: []lake.FeedRun{}, Add: []lake.File{}, Remove: []string{},
			Checks: []lake.Check{},
		}
		data, err := c.Encode()
		if err == nil {
			err = os.WriteFile(filepath.Join(w.Root, lake.CommitKey(c.Number)), data, 0o600) // without the store's care, which takes time
		}
		if err != nil {
			t.Fatal(err)
		}
		last.Number, last.SHA256 = c.Number, lake.SHA256(data)
	}
}
