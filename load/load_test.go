package load_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/loadtest"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/load/store/tracestore"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

func removed(id int64, version int32) transform.DealVersion {
	return transform.DealVersion{DealID: id, Version: version, Change: lake.Removed, Reason: lake.ReasonGone}
}

// TestHeadsAndPayloads reads back what nights of commits wrote, with and without a checkpoint's state.
func TestHeadsAndPayloads(t *testing.T) {
	dir, err := dirstore.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]store.Store{"memory": new(memstore.Mem), "folder": dir} {
		t.Run(name, func(t *testing.T) {
			l := loadtest.Open(t, s)
			loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'), loadtest.Added(2, 1, 'b'))
			loadtest.Night(t, l, 1, loadtest.Added(1, 2, 'c'), removed(2, 2))
			check := func(l *load.Lake) {
				t.Helper()
				mem := testkit.Allocator(t)
				latest, err := l.Latest(t.Context(), mem)
				if err != nil {
					t.Fatal(err)
				}
				deals := latest[loadtest.Feed]
				if h := deals[1]; h.Version != 2 || h.Removed || h.ContentHash != (lake.Digest{'c'}) {
					t.Errorf("deal 1: %+v", h)
				}
				if h := deals[2]; h.Version != 2 || !h.Removed || h.ContentHash != (lake.Digest{'b'}) || h.PayloadHash != (lake.Digest{'b', 1}) {
					t.Errorf("deal 2: %+v", h)
				}
				payloads, err := l.Payloads(t.Context(), mem, loadtest.Feed, map[int64]int32{1: 2, 2: 1})
				if err != nil || string(payloads[1].Bytes) != "{c}" || string(payloads[2].Bytes) != "{b}" {
					t.Errorf("payloads %s and %s, %v", payloads[1].Bytes, payloads[2].Bytes, err)
				}
				if _, err := l.Payloads(t.Context(), mem, loadtest.Feed, map[int64]int32{2: 2}); err == nil {
					t.Error("a removal has no payload, and that was no error")
				}
			}
			check(loadtest.Open(t, s))
			for n := 2; n < 51; n++ {
				loadtest.Night(t, l, n, loadtest.Added(100+int64(n), 1, 'x'))
			}
			reopened := loadtest.Open(t, s)
			if reopened.Log().Number != 51 || len(reopened.Log().Commits) != 51 {
				t.Errorf("log: commit %d, %d runs", reopened.Log().Number, len(reopened.Log().Commits))
			}
			check(reopened)
			if err := s.Delete(t.Context(), lake.StateKey(50), lake.LatestKey); err != nil {
				t.Fatal(err)
			}
			check(loadtest.Open(t, s))
			if err := s.Delete(t.Context(), lake.CheckpointKey(50)); err != nil {
				t.Fatal(err)
			}
			check(loadtest.Open(t, s))
		})
	}
}

// TestHeadsReadNoCheckpoint opens a lake with commits after a checkpoint: the checkpoint is read once, not again for
// Latest.
func TestHeadsReadNoCheckpoint(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	for n := range 52 {
		loadtest.Night(t, l, n, loadtest.Added(int64(n), 1, 'x'))
	}
	l = loadtest.Open(t, s)
	if err := s.Delete(t.Context(), lake.CheckpointKey(50)); err != nil {
		t.Fatal(err)
	}
	latest, err := l.Latest(t.Context(), testkit.Allocator(t))
	if err != nil || len(latest[loadtest.Feed]) != 52 {
		t.Errorf("%d latest, %v", len(latest[loadtest.Feed]), err)
	}
}

// TestCommitOrder checks the order of side effects: data, then the commit, then what is derived.
func TestCommitOrder(t *testing.T) {
	trace := &tracestore.Store{Store: new(memstore.Mem)}
	loadtest.Night(t, loadtest.Open(t, trace), 0, loadtest.Added(1, 1, 'a'))
	want := []string{
		"create history/deal_versions/mkt=IG/year=2026/run-20260302-0.parquet",
		"create _dealflow/commits/00000000000000000001.json",
		"replace _dealflow/latest.json",
	}
	got := trace.Lines()
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("call %d: got %s, want %s", i, got[i], want[i])
		}
	}
}

// TestConflict lets two runs start from the same state: one commits, the other gets ErrConflict.
func TestConflict(t *testing.T) {
	s := new(memstore.Mem)
	first, second := loadtest.Open(t, s), loadtest.Open(t, s)
	loadtest.Night(t, first, 0, loadtest.Added(1, 1, 'a'))
	run := loadtest.Begin(t, second, testkit.Allocator(t), loadtest.Start.AddDate(0, 0, 1))
	defer loadtest.Close(t, run)
	_, err := run.Commit(t.Context(), lake.Commit{Command: "run", KnownAt: lake.At(loadtest.Start.AddDate(0, 0, 1))})
	if !errors.Is(err, load.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	if l := loadtest.Open(t, s); l.Log().Number != 1 {
		t.Errorf("commit %d, want 1", l.Log().Number)
	}
}

// TestCommitBeingPut commits into a store that refuses because another writer is putting that commit, before its object
// can be read. The run waits until it knows who won.
func TestCommitBeingPut(t *testing.T) {
	for name, theirs := range map[string]bool{"theirs arrives": true, "theirs never does": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &early{Mem: new(memstore.Mem), refusals: 3}
				if theirs {
					s.theirs = []byte("of another run")
				}
				run := loadtest.Begin(t, loadtest.Open(t, s), testkit.Allocator(t), loadtest.Start)
				defer loadtest.Close(t, run)
				_, err := run.Commit(t.Context(), lake.Commit{Command: "run", KnownAt: lake.At(loadtest.Start)})
				if theirs != errors.Is(err, load.ErrConflict) || !theirs && err != nil {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// early refuses to create commits a number of times. After that the other writer's object exists, or never does.
type early struct {
	*memstore.Mem
	refusals int
	theirs   []byte
}

func (s *early) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if !strings.HasPrefix(key, lake.CommitsPrefix) || s.refusals == 0 {
		return s.Mem.Put(ctx, key, body, mode)
	}
	if s.refusals--; s.refusals == 0 && s.theirs != nil {
		if err := s.Mem.Put(ctx, key, bytes.NewReader(s.theirs), mode); err != nil {
			return err
		}
	}
	return fmt.Errorf("put %s: %w", key, store.ErrExists)
}

// TestKnownAtRises checks that a commit that is not later than the last one is refused.
func TestKnownAtRises(t *testing.T) {
	l := loadtest.Open(t, new(memstore.Mem))
	loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'))
	run := loadtest.Begin(t, l, testkit.Allocator(t), loadtest.Start.AddDate(0, 0, 1))
	defer loadtest.Close(t, run)
	if _, err := run.Commit(t.Context(), lake.Commit{Command: "run", KnownAt: lake.At(loadtest.Start)}); err == nil {
		t.Error("a commit at the instant of the last one was made")
	}
}

// TestDamagedLog checks that a log with a broken chain is refused.
func TestDamagedLog(t *testing.T) {
	s := new(memstore.Mem)
	l := loadtest.Open(t, s)
	first := loadtest.Night(t, l, 0, loadtest.Added(1, 1, 'a'))
	loadtest.Night(t, l, 1, loadtest.Added(2, 1, 'a'))
	first.Outcome = lake.OutcomePartial
	data, err := first.Encode()
	if err != nil {
		t.Fatal(err)
	}
	storetest.Overwrite(t, s, lake.CommitKey(1), data)
	if _, err := load.Open(t.Context(), s); err == nil || errors.Is(err, load.ErrNoLake) {
		t.Errorf("got %v, want damage", err)
	}
	storetest.Overwrite(t, s, lake.CommitKey(1), []byte(`{"format_version":3}`))
	var format *lake.FormatError
	if _, err := load.Open(t.Context(), s); !errors.As(err, &format) {
		t.Errorf("got %v, want a FormatError", err)
	}
}
