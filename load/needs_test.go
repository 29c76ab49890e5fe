package load_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/lake"
)

// TestNeeds puts the name of an unknown ability into each kind of object, and undecodable members next to it, as a later
// program might. A reader stops at a name in requires, a writer also at one in requires_to_write, and both say which
// version to use. Otherwise the lake opens.
func TestNeeds(t *testing.T) {
	t.Parallel()
	sound := new(memstore.Mem)
	l := loadtest.Open(t, sound)
	for n := range 52 { // with a checkpoint
		loadtest.Night(t, l, n, loadtest.Added(int64(n+1), 1, 'a'))
	}
	const strange = `"dealflow_version":"9.8.7","known_at":{"clock":"lunar"},`
	objects := map[string]func(t *testing.T, s store.Store, needs string){
		"newest commit": func(t *testing.T, s store.Store, needs string) {
			storetest.Overwrite(t, s, lake.CommitKey(53), []byte(`{"format_version":2,`+needs+strange+`"commit":53}`))
		},
		"file of the newest commit": func(t *testing.T, s store.Store, needs string) {
			storetest.Overwrite(t, s, lake.CommitKey(53), []byte(`{"format_version":2,`+strange+`"commit":53,"add":[{`+needs+`"path":{}}]}`))
		},
		"hint": func(t *testing.T, s store.Store, needs string) {
			storetest.Overwrite(t, s, lake.LatestKey, []byte(`{"format_version":2,`+needs+strange+`"commit":"53rd"}`))
		},
		"checkpoint": func(t *testing.T, s store.Store, needs string) {
			editCompressed(t, s, lake.CheckpointKey(50), func(text []byte) []byte {
				return bytes.Replace(text, []byte(`{"format_version":2,`), []byte(`{"format_version":2,`+needs+`"dealflow_version":"9.8.7",`), 1)
			})
		},
	}
	for name, put := range objects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storetest.Clone(t, sound)
			put(t, s, `"requires":["time-travel"],`)
			_, err := load.Open(t.Context(), s)
			var needs *lake.NeedsError
			if !errors.As(err, &needs) || needs.Writing || !slices.Equal(needs.Unknown, []string{"time-travel"}) || !strings.Contains(err.Error(), "use dealflow 9.8.7, or a later version") {
				t.Errorf("got %v, want a NeedsError that names time-travel and version 9.8.7", err)
			}
		})
	}
}

// TestNeedsOfLiveFiles adds a file that only a later program may write next to, and removes it again. Readers are never
// refused; writers are, for as long as the file is live, also if the log is read from a checkpoint.
func TestNeedsOfLiveFiles(t *testing.T) {
	t.Parallel()
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	for n := range 48 {
		loadtest.Night(t, l, n, loadtest.Added(int64(n+1), 1, 'a'))
	}
	later := lake.File{
		Path: "history/deal_versions/mkt=IG/year=2026/later-0.parquet", Table: "history.deal_versions", Partition: map[string]string{"market": "IG", "year": "2026"},
		SchemaVersion: 77, Needs: lake.Needs{RequiresToWrite: []string{"schema-77"}},
	}
	commit := func(number int64, add []lake.File, remove ...string) {
		log := loadtest.Open(t, s).Log()
		c := lake.Commit{
			FormatVersion: lake.FormatVersion, Number: number, PreviousSHA256: log.SHA256, KnownAt: log.KnownAt.Next(), RunID: "later", DealflowVersion: "9.8.7",
			Command: "replay", Add: add, Remove: remove, Outcome: lake.OutcomeDone,
		}
		data, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		storetest.Overwrite(t, s, lake.CommitKey(number), data)
	}
	commit(49, []lake.File{later})
	wantWritable(t, s, false)
	commit(50, nil)
	opened := loadtest.Open(t, s)
	if err := opened.WriteDerived(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var hint, head map[string]any
	checkpoint, _, _ := bytes.Cut(decompressed(t, s, lake.CheckpointKey(50)), []byte("\n"))
	if err := errors.Join(json.Unmarshal(storetest.Bytes(t, s, lake.LatestKey), &hint), json.Unmarshal(checkpoint, &head)); err != nil {
		t.Fatal(err)
	}
	for object, members := range map[string]any{"hint": hint, "checkpoint": head["checkpoint"]} {
		m, _ := members.(map[string]any)
		if names, _ := m["requires_to_write"].([]any); !slices.Contains(names, any("schema-77")) || m["dealflow_version"] != "9.8.7" {
			t.Errorf("%s: %v, want schema-77 in requires_to_write, by 9.8.7", object, members)
		}
	}
	wantWritable(t, s, false)
	commit(51, nil, later.Path)
	wantWritable(t, s, true)
}

// wantWritable checks that a lake can be read, and whether it can be written.
func wantWritable(t *testing.T, s store.Store, writable bool) {
	t.Helper()
	l := loadtest.Open(t, s)
	mem := testkit.Allocator(t)
	var needs *lake.NeedsError
	session, _, err := l.Start(t.Context(), load.SessionConfig{RunID: "r", Command: "run", Clock: time.Now, WorkDir: t.TempDir(), Memory: mem, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	switch {
	case writable && err != nil:
		t.Errorf("commit %d: %v, want a session", l.Log().Number, err)
	case !writable && (!errors.As(err, &needs) || !needs.Writing || !strings.Contains(err.Error(), "9.8.7")):
		t.Errorf("commit %d: got %v, want a NeedsError for writing", l.Log().Number, err)
	}
	if err == nil {
		if err := session.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestMixedFormats checks that commits of two format versions in one log are damage.
func TestMixedFormats(t *testing.T) {
	t.Parallel()
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'))
	second := loadtest.Night(t, l, 1, loadtest.Added(2, 1, 'a'))
	second.FormatVersion = 1
	data, err := second.Encode()
	if err != nil {
		t.Fatal(err)
	}
	storetest.Overwrite(t, s, lake.CommitKey(2), data)
	if _, err := load.Open(t.Context(), s); err == nil || !strings.Contains(err.Error(), "the commit is of format version 1, those before it of 2") {
		t.Errorf("got %v, want damage", err)
	}
}

// decompressed returns the text of a compressed object.
func decompressed(t *testing.T, s store.Store, key string) []byte {
	t.Helper()
	r, err := zstd.NewReader(bytes.NewReader(storetest.Bytes(t, s, key)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// editCompressed changes the text of a compressed object.
func editCompressed(t *testing.T, s store.Store, key string, edit func([]byte) []byte) {
	t.Helper()
	before := decompressed(t, s, key)
	after := edit(before)
	if bytes.Equal(before, after) {
		t.Fatalf("%s was not changed", key)
	}
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Overwrite(t, s, key, w.EncodeAll(after, nil))
}
