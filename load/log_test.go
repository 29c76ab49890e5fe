package load_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// summary is what a log says.
type summary struct {
	number int64
	chain  string
	runs   []string
	files  []lake.File
	latest map[api.Feed]lake.Latest
}

func summarise(t *testing.T, s store.Store) summary {
	t.Helper()
	l := loadtest.Open(t, s)
	latest, err := l.Latest(t.Context(), testkit.Allocator(t))
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(latest, func(_ api.Feed, deals lake.Latest) bool { return len(deals) == 0 })
	sum := summary{number: l.Log().Number, chain: l.Log().SHA256, files: l.Log().AllFiles(), latest: latest}
	for _, run := range l.Log().Commits {
		sum.runs = append(sum.runs, fmt.Sprint(run.Number, run.RunID, run.KnownAt))
	}
	return sum
}

func (s summary) equal(o summary) bool {
	sameFile := func(a, b lake.File) bool { return a.Path == b.Path && a.SHA256 == b.SHA256 && a.Rows == b.Rows }
	return s.number == o.number && s.chain == o.chain && slices.Equal(s.runs, o.runs) &&
		slices.EqualFunc(s.files, o.files, sameFile) && maps.EqualFunc(s.latest, o.latest, maps.Equal)
}

// damages are ways in which derived objects can be wrong.
var damages = map[string]func(t *testing.T, s store.Store, key string){
	"lost":    func(t *testing.T, s store.Store, key string) { storetest.Remove(t, s, key) },
	"empty":   func(t *testing.T, s store.Store, key string) { storetest.Overwrite(t, s, key, nil) },
	"garbage": func(t *testing.T, s store.Store, key string) { storetest.Overwrite(t, s, key, []byte("\x00garbage\n")) },
	"truncated": func(t *testing.T, s store.Store, key string) {
		data := storetest.Bytes(t, s, key)
		storetest.Overwrite(t, s, key, data[:len(data)/2])
	},
	"flipped": func(t *testing.T, s store.Store, key string) {
		data := storetest.Bytes(t, s, key)
		data[len(data)/2] ^= 0x40
		storetest.Overwrite(t, s, key, data)
	},
	"of another commit": func(t *testing.T, s store.Store, key string) {
		storetest.Overwrite(t, s, key, storetest.Bytes(t, s, strings.Replace(key, "100", "050", 1)))
	},
}

// TestHintsAndCheckpoints reads the log with each derived object wrong in turn: the log is always the same, and so is
// the log after the next commit.
func TestHintsAndCheckpoints(t *testing.T) {
	s := loadtest.LongLog(t)
	want := summarise(t, s)
	if want.number != 103 || len(want.runs) != 103 || len(want.latest[loadtest.Feed]) != 104 || want.latest[loadtest.Feed][1].Version != 11 {
		t.Fatalf("commit %d, %d runs, %d deals, deal 1 version %d; want 103, 103, 104, 11",
			want.number, len(want.runs), len(want.latest[loadtest.Feed]), want.latest[loadtest.Feed][1].Version)
	}
	check := func(name string, spoil func(t *testing.T, s store.Store)) {
		t.Run(name, func(t *testing.T) {
			s := storetest.Clone(t, s)
			spoil(t, s)
			if got := summarise(t, s); !got.equal(want) {
				t.Errorf("got commit %d (%.12s), %d runs, %d files, latest equal: %t; want %d (%.12s), %d, %d",
					got.number, got.chain, len(got.runs), len(got.files), maps.EqualFunc(got.latest, want.latest, maps.Equal),
					want.number, want.chain, len(want.runs), len(want.files))
			}
		})
	}
	for name, text := range map[string]string{
		"stale": `{"commit":51,"checkpoint":50}`, "checkpoint too high": `{"commit":103,"checkpoint":900}`, "too low": `{"commit":1,"checkpoint":0}`,
		"no checkpoint there": `{"commit":103,"checkpoint":70}`, "negative": `{"commit":-1,"checkpoint":-50}`, "huge": `{"commit":1e400,"checkpoint":1e400}`,
		"at the end of numbers": `{"commit":9223372036854775807,"checkpoint":0}`, "checkpoint there": `{"commit":103,"checkpoint":9223372036854775807}`,
		"garbage": "\x00\xff", "empty": "", "of other types": `{"commit":"103","checkpoint":[100]}`,
	} {
		check("hint "+name, func(t *testing.T, s store.Store) { storetest.Overwrite(t, s, lake.LatestKey, []byte(text)) })
	}
	check("hint lost", func(t *testing.T, s store.Store) { storetest.Remove(t, s, lake.LatestKey) })
	for _, key := range []string{lake.CheckpointKey(100), lake.StateKey(100)} {
		for name, damage := range damages {
			check(key[len(lake.CheckpointsPrefix):]+" "+name, func(t *testing.T, s store.Store) { damage(t, s, key) })
		}
	}
	check("all that is derived is garbage", func(t *testing.T, s store.Store) {
		for _, key := range []string{lake.CheckpointKey(100), lake.StateKey(100), lake.CheckpointKey(50), lake.StateKey(50), lake.LatestKey} {
			damages["garbage"](t, s, key)
		}
	})
}

// TestCheckpointAfterDamage checks that the next commit writes a new checkpoint if the newest was lost, and that the
// hint names it.
func TestCheckpointAfterDamage(t *testing.T) {
	s := loadtest.LongLog(t)
	storetest.Remove(t, s, lake.CheckpointKey(100))
	storetest.Remove(t, s, lake.StateKey(100))
	l := loadtest.Open(t, s)
	mem := testkit.Allocator(t)
	latest, err := l.Latest(t.Context(), mem)
	if err != nil {
		t.Fatal(err)
	}
	run := loadtest.Begin(t, l, mem, loadtest.Start.AddDate(0, 0, 103))
	defer loadtest.Close(t, run)
	if _, err := run.Commit(t.Context(), lake.Commit{Command: "run", KnownAt: lake.At(loadtest.Start.AddDate(0, 0, 103))}); err != nil {
		t.Fatal(err)
	}
	if err := l.WriteDerived(t.Context(), latest); err != nil {
		t.Fatal(err)
	}
	if hint := load.ReadHint(t.Context(), s); hint.Commit != 104 || hint.Checkpoint != 104 || hint.SHA256 != l.Log().SHA256 {
		t.Errorf("hint: got %+v, want commit and checkpoint 104", hint)
	}
	with := summarise(t, s)
	storetest.Remove(t, s, lake.CheckpointKey(104))
	storetest.Remove(t, s, lake.StateKey(104))
	if without := summarise(t, s); !with.equal(without) {
		t.Errorf("with the checkpoint: commit %d, %d files; without: %d, %d", with.number, len(with.files), without.number, len(without.files))
	}
}

// TestNothingOutlivesItsMemory reads latest and payloads with an allocator that overwrites released memory: the results
// must not point into it.
func TestNothingOutlivesItsMemory(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'), loadtest.Added(2, 1, 'b'))
	latest, err := l.Latest(t.Context(), overwriter{memory.DefaultAllocator})
	if err != nil {
		t.Fatal(err)
	}
	if got := latest[loadtest.Feed][2].ContentHash; len(latest) != 1 || got != (lake.Digest{'b'}) {
		t.Errorf("latest of %v, deal 2 has %.2x; want those of %s and %.2x", slices.Collect(maps.Keys(latest)), got, loadtest.Feed, lake.Digest{'b'})
	}
	payloads, err := l.Payloads(t.Context(), overwriter{memory.DefaultAllocator}, loadtest.Feed, map[int64]int32{2: 1})
	if err != nil || string(payloads[2].Bytes) != "{b}" || payloads[2].RunID != loadtest.RunID(loadtest.Start) {
		t.Errorf("got payload %q of run %q, %v; want {b} of %s", payloads[2].Bytes, payloads[2].RunID, err, loadtest.RunID(loadtest.Start))
	}
}

// overwriter is an allocator that overwrites released memory.
type overwriter struct{ memory.Allocator }

func (s overwriter) Free(b []byte) {
	copy(b, bytes.Repeat([]byte{0xEE}, len(b)))
	s.Allocator.Free(b)
}

// TestConflictChangesNothing lets a run lose its commit after it has put files into the lake.
func TestConflictChangesNothing(t *testing.T) {
	s := new(memstore.Mem)
	first, second := loadtest.Open(t, s), loadtest.Open(t, s)
	mem := testkit.Allocator(t)
	run := loadtest.Begin(t, second, mem, loadtest.Start.AddDate(0, 0, 1))
	defer loadtest.Close(t, run)
	batches := transform.NewVersionBatches(mem)
	defer batches.Release()
	version := loadtest.Added(1, 1, 'b')
	version.Feed, version.KnownAt, version.ObservedAt, version.RunID = loadtest.Feed, loadtest.Start, loadtest.Start, loadtest.RunID(loadtest.Start)
	batches.Append(&version)
	batch := batches.Take()
	defer batch.Record.Release()
	w, err := run.History(lake.DealVersions, loadtest.Feed.Market)
	if err == nil {
		err = errors.Join(w.Write(batch.Record, batch.MinDealID, batch.MaxDealID), w.Finish(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	loadtest.Night(t, first, 0, loadtest.Added(1, 1, 'a'))
	want := summarise(t, s)
	if _, err := run.Commit(t.Context(), lake.Commit{Command: "run", KnownAt: lake.At(loadtest.Start.AddDate(0, 0, 1))}); !errors.Is(err, load.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	if got := summarise(t, s); !got.equal(want) {
		t.Errorf("got commit %d, %d files; want %d, %d", got.number, len(got.files), want.number, len(want.files))
	}
}

// deaf loses the answer to the first put of a commit, which may have been applied.
type deaf struct {
	store.Store
	applied, done bool
}

var errNoAnswer = errors.New("no answer")

func (d *deaf) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if d.done || !strings.HasPrefix(key, lake.CommitsPrefix) {
		return d.Store.Put(ctx, key, body, mode)
	}
	d.done = true
	if d.applied {
		if err := d.Store.Put(ctx, key, body, mode); err != nil {
			return err
		}
	}
	return errNoAnswer
}

// TestLostAnswer commits into a store that does not answer: the object that exists decides the result.
func TestLostAnswer(t *testing.T) {
	for _, applied := range []bool{true, false} {
		t.Run(fmt.Sprintf("applied=%t", applied), func(t *testing.T) {
			s := &deaf{Store: new(memstore.Mem), applied: applied}
			l := loadtest.Open(t, s)
			run := loadtest.Begin(t, l, testkit.Allocator(t), loadtest.Start)
			defer loadtest.Close(t, run)
			commit, err := run.Commit(t.Context(), lake.Commit{Command: "run", KnownAt: lake.At(loadtest.Start)})
			switch {
			case applied && (err != nil || commit.Number != 1 || l.Log().Number != 1):
				t.Errorf("got %v, %v, log at %d; want commit 1", commit, err, l.Log().Number)
			case !applied && (!errors.Is(err, errNoAnswer) || errors.Is(err, load.ErrConflict) || l.Log().Number != 0):
				t.Errorf("got %v, log at %d; want the store's error, nothing committed", err, l.Log().Number)
			}
			if again := loadtest.Open(t, s); again.Log().Number != l.Log().Number {
				t.Errorf("the log is at %d, this lake at %d", again.Log().Number, l.Log().Number)
			}
		})
	}
}
