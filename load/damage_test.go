package load_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
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

// TestHoleWithoutHint checks that a lake with a missing commit is refused, although no hint names a later one.
func TestHoleWithoutHint(t *testing.T) {
	whole := new(memstore.Mem)
	l := loadtest.Open(t, whole)
	for n := range 6 {
		loadtest.Night(t, l, n, loadtest.Added(int64(n+1), 1, 'a'))
	}
	for missing := int64(1); missing <= 6; missing++ {
		for name, hint := range map[string]string{
			"none": "", "garbage": "\x00", "of the one before": fmt.Sprintf(`{"commit":%d}`, missing-1), "of the missing one": fmt.Sprintf(`{"commit":%d}`, missing),
			"before all": `{"commit":0}`, "too high": `{"commit":900}`,
		} {
			t.Run(fmt.Sprintf("%d, hint %s", missing, name), func(t *testing.T) {
				s := storetest.Clone(t, whole)
				storetest.Remove(t, s, lake.CommitKey(missing))
				if storetest.Overwrite(t, s, lake.LatestKey, []byte(hint)); hint == "" {
					storetest.Remove(t, s, lake.LatestKey)
				}
				cut, err := load.Open(t.Context(), s)
				if missing == 6 { // the last commit: only a hint that names it, or a later one, proves that it was made
					lost := name == "of the missing one" || name == "too high"
					if cut == nil || cut.Log().Number != 5 || lost != errors.Is(err, load.ErrLostCommit) || !lost && err != nil {
						t.Errorf("got %v, want it open at 5, and a lost commit: %t", err, lost)
					}
					return
				}
				want := fmt.Sprintf("commit %d is missing, but commit %d exists", missing, missing+1)
				if err == nil || errors.Is(err, load.ErrNoLake) || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			})
		}
	}
}

// TestHoleAfterCheckpoint checks that a lake is refused if the first commit after its newest checkpoint is missing.
func TestHoleAfterCheckpoint(t *testing.T) {
	s := fiftyTwo(t)
	storetest.Remove(t, s, lake.CommitKey(51))
	storetest.Overwrite(t, s, lake.LatestKey, []byte(`{"commit":50,"checkpoint":50}`))
	if _, err := load.Open(t.Context(), s); err == nil || !strings.Contains(err.Error(), "commit 51 is missing, but commit 52 exists") {
		t.Errorf("got %v", err)
	}
}

// fiftyTwo returns a lake of 52 commits, with a checkpoint at 50.
func fiftyTwo(t *testing.T) *memstore.Mem {
	t.Helper()
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	for n := range 52 {
		loadtest.Night(t, l, n, loadtest.Added(int64(n+1), 1, 'a'))
	}
	return s
}

// TestCheckpointThatLostLines reads a lake whose newest checkpoint lacks lines or has lines twice. It is not complete,
// so the log is read without it and is the same.
func TestCheckpointThatLostLines(t *testing.T) {
	s := fiftyTwo(t)
	want := summarise(t, s)
	key := lake.CheckpointKey(50)
	lines := bytes.SplitAfter(unzip(t, storetest.Bytes(t, s, key)), []byte("\n"))
	lines = lines[:len(lines)-1] // nothing follows the last newline
	line := func(part string, n int) int {
		found := -1
		for i := range lines {
			if bytes.HasPrefix(lines[i], []byte(`{"`+part+`"`)) {
				if found = i; n == 0 {
					return i
				}
				n--
			}
		}
		return found
	}
	if len(lines) != 101 || line("checkpoint", 0) != 0 || line("run", 0) != 1 || line("file", 0) != 51 {
		t.Fatalf("the checkpoint has %d lines, runs from %d, files from %d; want a head, 50 runs and 50 files", len(lines), line("run", 0), line("file", 0))
	}
	without := func(i int) [][]byte { return slices.Delete(slices.Clone(lines), i, i+1) }
	twice := func(i int) [][]byte { return slices.Insert(slices.Clone(lines), i, lines[i]) }
	for name, damaged := range map[string][][]byte{
		"without its head":         without(0),
		"without its first run":    without(line("run", 0)),
		"without a run":            without(line("run", 20)),
		"without its last run":     without(line("run", 49)),
		"without its first file":   without(line("file", 0)),
		"without a file":           without(line("file", 20)),
		"without its last file":    without(line("file", 49)),
		"without runs":             slices.Delete(slices.Clone(lines), 1, 51),
		"without files":            lines[:51],
		"a run twice":              twice(line("run", 20)),
		"a file instead of a run":  append(without(line("run", 20)), bytes.Replace(lines[51], []byte(`"path":"`), []byte(`"path":"x`), 1)),
		"half a line more":         append(slices.Clone(lines), []byte(`{"file":{"pa`)),
		"nothing but the head":     lines[:1],
		"a head of another commit": append([][]byte{bytes.Replace(lines[0], []byte(`"commit":50`), []byte(`"commit":49`), 1)}, lines[1:]...),
		"a head of another format": append([][]byte{bytes.Replace(lines[0], []byte(`"format_version":2`), []byte(`"format_version":1`), 1)}, lines[1:]...),
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Clone(t, s)
			storetest.Overwrite(t, s, key, zip(t, bytes.Join(damaged, nil)))
			if got := summarise(t, s); !got.equal(want) {
				t.Errorf("got commit %d, %d runs, %d files; want %d, %d, %d", got.number, len(got.runs), len(got.files), want.number, len(want.runs), len(want.files))
			}
			// A checkpoint that was used is not due again until its 50 commits are over; one that was not, is.
			if due := loadtest.Open(t, s).Log().CheckpointDue(); !due {
				t.Error("the damaged checkpoint was used")
			}
		})
	}
	storetest.Overwrite(t, s, key, zip(t, bytes.Join(lines, nil)))
	if loadtest.Open(t, s).Log().CheckpointDue() {
		t.Error("the whole checkpoint was not used: nothing was tried")
	}
}

func unzip(t *testing.T, data []byte) []byte {
	t.Helper()
	decoder, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decoder.Close()
	text, err := decoder.DecodeAll(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func zip(t *testing.T, text []byte) []byte {
	t.Helper()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close()
	return encoder.EncodeAll(text, nil)
}

// cutOff is a store that cancels its caller while a commit is put. The commit is made or not. With silent the store
// does not answer when the commit is read back.
type cutOff struct {
	store.Store
	cancel  context.CancelFunc
	applied bool
	silent  bool
}

func (c *cutOff) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if !strings.HasPrefix(key, lake.CommitsPrefix) {
		return c.Store.Put(ctx, key, body, mode)
	}
	if c.applied {
		if err := c.Store.Put(ctx, key, body, mode); err != nil {
			return err
		}
	}
	c.cancel()
	return ctx.Err()
}

func (c *cutOff) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if c.silent && strings.HasPrefix(key, lake.CommitsPrefix) {
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.Store.Get(ctx, key)
}

// TestCancelledWhileCommitting cancels a run between the put of its commit and the answer. If the commit was made, the
// run succeeds; if not, its error says that the commit does not exist.
func TestCancelledWhileCommitting(t *testing.T) {
	t.Parallel()
	for _, applied := range []bool{true, false} {
		t.Run(fmt.Sprintf("applied=%t", applied), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := &cutOff{Store: new(memstore.Mem), cancel: cancel, applied: applied}
			l := loadtest.Open(t, s)
			run := loadtest.Begin(t, l, testkit.Allocator(t), loadtest.Start)
			defer loadtest.Close(t, run)
			commit, err := run.Commit(ctx, lake.Commit{Command: "run", KnownAt: lake.At(loadtest.Start)})
			switch {
			case applied && (err != nil || commit.Number != 1 || l.Log().Number != 1):
				t.Errorf("got %v, %v, log at %d; want commit 1, which was made", commit, err, l.Log().Number)
			case !applied && (!errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "it was not found") || l.Log().Number != 0):
				t.Errorf("got %v, log at %d; want it cancelled, and the commit not there", err, l.Log().Number)
			}
			if again := loadtest.Open(t, s); again.Log().Number != l.Log().Number {
				t.Errorf("the log is at %d, this lake at %d", again.Log().Number, l.Log().Number)
			}
		})
	}
}

// TestCancelledWithoutAnswer cancels a run while its commit is put, and the store never answers again. The run ends,
// and its error says that the commit may have been made.
func TestCancelledWithoutAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := &cutOff{Store: new(memstore.Mem), cancel: cancel, applied: true}
		l := loadtest.Open(t, s)
		s.silent = true
		run := loadtest.Begin(t, l, testkit.Allocator(t), loadtest.Start)
		defer loadtest.Close(t, run)
		began := time.Now()
		_, err := run.Commit(ctx, lake.Commit{Command: "run", KnownAt: lake.At(loadtest.Start)})
		if err == nil || !strings.Contains(err.Error(), "it is unknown whether it was written") || l.Log().Number != 0 {
			t.Errorf("got %v, log at %d", err, l.Log().Number)
		}
		if took := time.Since(began); took <= 0 || took > time.Minute {
			t.Errorf("the run ended %s after it was cancelled, want it to wait for an answer, within a minute", took)
		}
	})
}

// refusing is a store that refuses the first puts of a commit with ErrExists, although no commit can be read.
type refusing struct {
	store.Store
	times, puts int
}

func (r *refusing) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if strings.HasPrefix(key, lake.CommitsPrefix) {
		if r.puts++; r.puts <= r.times {
			return store.ErrExists
		}
	}
	return r.Store.Put(ctx, key, body, mode)
}

// TestRefusedWithoutReason commits into a store that refuses because another writer is putting the commit, which then
// fails. The run tries eight times, with a wait of 50 ms that doubles.
func TestRefusedWithoutReason(t *testing.T) {
	t.Parallel()
	for times, want := range map[int]struct {
		puts int
		took time.Duration
	}{0: {1, 0}, 1: {2, 50 * time.Millisecond}, 3: {4, 350 * time.Millisecond}, 7: {8, 6350 * time.Millisecond}, 8: {8, 6350 * time.Millisecond}, 1 << 20: {8, 6350 * time.Millisecond}} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				s := &refusing{Store: new(memstore.Mem), times: times}
				l := loadtest.Open(t, s)
				run := loadtest.Begin(t, l, testkit.Allocator(t), loadtest.Start)
				defer loadtest.Close(t, run)
				began := time.Now()
				commit, err := run.Commit(ctx, lake.Commit{Command: "run", KnownAt: lake.At(loadtest.Start)})
				if took := time.Since(began); took != want.took || s.puts != want.puts {
					t.Errorf("%d puts in %s, want %d in %s", s.puts, took, want.puts, want.took)
				}
				switch made := times < want.puts; {
				case made && (err != nil || commit.Number != 1):
					t.Errorf("got %v, %v; want commit 1", commit, err)
				case !made && (!errors.Is(err, store.ErrExists) || errors.Is(err, load.ErrConflict) || !strings.Contains(err.Error(), "it was not found")):
					t.Errorf("got %v, want that the commit is not there", err)
				}
			})
		})
	}
}

// TestCommitThatCallsItselfAnother refuses a log whose newest commit follows the one before it, but is stored under
// another number than its own.
func TestCommitThatCallsItselfAnother(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	for n := range 3 {
		loadtest.Night(t, l, n, loadtest.Added(int64(n+1), 1, 'a'))
	}
	data := storetest.Bytes(t, s, lake.CommitKey(3))
	for _, number := range []string{"1", "2", "4", "9"} {
		storetest.Overwrite(t, s, lake.CommitKey(3), bytes.Replace(data, []byte(`"commit":3,`), []byte(`"commit":`+number+`,`), 1))
		if _, err := load.Open(t.Context(), s); err == nil || !strings.Contains(err.Error(), "number is "+number+", want 3") {
			t.Errorf("commit 3 that calls itself %s: got %v", number, err)
		}
	}
}

// TestRemovedFiles takes files that a commit removes out of the lake, whether a checkpoint has summed up the commit that
// added them or not, and adds one again that a later commit names.
func TestRemovedFiles(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	mem := testkit.Allocator(t)
	commit := func(n int, c lake.Commit) {
		t.Helper()
		run := loadtest.Begin(t, l, mem, loadtest.Start.AddDate(0, 0, n))
		defer loadtest.Close(t, run)
		c.Command, c.KnownAt = "compact", lake.At(loadtest.Start.AddDate(0, 0, n))
		if _, err := run.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if err := l.WriteDerived(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'))
	loadtest.Night(t, l, 1, loadtest.Added(2, 1, 'a'))
	files := l.Log().AllFiles()
	want := func(live ...lake.File) {
		t.Helper()
		for what, log := range map[string]*load.Log{"of the writer": l.Log(), "of a reader": loadtest.Open(t, s).Log()} {
			if got := log.AllFiles(); !slices.EqualFunc(got, live, func(a, b lake.File) bool { return a.Path == b.Path }) {
				t.Errorf("the log %s has %d files, want %d", what, len(got), len(live))
			}
			if got := log.Files(lake.HistoryTable(lake.DealVersions)); len(got) != len(live) {
				t.Errorf("the log %s has %d files of the table, want %d", what, len(got), len(live))
			}
		}
	}
	want(files...)
	commit(2, lake.Commit{Remove: []string{files[0].Path}})
	want(files[1])
	for n := 3; n < 50; n++ {
		commit(n, lake.Commit{})
	}
	if loadtest.Open(t, s).Log().CheckpointDue() {
		t.Fatal("there is no checkpoint: nothing was tried")
	}
	want(files[1])
	commit(50, lake.Commit{Remove: []string{files[1].Path}})
	want()
}

// TestGrace holds the time that files without a commit are left alone to what docs/reference/lake-format.md promises to readers.
func TestGrace(t *testing.T) {
	if load.Grace != 7*24*time.Hour {
		t.Errorf("files are left alone for %s, want seven days", load.Grace)
	}
}
