package load_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/runs"
	"dealflow/load/store"
	"dealflow/load/store/faultstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// longLog is the number of commits of the lakes here: two segments, and what is not in one yet.
const longLog = 3*runs.Size + 12

// commitsOf decodes all commits of a store, without their files.
func commitsOf(t *testing.T, s store.Store, last int64) []lake.Commit {
	t.Helper()
	var commits []lake.Commit
	for n := int64(1); n <= last; n++ {
		c, err := lake.DecodeCommit(storetest.Bytes(t, s, lake.CommitKey(n)))
		if err != nil {
			t.Fatal(err)
		}
		c.Add, c.Remove = nil, nil
		commits = append(commits, *c)
	}
	return commits
}

// runsOf collects Lake.Runs.
func runsOf(ctx context.Context, l *load.Lake, from int64) (found []lake.Commit, err error) {
	for run, err := range l.Runs(ctx, from) {
		if err != nil {
			return found, err
		}
		found = append(found, *run)
	}
	return found, nil
}

// wantRuns checks that a lake has these commits, however it holds them.
func wantRuns(t *testing.T, l *load.Lake, want []lake.Commit) {
	t.Helper()
	for _, from := range []int64{1, 700, runs.Size, runs.Size + 1, int64(len(want)), int64(len(want)) + 1} {
		if got, err := runsOf(t.Context(), l, from); err != nil || !reflect.DeepEqual(got, append([]lake.Commit(nil), want[from-1:]...)) {
			t.Errorf("runs from %d on: got %d, %v, want %d", from, len(got), err, int64(len(want))-from+1)
		}
	}
	names, err := l.Names(t.Context())
	if err != nil || len(names) != len(want) {
		t.Fatalf("got %d names, %v, want %d", len(names), err, len(want))
	}
	for i := range names {
		sha := l.Log().SHA256
		if i+1 < len(want) {
			sha = want[i+1].PreviousSHA256
		}
		c := &want[i]
		if n := names[i]; n.Number != c.Number || n.SHA256 != sha || !n.KnownAt.Equal(c.KnownAt.Time) || n.RunID != c.RunID || n.Command != c.Command || n.Pulled != (len(c.Feeds) > 0) {
			t.Fatalf("name %+v, want that of commit %d", n, c.Number)
		}
	}
	for _, number := range []int64{1, 999, 1000, 1001, int64(len(want))} {
		named, ok, err := l.Named(t.Context(), number)
		if err != nil || !ok || named != names[number-1].NamedCommit {
			t.Errorf("commit %d: named %+v, %t, %v, want %+v", number, named, ok, err, names[number-1].NamedCommit)
		}
		if run, err := l.Run(t.Context(), number); err != nil || !reflect.DeepEqual(run, &want[number-1]) {
			t.Errorf("run %d: got %+v, %v", number, run, err)
		}
	}
	for _, absent := range []int64{-1, 0, int64(len(want)) + 1} {
		if named, ok, err := l.Named(t.Context(), absent); ok || err != nil {
			t.Errorf("commit %d: named %+v, %t, %v, want none", absent, named, ok, err)
		}
		if run, err := l.Run(t.Context(), absent); run != nil || err != nil {
			t.Errorf("run %d: got %+v, %v, want none", absent, run, err)
		}
	}
}

// derive writes what is derived from the commits of a lake without deals.
func derive(ctx context.Context, l *load.Lake) error {
	return l.WriteDerived(ctx, map[api.Feed]lake.Latest{})
}

// TestLongLog opens a log of many commits, from the commits and from a checkpoint. It holds few of them, but has all; what
// is derived says that a reader must know segments; and the next time few objects are read.
func TestLongLog(t *testing.T) {
	t.Parallel()
	s := loadtest.LongYears(t, longLog)
	want := commitsOf(t, s, longLog)
	l := loadtest.Open(t, s)
	wantRuns(t, l, want)
	if needs := l.Log().Needs(); len(needs.Requires) > 0 {
		t.Errorf("the log needs %v before anything is derived from it", needs.Requires)
	}
	if err := derive(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	wantRuns(t, l, want)
	counted := &faultstore.Store{Store: s}
	again := loadtest.Open(t, counted)
	if calls := counted.Calls(); calls > 8 {
		t.Errorf("opening took %d calls, want few", calls)
	}
	wantRuns(t, again, want)
	log := again.Log()
	if len(log.Commits) > 2*runs.Size || !log.Whole(2*runs.Size+1) || log.Whole(2*runs.Size) {
		t.Errorf("it holds %d commits", len(log.Commits))
	}
	if !reflect.DeepEqual(log.Commits, l.Log().Commits) {
		t.Error("the log from the checkpoint holds other commits than that from the commits")
	}
	// Each object that a program reads first says what it must know.
	checkpoint, _, _ := bytes.Cut(decompressed(t, s, lake.CheckpointKey(longLog)), []byte("\n"))
	state, _, _ := bytes.Cut(decompressed(t, s, lake.StateKey(longLog)), []byte("\n"))
	segment, _, _ := bytes.Cut(decompressed(t, s, lake.SegmentKey(runs.Size)), []byte("\n"))
	for what, text := range map[string][]byte{"hint": storetest.Bytes(t, s, lake.LatestKey), "checkpoint": checkpoint, "state": state, "segment": segment} {
		var first struct {
			lake.Needs
			Checkpoint json.RawMessage `json:"checkpoint"`
		}
		err := json.Unmarshal(text, &first)
		if what == "checkpoint" && err == nil {
			err = json.Unmarshal(first.Checkpoint, &first)
		}
		if err != nil || !slices.Equal(first.Requires, []string{"run-segments"}) {
			t.Errorf("%s requires %v, %v, want run-segments", what, first.Requires, err)
		}
	}
}

// TestShortLog writes the checkpoint of a log just too short for segments: it is as before, and needs nothing new.
func TestShortLog(t *testing.T) {
	t.Parallel()
	s := loadtest.LongYears(t, 2*runs.Size-1)
	l := loadtest.Open(t, s)
	if err := derive(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	text := decompressed(t, s, lake.CheckpointKey(2*runs.Size-1))
	if n := bytes.Count(text, []byte("\n")); n != 2*runs.Size || bytes.Contains(text, []byte("segment")) {
		t.Errorf("the checkpoint has %d lines, want one for each commit and the first", n)
	}
	for object, err := range s.List(t.Context(), "_dealflow/runs/") {
		t.Errorf("got %s, %v, want no segment", object.Key, err)
	}
	// An older program writes the same for a longer log, too.
	long := loadtest.LongYears(t, longLog)
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	newest := loadtest.Open(t, long).Log()
	want := commitsOf(t, long, longLog)
	err := enc.Encode(map[string]any{"checkpoint": map[string]any{
		"format_version": 2, "commit": longLog, "known_at": newest.KnownAt, "sha256": newest.SHA256, "runs": longLog, "files": 0,
	}})
	for i := range want {
		err = errors.Join(err, enc.Encode(map[string]any{"run": &want[i]}))
	}
	if err != nil {
		t.Fatal(err)
	}
	storetest.Overwrite(t, long, lake.CheckpointKey(longLog), compressed(t, lines.Bytes()))
	storetest.Remove(t, long, lake.CommitKey(17)) // so that it cannot be read from the commits
	old := loadtest.Open(t, long)
	wantRuns(t, old, want)
	if !reflect.DeepEqual(old.Log().Commits, newest.Commits) {
		t.Error("the log from an older program's checkpoint holds other commits than that from the commits")
	}
}

// TestSegmentsAreDerived damages and deletes segments: the commits have all that they had. If a commit is lost as well, it
// is an error that names both. The next checkpoint puts a deleted segment again.
func TestSegmentsAreDerived(t *testing.T) {
	t.Parallel()
	sound := loadtest.LongYears(t, longLog)
	want := commitsOf(t, sound, longLog)
	if err := derive(t.Context(), loadtest.Open(t, sound)); err != nil {
		t.Fatal(err)
	}
	key := lake.SegmentKey(runs.Size)
	object := storetest.Bytes(t, sound, key)
	damages := map[string]func(t *testing.T, s store.Store){
		"absent":  func(t *testing.T, s store.Store) { storetest.Remove(t, s, key) },
		"short":   func(t *testing.T, s store.Store) { storetest.Overwrite(t, s, key, object[:len(object)/2]) },
		"one bit": func(t *testing.T, s store.Store) { storetest.Overwrite(t, s, key, flipped(object)) },
		"another one": func(t *testing.T, s store.Store) {
			storetest.Overwrite(t, s, key, storetest.Bytes(t, s, lake.SegmentKey(2*runs.Size)))
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			s := storetest.Clone(t, sound)
			damage(t, s)
			wantRuns(t, loadtest.Open(t, s), want)
			storetest.Remove(t, s, lake.CommitKey(17))
			l := loadtest.Open(t, s)
			if _, err := runsOf(t.Context(), l, 1); err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "commit 17") {
				t.Errorf("runs without segment and commit: got %v, want an error that names both", err)
			}
			if got, err := runsOf(t.Context(), l, runs.Size+1); err != nil || len(got) != longLog-runs.Size {
				t.Errorf("runs after the segment: got %d, %v", len(got), err)
			}
		})
	}
	t.Run("put again", func(t *testing.T) {
		s := storetest.Clone(t, sound)
		storetest.Remove(t, s, key)
		l := loadtest.Open(t, s)
		if err := extend(t, s, longLog, 60); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Refresh(t.Context()), derive(t.Context(), l)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(storetest.Bytes(t, s, key), object) {
			t.Error("the segment is not what it was")
		}
	})
}

// extend adds commits to a lake of LongYears.
func extend(t *testing.T, s store.Store, last, more int64) error {
	loadtest.Years(t, last+more, 1, false, func(key string, data []byte) error {
		if err := s.Put(t.Context(), key, bytes.NewReader(data), store.CreateOnly); !errors.Is(err, store.ErrExists) {
			return err
		}
		return nil
	})
	return nil
}

func flipped(data []byte) []byte {
	data = bytes.Clone(data)
	data[len(data)/2] ^= 1
	return data
}

// TestSegmentsKilled ends the writing of a checkpoint with segments at each call to the store. The lake has the same
// commits then, and the next writer completes what is lacking.
func TestSegmentsKilled(t *testing.T) {
	t.Parallel()
	const last = 2*runs.Size + 5
	sound := loadtest.LongYears(t, last)
	want := commitsOf(t, sound, last)
	for call := int64(1); ; call++ {
		s := storetest.Clone(t, sound)
		killed := &faultstore.Store{Store: s}
		l := loadtest.Open(t, killed)
		killed.FailAt = killed.Calls() + call
		killed.Applied = call%2 == 0
		err := derive(t.Context(), l)
		l = loadtest.Open(t, s)
		got, readErr := runsOf(t.Context(), l, 1)
		if readErr != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("killed at call %d: got %d runs, %v", call, len(got), readErr)
		}
		if err == nil {
			if call < 5 {
				t.Errorf("the checkpoint was written in %d calls, want a segment, a state, a checkpoint and a hint", call-1)
			}
			return
		}
		if !l.Log().CheckpointDue() {
			continue
		}
		if err := derive(t.Context(), l); err != nil {
			t.Fatalf("after it was killed at call %d: %v", call, err)
		}
		counted := &faultstore.Store{Store: s}
		loadtest.Open(t, counted)
		if calls := counted.Calls(); calls > 8 {
			t.Errorf("after it was killed at call %d and written again: opening took %d calls", call, calls)
		}
	}
}

// TestForkBehindSegment names a commit in a segment with another hash, as a hint or a catalog of another history would. It
// is lost; the same name with the right hash is not.
func TestForkBehindSegment(t *testing.T) {
	t.Parallel()
	s := loadtest.LongYears(t, longLog)
	l := loadtest.Open(t, s)
	if err := derive(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	named, _, err := l.Named(t.Context(), 17)
	if err != nil {
		t.Fatal(err)
	}
	for sha, lost := range map[string]bool{named.SHA256: false, lake.SHA256([]byte("another")): true} {
		hint := fmt.Sprintf(`{"format_version":2,"commit":17,"sha256":%q,"known_at":%q,"checkpoint":%d}`, sha, named.KnownAt, longLog)
		storetest.Overwrite(t, s, lake.LatestKey, []byte(hint))
		if _, err := load.Open(t.Context(), s); errors.Is(err, load.ErrLostCommit) != lost || !lost && err != nil {
			t.Errorf("a hint that names commit 17 by %.12s: got %v, want it lost: %t", sha, err, lost)
		}
	}
}

func compressed(t *testing.T, text []byte) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	return enc.EncodeAll(text, nil)
}
