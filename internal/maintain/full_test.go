package maintain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/schemas/lake"
)

// fullStore is a store on a full disk: nothing can be put until something was deleted.
type fullStore struct {
	store.Store
	full atomic.Bool
	puts atomic.Int64
}

func (s *fullStore) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	s.puts.Add(1)
	if s.full.Load() {
		return fmt.Errorf("put %s: %w", key, syscall.ENOSPC)
	}
	return s.Store.Put(ctx, key, body, mode)
}

func (s *fullStore) Delete(ctx context.Context, keys ...string) error {
	if slices.ContainsFunc(keys, func(key string) bool { return !strings.HasPrefix(key, "_dealflow/") }) {
		s.full.Store(false)
	}
	return s.Store.Delete(ctx, keys...)
}

// TestFullDisk has a lake on a full disk with snapshots to drop and with garbage. Garbage can be deleted without one
// put, and `expire --apply` makes room by itself before it drops snapshots.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w, b, dated := datedWorld(t)
	b.WriteAll(world.Expected, 1, 3, "")
	for day := range 4 {
		w.Night(t, day, world.Feeds(world.Expected), world.Quiet)
	}
	w.MustExpire(t, maintain.Retention{Days: 3}, true) // drops the first day; its files wait for their grace
	w.Later(load.Grace + 1)
	w.Night(t, 12, world.Feeds(world.Expected), world.Quiet)
	const oldest = "/day=2026-01-05/"
	keep := maintain.Retention{Days: 1}
	for _, garbageOnly := range []bool{true, false} {
		t.Run(fmt.Sprintf("garbage only: %t", garbageOnly), func(t *testing.T) {
			s := &fullStore{Store: dated.Copy(t)}
			s.full.Store(true)
			before := w.WithStore(s).Log(t).Number
			cfg := maintain.ExpireConfig{Config: w.Upkeep(t, func(c *maintain.Config) { c.Store, c.NoCatalog = s, true }), Keep: keep, Apply: true, GarbageOnly: garbageOnly}
			result, err := maintain.Expire(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if result.Garbage.Files == 0 || result.Garbage.Bytes == 0 {
				t.Errorf("got %+v, want garbage deleted", result)
			}
			if slices.ContainsFunc(world.Keys(t, s), func(key string) bool { return strings.Contains(key, oldest) }) {
				t.Errorf("files of %s are left", oldest)
			}
			number := w.WithStore(s).Log(t).Number
			switch {
			case garbageOnly && (s.puts.Load() != 0 || number != before || result.Outcome != lake.OutcomeDone || len(result.Expired) != 0):
				t.Errorf("%d puts, commit %d after %d, %+v; want no put, no commit, outcome done", s.puts.Load(), number, before, result)
			case !garbageOnly && (result.Commit != before+1 || number != before+1 || len(result.Warnings) != 1 || len(result.Expired) != 1):
				t.Errorf("commit %d after %d, %+v; want one commit and a warning", number, before, result)
			}
			world.WantSound(t, s)
		})
	}
	t.Run("a day to take back", func(t *testing.T) {
		s := &fullStore{Store: dated.Copy(t)}
		s.full.Store(true)
		cfg := maintain.ExpireConfig{Config: w.Upkeep(t, func(c *maintain.Config) { c.Store, c.NoCatalog = s, true }), DropDay: "2026-01-17", Apply: true}
		if result, err := maintain.Expire(t.Context(), cfg); err != nil || result.Commit == 0 || result.Garbage.Files == 0 {
			t.Errorf("got %+v, %v; want garbage deleted, and a commit that takes the day back", result, err)
		}
		world.WantSound(t, s)
	})
	t.Run("no garbage", func(t *testing.T) {
		s := &fullStore{Store: dated.Copy(t)}
		first := maintain.ExpireConfig{Config: w.Upkeep(t, func(c *maintain.Config) { c.Store, c.NoCatalog = s, true }), Keep: keep, Apply: true, GarbageOnly: true}
		if _, err := maintain.Expire(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		s.full.Store(true)
		first.GarbageOnly = false
		if _, err := maintain.Expire(t.Context(), first); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "catalog.duckdb") {
			t.Errorf("got %v, want that the disk is full, and what to delete by hand", err)
		}
	})
	t.Run("garbage is young", func(t *testing.T) {
		s := &fullStore{Store: dated.Copy(t)}
		if err := s.Put(t.Context(), "history/young.parquet", strings.NewReader("x"), store.CreateOnly); err != nil {
			t.Fatal(err)
		}
		cfg := maintain.ExpireConfig{Config: w.Upkeep(t, func(c *maintain.Config) { c.Store = s }), Keep: keep, Apply: true, GarbageOnly: true}
		if result, err := maintain.Expire(t.Context(), cfg); err != nil || result.Waiting.Files != 1 {
			t.Errorf("got %+v, %v; want one file that waits", result, err)
		}
	})
}

// TestGarbageOfANewerProgram checks that garbage is listed, but not deleted, in a lake in which a newer program keeps files for what
// this one does not know.
func TestGarbageOfANewerProgram(t *testing.T) {
	t.Parallel()
	w, b, dated := datedWorld(t)
	b.WriteAll(world.Expected, 1, 3, "")
	for day := range 2 {
		w.Night(t, day, world.Feeds(world.Expected), world.Quiet)
	}
	w.MustExpire(t, maintain.Retention{Days: 1}, true) // its files are garbage in a week
	w.Later(load.Grace + 1)
	log := w.Log(t)
	newer := lake.Commit{
		FormatVersion: lake.FormatVersion, Number: log.Number + 1, PreviousSHA256: log.SHA256, KnownAt: log.KnownAt.Next(), RunID: "newer", DealflowVersion: "9.8.7",
		Command: "compact", Remove: []string{}, Outcome: lake.OutcomeDone, Needs: lake.Needs{RequiresToWrite: []string{"other-tables"}},
	}
	data, err := newer.Encode()
	if err == nil {
		err = dated.Put(t.Context(), lake.CommitKey(newer.Number), bytes.NewReader(data), store.CreateOnly)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := world.Keys(t, dated)
	for _, apply := range []bool{false, true} {
		cfg := maintain.ExpireConfig{Config: w.Upkeep(t, func(c *maintain.Config) { c.NoCatalog = true }), Keep: maintain.Retention{Days: 1}, Apply: apply, GarbageOnly: true}
		result, err := maintain.Expire(t.Context(), cfg)
		var needs *lake.NeedsError
		switch {
		case apply && (!errors.As(err, &needs) || !strings.Contains(err.Error(), "9.8.7")):
			t.Errorf("got %v, want that the lake needs program 9.8.7", err)
		case !apply && (err != nil || result.Garbage.Files == 0):
			t.Errorf("got %+v, %v; want garbage listed", result, err)
		}
	}
	if after := world.Keys(t, dated); !slices.Equal(before, after) {
		t.Errorf("%d objects are left of %d", len(after), len(before))
	}
}
