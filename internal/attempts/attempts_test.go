package attempts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dealflow/internal/attempts"
	"dealflow/internal/process"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/memstore"
	"dealflow/load/store/tracestore"
	"dealflow/schemas/lake"
)

// desk is a machine with a work folder, and a lake in memory.
type desk struct {
	t     *testing.T
	store store.Store
	work  string
	now   time.Time
}

// newDesk returns a desk whose lake has five commits, as its hint says.
func newDesk(t *testing.T) *desk {
	d := &desk{t: t, store: new(memstore.Mem), work: t.TempDir(), now: time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)}
	d.hint(`{"format_version":2,"commit":5}`)
	return d
}

func (d *desk) hint(text string) {
	d.t.Helper()
	if err := d.store.Put(d.t.Context(), lake.LatestKey, strings.NewReader(text), store.Replace); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) config(command string, policy attempts.Policy) attempts.Config {
	return attempts.Config{
		Store: d.store, Identity: "memory", Policy: policy, RunID: uuid.Must(uuid.NewV7()).String(), Command: command, Owner: "test", Version: "1",
		Clock: func() time.Time { return d.now }, WorkDir: d.work, Log: slog.New(slog.DiscardHandler),
	}
}

// do records an attempt that ends with an exit code. It returns its run id.
func (d *desk) do(command string, policy attempts.Policy, code int) string {
	cfg := d.config(command, policy)
	attempts.Begin(d.t.Context(), cfg).End(d.t.Context(), ending(code))
	return cfg.RunID
}

// ending is how a command without a commit ends with an exit code.
func ending(code int) attempts.Result {
	r := attempts.Result{Outcome: lake.OutcomeUnchanged, ExitCode: &code}
	if code != 0 {
		r.Outcome, r.Error = lake.OutcomeFailed, "it failed"
	}
	return r
}

// recorded returns the attempts in the lake, those put last first, as "command state outcome".
func (d *desk) recorded() []string {
	d.t.Helper()
	entries, err := attempts.List(d.t.Context(), d.store)
	if err != nil {
		d.t.Fatal(err)
	}
	found, err := attempts.Read(d.t.Context(), d.store, entries)
	if err != nil {
		d.t.Fatal(err)
	}
	all := []string{}
	for _, a := range found {
		all = append(all, fmt.Sprintf("%s %s %s", a.Command, a.State, a.Outcome))
	}
	return all
}

func (d *desk) want(what string, want ...string) {
	d.t.Helper()
	if got := d.recorded(); strings.Join(got, ", ") != strings.Join(want, ", ") {
		d.t.Errorf("%s: the lake has %q, want %q", what, got, want)
	}
}

// wantWaiting checks the number of attempts that wait in the work folder, and that without any there is no folder.
func (d *desk) wantWaiting(what string, want int) {
	d.t.Helper()
	waiting, err := attempts.Waiting(d.work, "memory")
	if err != nil || len(waiting) != want {
		d.t.Errorf("%s: %d attempts wait (%v), want %d", what, len(waiting), err, want)
	}
	if names, _ := filepath.Glob(filepath.Join(d.work, "*")); want == 0 && len(names) > 0 {
		d.t.Errorf("%s: the work folder has %q, want nothing", what, names)
	}
}

// TestObjects checks which objects an attempt has, where, and what they say.
func TestObjects(t *testing.T) {
	d := newDesk(t)
	if err := d.store.Put(t.Context(), lake.CommitKey(6), strings.NewReader("six"), store.CreateOnly); err != nil {
		t.Fatal(err)
	}
	trace := &tracestore.Store{Store: d.store}
	d.store = trace
	cfg := d.config("run", attempts.Both)
	r := attempts.Begin(t.Context(), cfg)
	d.want("during the attempt", "run start ")
	d.now = d.now.Add(90 * time.Minute) // past midnight: the day of the objects is that of the start
	d.now = d.now.Add(time.Hour)
	code := 1
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a command that was stopped records its end
	r.End(ctx, attempts.Result{Outcome: lake.OutcomeFailed, ExitCode: &code, Error: "the disk is full", Requests: 7})
	d.want("after it", "run end failed")
	prefix := "_dealflow/attempts/2026-11-20/" + cfg.RunID
	if got, want := strings.Join(trace.Lines(), "\n"), "create "+prefix+".run.start.json\ncreate "+prefix+".run.end.json"; got != want {
		t.Errorf("calls:\n%s\nwant:\n%s", got, want)
	}
	data, err := store.Read(t.Context(), d.store, prefix+".run.end.json")
	var got map[string]any
	if err := errors.Join(err, json.Unmarshal(data, &got)); err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]any{
		"format_version": 1.0, "state": "end", "run_id": cfg.RunID, "command": "run", "started_at": "2026-11-20T22:00:00.000000Z", "ended_at": "2026-11-21T00:30:00.000000Z",
		"owner": "test", "dealflow_version": "1", "outcome": "failed", "exit_code": 1.0, "error": "the disk is full", "requests": 7.0,
	} {
		if got[field] != want {
			t.Errorf("%s: got %v, want %v", field, got[field], want)
		}
	}
	if after, _ := json.Marshal(got["after"]); string(after) != `{"commit":6,"sha256":"`+lake.SHA256([]byte("six"))+`"}` {
		t.Errorf("after: got %s, want commit 6, which the hint does not know yet", after)
	}
	d.wantWaiting("after it", 0)
}

// TestNoForeignLake checks that no object is put where there is no lake that this program may write to, and that a run
// that failed before there was a lake is told when there is one.
func TestNoForeignLake(t *testing.T) {
	for name, hint := range map[string]string{
		"format 1": `{"commit":5,"checkpoint":0}`, "a later format": `{"format_version":3,"commit":5}`,
		"an unknown need": `{"format_version":2,"commit":5,"requires_to_write":["teleport"]}`,
	} {
		d := newDesk(t)
		d.hint(hint)
		d.do("run", attempts.Both, 1)
		d.do("compact", attempts.Both, 1)
		d.want(name)
	}
	d := newDesk(t)
	if err := d.store.Delete(t.Context(), lake.LatestKey); err != nil {
		t.Fatal(err)
	}
	d.do("compact", attempts.Both, 10)
	d.wantWaiting("a command that needs a lake", 0)
	d.do("run", attempts.Both, 4)
	d.want("without a lake")
	d.wantWaiting("a failed first run", 1)
	d.hint(`{"format_version":2,"commit":1}`)
	d.do("run", attempts.Both, 0)
	d.want("after the next run", "run end unchanged", "run end failed")
	d.wantWaiting("after the next run", 0)

	// The run that begins the lake puts what waits, too.
	d = newDesk(t)
	if err := d.store.Delete(t.Context(), lake.LatestKey); err != nil {
		t.Fatal(err)
	}
	d.do("run", attempts.Both, 4)
	r := attempts.Begin(t.Context(), d.config("run", attempts.Both))
	d.hint(`{"format_version":2,"commit":1}`)
	r.End(t.Context(), attempts.Result{Outcome: lake.OutcomeDone, Commit: 1})
	d.want("after the first commit", "run end done", "run end failed")
	d.wantWaiting("after the first commit", 0)
}

// TestLakeWithoutHint checks that a lake without a hint, or with a damaged one, is found by its first commit.
func TestLakeWithoutHint(t *testing.T) {
	for _, hint := range []string{"", "{"} {
		d := newDesk(t)
		d.hint(hint)
		if hint == "" {
			if err := d.store.Delete(t.Context(), lake.LatestKey); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.store.Put(t.Context(), lake.CommitKey(1), strings.NewReader(`{"format_version":2,"commit":1}`), store.CreateOnly); err != nil {
			t.Fatal(err)
		}
		d.do("run", attempts.Both, 1)
		d.want("hint "+hint, "run end failed")
	}
}

// TestStoreDown checks that attempts on a lake whose store fails wait in the work folder until the next start, and that
// those of another lake do not.
func TestStoreDown(t *testing.T) {
	d := newDesk(t)
	up := d.store
	for n := range 4 { // the first call that fails
		d.store = &faultstore.Store{Store: up, FailAt: int64(n + 1)}
		d.do("run", attempts.Both, 1)
		d.store = up
		d.wantWaiting(fmt.Sprintf("call %d failed", n+1), 1)
		other := d.config("sync", attempts.OnFailure)
		other.Identity = "another lake"
		attempts.Begin(t.Context(), other)
		d.wantWaiting("after a start on another lake", 1)
		d.do("sync", attempts.OnFailure, 0)
		if got := d.recorded(); len(got) != n+1 {
			t.Errorf("call %d failed: after the next start the lake has %q, want %d ends", n+1, got, n+1)
		}
		d.wantWaiting("after the next start", 0)
	}
	// The put of an end took effect, but its answer was lost: what waits is in the lake already.
	before := len(d.recorded())
	d.store = &faultstore.Store{Store: up, FailAt: 6, Applied: true}
	d.do("run", attempts.Both, 1)
	d.store = up
	d.wantWaiting("a lost answer", 1)
	d.do("run", attempts.Both, 1)
	d.wantWaiting("after the next start", 0)
	if got := len(d.recorded()); got != before+2 {
		t.Errorf("after a lost answer the lake has %d attempts, want %d", got, before+2)
	}
	d.store = &faultstore.Store{Store: up, FailAt: 1}
	d.do("sync", attempts.OnFailure, 0)
	d.wantWaiting("a sync that succeeded", 0)
	d.do("verify", attempts.IfAllowed, 7)
	d.wantWaiting("a verify", 0)
}

// TestKilled checks which attempts without an end count as killed, and that an end that comes after all is believed.
func TestKilled(t *testing.T) {
	here := process.Current()
	if here == nil {
		t.Skip("this system says too little about processes")
	}
	dead, elsewhere := *here, *here
	dead.Started, elsewhere.BootID = "0", "another machine"
	young, old := -time.Minute, -time.Hour
	for _, c := range []struct {
		name    string
		process *process.Identity
		age     time.Duration
		lease   time.Duration // until its end; 0 for none
		want    string
	}{
		{"a dead process on this machine", &dead, young, 0, "killed killed"},
		{"a dead process, another's lease", &dead, young, time.Minute, "killed killed"},
		{"this process", here, old, 0, "start "},
		{"elsewhere, just begun", &elsewhere, young, 0, "start "},
		{"elsewhere, long ago", &elsewhere, old, 0, "killed killed"},
		{"elsewhere, long ago, a lease that has expired", &elsewhere, old, -time.Minute, "killed killed"},
		{"elsewhere, long ago, a lease that is held", &elsewhere, old, time.Minute, "start "},
		{"a system that says nothing, long ago", nil, old, 0, "killed killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			id := uuid.Must(uuid.NewV7()).String()
			text, err := json.Marshal(attempts.Attempt{FormatVersion: 1, State: attempts.Started, RunID: id, Command: "compact", StartedAt: lake.At(d.now.Add(c.age)), Process: c.process})
			key := "_dealflow/attempts/2026-11-20/" + id + ".compact."
			if err := errors.Join(err, d.store.Put(t.Context(), key+"start.json", strings.NewReader(string(text)), store.CreateOnly)); err != nil {
				t.Fatal(err)
			}
			if c.lease != 0 {
				lease := fmt.Sprintf(`{"run_id":%q,"command":"run","expires_at":%q}`, "x", lake.At(d.now.Add(c.lease)))
				if err := d.store.Put(t.Context(), lake.LeaseKey, strings.NewReader(lease), store.Replace); err != nil {
					t.Fatal(err)
				}
			}
			var group sync.WaitGroup
			for range 2 { // at once: each finds it
				group.Go(func() { d.do("run", attempts.Both, 0) })
			}
			group.Wait()
			got := strings.Join(d.recorded(), ", ")
			if !strings.Contains(got, "compact "+c.want) {
				t.Errorf("the lake has %s, want compact %s", got, c.want)
			}
			end := strings.ReplaceAll(strings.ReplaceAll(string(text), `"start"`, `"end"`), `"owner"`, `"outcome":"done","owner"`)
			if err := d.store.Put(t.Context(), key+"end.json", strings.NewReader(end), store.CreateOnly); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(d.recorded(), ", "); !strings.Contains(got, "compact end done") {
				t.Errorf("after its end the lake has %s, want compact end done", got)
			}
		})
	}
}

// TestSyncs checks that a command that is executed every few minutes leaves objects only if it fails, and one when it
// succeeds after that.
func TestSyncs(t *testing.T) {
	d := newDesk(t)
	for _, step := range []struct {
		code int
		want string
	}{
		{0, ""}, {1, "sync end failed"}, {1, "sync end failed, sync end failed"},
		{0, "sync end unchanged, sync end failed, sync end failed"}, {0, "sync end unchanged, sync end failed, sync end failed"},
	} {
		d.do("sync", attempts.OnFailure, step.code)
		if got := strings.Join(d.recorded(), ", "); got != step.want {
			t.Errorf("after a sync with exit code %d: %q, want %q", step.code, got, step.want)
		}
		d.now = d.now.Add(5 * time.Minute)
	}
}

// TestEndOnly checks that nothing is put before the end, not even what waits.
func TestEndOnly(t *testing.T) {
	d := newDesk(t)
	up := d.store
	d.store = &faultstore.Store{Store: up, FailAt: 1}
	d.do("run", attempts.Both, 1)
	d.store = up
	r := attempts.Begin(t.Context(), d.config("expire", attempts.EndOnly))
	d.want("during the attempt")
	r.End(t.Context(), ending(0))
	d.want("after it", "expire end unchanged", "run end failed")
	d.wantWaiting("after it", 0)
}

// TestNoSecrets checks that an attempt contains no secret, and that its texts are bounded.
func TestNoSecrets(t *testing.T) {
	d := newDesk(t)
	up := d.store
	for _, down := range []bool{false, true} {
		cfg := d.config("run", attempts.Both)
		cfg.Secrets = []string{"", "canary"}
		r := attempts.Begin(t.Context(), cfg)
		if down {
			d.store = &faultstore.Store{Store: up, FailAt: 1}
		}
		long := strings.Repeat("canary and more \xff", 1000)
		result := ending(1)
		result.Error, result.Warnings = long, []string{long, "canary"}
		for range 1000 {
			result.Warnings = append(result.Warnings, "w")
		}
		result.Feeds = []attempts.Feed{{Outcome: "failed", Error: "canary"}}
		r.End(t.Context(), result)
	}
	var texts []string
	for object, err := range up.List(t.Context(), lake.AttemptsPrefix) {
		data, readErr := store.Read(t.Context(), up, object.Key)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(data))
	}
	err := filepath.WalkDir(d.work, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		texts = append(texts, string(data))
		return err
	})
	if err != nil || len(texts) < 3 {
		t.Fatalf("%d texts (%v), want two starts and an end", len(texts), err)
	}
	for _, text := range texts {
		if strings.Contains(text, "canary") || len(text) > 20_000 {
			t.Errorf("an attempt of %d bytes contains a secret or too much: %.300s", len(text), text)
		}
	}
}

// TestSalvage checks that a process that was killed during an attempt is told by the next start on its lake, from its
// folder, and that other users cannot plant such a folder.
func TestSalvage(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		mode os.FileMode
		want string
	}{{0o700, "sync killed killed"}, {0o777, ""}} {
		folder := filepath.Join(d.work, "dealflow-work-1")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		cfg := d.config("sync", attempts.EndOnly) // Begin returns when nothing more is written
		cfg.Folder = folder
		attempts.Begin(t.Context(), cfg) // and no end
		if err := os.Chmod(folder, c.mode); err != nil {
			t.Fatal(err)
		}
		attempts.Salvage(folder, d.now, cfg.Log)
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		d.do("sync", attempts.OnFailure, 3)
		want := strings.TrimSuffix("sync end failed, "+c.want, ", ")
		if got := strings.Join(d.recorded(), ", "); !strings.HasPrefix(got, want) || strings.Count(got, "killed killed") > 1 {
			t.Errorf("a folder of mode %o: the lake has %q, want %q first, and one kill at most", c.mode, got, want)
		}
		d.wantWaiting("after the next start", 0)
	}
	cfg := d.config("run", attempts.Both)
	cfg.Folder = d.work
	attempts.Begin(t.Context(), cfg).End(t.Context(), ending(0))
	if names, _ := filepath.Glob(filepath.Join(d.work, "*")); len(names) > 0 {
		t.Errorf("after its end an attempt leaves %q", names)
	}
}

// TestForeignWaitingFolder checks that nothing is written into a folder that other users can enter, nor read from it.
func TestForeignWaitingFolder(t *testing.T) {
	d := newDesk(t)
	up := d.store
	d.store = &faultstore.Store{Store: up, FailAt: 1}
	d.do("run", attempts.Both, 1)
	d.wantWaiting("before", 1)
	folders, err := filepath.Glob(filepath.Join(d.work, "*"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	if err := os.Chmod(folders[0], 0o755); err != nil {
		t.Fatal(err)
	}
	d.do("run", attempts.Both, 1)
	if names, _ := filepath.Glob(filepath.Join(folders[0], "*")); len(names) != 1 {
		t.Errorf("the folder has %q, want the one file from before", names)
	}
	d.store = up
	d.do("run", attempts.Both, 0)
	d.want("afterwards", "run end unchanged")
}
