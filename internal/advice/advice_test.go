package advice

import (
	"testing"

	"dealflow/internal/attempts"
	"dealflow/internal/exitcode"
	"dealflow/load"
	"dealflow/schemas/lake"
)

// TestAfterResult checks that each ending of a run but a good one has advice.
func TestAfterResult(t *testing.T) {
	for _, e := range exitcode.Table() {
		if e.Code == exitcode.Warnings || e.Code == exitcode.NoLake || e.Code == exitcode.Problem {
			continue // of no attempt that is recorded without a commit
		}
		todo := AfterResult(lake.CommandRun, &attempts.Result{ExitCode: &e.Code})
		if (todo == "") != (e.Code == exitcode.Done) {
			t.Errorf("after exit code %d (%s): %q", e.Code, e.Text, todo)
		}
	}
}

// TestHeldDay checks that a held day is found among commits and attempts, that no earlier day than the newest is advised, and none if the
// run is not known.
func TestHeldDay(t *testing.T) {
	log := &load.Log{Commits: []lake.Commit{{Number: 1, RunID: "one", SnapshotDate: "2026-11-02"}}}
	made := []attempts.Attempt{{RunID: "held"}}
	made[0].SnapshotDate = "2026-11-03"
	for run, want := range map[string]string{"one": "2026-11-02", "held": "2026-11-03", "other": ""} {
		if got := HeldDay(log, made, &load.Hold{RunID: run}); got != want {
			t.Errorf("run %s: got %q, want %q", run, got, want)
		}
	}
}
