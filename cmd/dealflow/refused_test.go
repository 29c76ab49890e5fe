package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dealflow/internal/status"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load/store"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
)

// TestLakesOnlyRead asks status and doctor about lakes to which this program may not write: one of an older format, and one that
// a later program has written to. Both say that the next run is refused, and what to do. No to-do names a command that is refused.
// A watch does not begin there.
func TestLakesOnlyRead(t *testing.T) {
	t.Parallel()
	old := filepath.Join(t.TempDir(), "old")
	world.CopyStore(t, world.Folder(t, filepath.Join(testkit.Root(t), "testdata/lake/v2")), world.Folder(t, old))

	newer := filepath.Join(t.TempDir(), "newer")
	w, b := world.NewBook(t)
	b.WriteAll(world.Priced, 1, 3, "")
	b.Write(world.Priced, 2, `"message":"a","message":"b"`)
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	s := world.CopyStore(t, w.Store, world.Folder(t, newer))
	commit := string(storetest.Bytes(t, s, lake.CommitKey(1)))
	commit = strings.Replace(commit, `"format_version":2,`, `"format_version":2,"requires_to_write":["xyz"],`, 1)
	commit = strings.Replace(commit, `"dealflow_version":"`, `"dealflow_version":"9.8.7","was":"`, 1)
	storetest.Overwrite(t, s, lake.CommitKey(1), []byte(commit))
	if err := s.Delete(t.Context(), lake.LatestKey); err != nil {
		t.Fatal(err)
	}

	for root, c := range map[string]struct{ reason, todo string }{
		old:   {"which this program only reads", "stop its schedules, then run `dealflow upgrade --lake " + old + " --to NEW` (docs/how-to/upgrade.md)"},
		newer: {"writing this lake needs xyz", "use dealflow 9.8.7, or a later version"},
	} {
		run := func(want int, args ...string) []byte {
			t.Helper()
			var stdout, stderr bytes.Buffer
			env := environment{Environ: append(asQuick(), "DEALFLOW_LAKE="+root, "DEALFLOW_CLIENT_ID=demo", "DEALFLOW_CLIENT_SECRET=demo"), Now: time.Now, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
			if code := Main(t.Context(), args, env); code != want {
				t.Fatalf("%s ends with %d, want %d: %s", args, code, want, &stderr)
			}
			return stdout.Bytes()
		}
		var said status.Result
		if err := json.Unmarshal(run(8, "status", "--json", "--max-age", "1h"), &said); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(said.Refused, c.reason) {
			t.Errorf("%s: refused is %q, want %q", root, said.Refused, c.reason)
		}
		todos := map[string]string{}
		for _, f := range said.Findings {
			todos[f.Kind] = f.Todo
		}
		for _, kind := range []string{"refused", "stale", "quarantine", "catalog"} {
			if todos[kind] != c.todo {
				t.Errorf("%s: of %s: do %q, want %q", root, kind, todos[kind], c.todo)
			}
		}
		if todo, ok := todos["schema"]; ok && todo != c.todo || !ok && root == old {
			t.Errorf("%s: of schema: do %q, want %q", root, todo, c.todo)
		}
		if out := string(run(8, "status", "--max-age", "1h")); !strings.Contains(out, "next run  will be refused\n") {
			t.Errorf("%s: status says:\n%s", root, out)
		}
		for _, clock := range []string{"machine", "server"} { // of the server nothing is known
			var all []diagnosis
			if err := json.Unmarshal(run(1, "doctor", "--json", "--clock", clock), &all); err != nil {
				t.Fatal(err)
			}
			found := map[string]diagnosis{}
			for _, d := range all {
				found[d.Check] = d
			}
			if d := found["next run"]; d.Verdict != verdictProblem || !strings.Contains(d.Found, c.todo) {
				t.Errorf("%s, clock %s: next run: %+v", root, clock, d)
			}
			if d := found["catalog"]; d.Verdict != verdictProblem || d.Todo != c.todo {
				t.Errorf("%s, clock %s: catalog: %+v", root, clock, d)
			}
		}
		run(1, "watch", "--api", "http://127.0.0.1:1")
		if _, err := world.Folder(t, root).Get(t.Context(), lake.WatchKey); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: the watch is recorded there, or %v", root, err)
		}
	}
}
