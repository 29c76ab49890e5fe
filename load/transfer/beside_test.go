package transfer_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/storetest"
	"dealflow/load/transfer"
	"dealflow/schemas/lake"
)

// putHook is a store that calls before or after, once, around the first put under a prefix.
type putHook struct {
	store.Store
	prefix        string
	before, after func()
	once          sync.Once
}

func (s *putHook) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if !strings.HasPrefix(key, s.prefix) {
		return s.Store.Put(ctx, key, body, mode)
	}
	var err error
	isFirst := false
	s.once.Do(func() {
		isFirst = true
		if s.before != nil {
			s.before()
		}
		err = s.Store.Put(ctx, key, body, mode)
		if s.after != nil {
			s.after()
		}
	})
	if isFirst {
		return err
	}
	return s.Store.Put(ctx, key, body, mode)
}

// standby has a lake with three commits more than its copy. Files of the first two of these are gone, so a copy puts its commits from the last to
// the first.
func standby(t *testing.T) (p pair, copied store.Store) {
	t.Helper()
	w, b := world.NewBook(t)
	w.Store, copied = memory("source"), memory("standby")
	b.WriteAll(world.Priced, 1, 5, "")
	w.Night(t, 0, world.Feeds(world.Priced), world.Quiet)
	copyTo(t, w.Store, copied)
	for id := range int64(3) { // the same day again and again: its snapshots are replaced
		b.Write(world.Priced, id+1, `"message":"x"`)
		w.Later(time.Hour)
		w.MustRun(t, world.Feeds(world.Priced), world.Quiet)
	}
	live := w.Log(t)
	for _, key := range world.Keys(t, w.Store) {
		isData := slices.ContainsFunc(lake.DataPrefixes(), func(prefix string) bool { return strings.HasPrefix(key, prefix) })
		if isData && !live.Live(key) {
			storetest.Remove(t, w.Store, key)
		}
	}
	w.Later(time.Hour)
	return pair{w}, copied
}

// pair is a lake and its copy.
type pair struct{ *world.World }

func (p pair) lakeIn(t *testing.T, s store.Store) *load.Lake {
	t.Helper()
	l, err := load.Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// wantWorks checks that a later run succeeds on a copy, which is then a lake of its own.
func (p pair) wantWorks(t *testing.T, copied store.Store) {
	t.Helper()
	p.Later(24 * time.Hour)
	cfg := p.Config(t, world.Feeds(world.Priced), world.Quiet)
	cfg.Store = copied
	if _, err := pull.Run(t.Context(), cfg); err != nil {
		t.Errorf("a later run: %v", err)
	}
	if _, err := transfer.Copy(t.Context(), transfer.Config{From: p.Store, To: copied, Memory: testkit.Allocator(t), Clock: p.Clock.Now}); !errors.Is(err, transfer.ErrOwnCommits) {
		t.Errorf("a later copy: got %v, want ErrOwnCommits", err)
	}
	world.WantSound(t, copied)
}

// TestRunBesideCopy lets a run begin on a standby lake while the copy that continues it adds its commits. One of the two gives way, and the log
// stays whole.
func TestRunBesideCopy(t *testing.T) {
	t.Parallel()
	t.Run("the run came first", func(t *testing.T) {
		t.Parallel()
		w, to := standby(t)
		var refused error
		cfg := w.Config(t, world.Feeds(world.Priced), world.Quiet)
		cfg.Store = &putHook{Store: to, prefix: lake.CommitsPrefix, before: func() {
			_, refused = transfer.Copy(t.Context(), transfer.Config{From: w.Store, To: to, Memory: testkit.Allocator(t), Clock: w.Clock.Now})
		}}
		_, err := pull.Run(t.Context(), cfg)
		if refused == nil || !strings.Contains(refused.Error(), "is at work on the new lake") {
			t.Errorf("the copy: got %v, want it to be refused because of the run", refused)
		}
		if _, opened := load.Open(t.Context(), to); err != nil || opened != nil {
			t.Errorf("the run: %v; the lake: %v", err, opened)
		}
		w.wantWorks(t, to)
	})
	t.Run("the run began while the copy was marked", func(t *testing.T) {
		t.Parallel()
		w, to := standby(t)
		before := storetest.Bytes(t, to, lake.BegunKey)
		marked := &putHook{Store: to, prefix: lake.BegunKey, after: func() { // the run has looked before, and writes its lease now
			lease := load.Lease{Owner: "test", RunID: "test", Command: lake.CommandRun, ExpiresAt: lake.At(w.Clock.Now().Add(time.Minute))}
			if err := w.lakeIn(t, to).TakeLease(t.Context(), lease); err != nil {
				t.Error(err)
			}
		}}
		_, err := transfer.Copy(t.Context(), transfer.Config{From: w.Store, To: marked, Memory: testkit.Allocator(t), Clock: w.Clock.Now})
		if err == nil || !strings.Contains(err.Error(), "run (run test of test) is at work on the new lake") {
			t.Errorf("the copy: got %v, want it to be refused because of the run", err)
		}
		if after := storetest.Bytes(t, to, lake.BegunKey); string(after) != string(before) {
			t.Errorf("the mark is %s, want that of before: %s", after, before)
		}
		storetest.Remove(t, to, lake.LeaseKey)
		w.wantWorks(t, to)
	})
	t.Run("the copy came first", func(t *testing.T) {
		t.Parallel()
		w, to := standby(t)
		begun, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		cfg := w.Config(t, world.Feeds(world.Priced), world.Quiet)
		cfg.Store = &putHook{Store: to, prefix: lake.LeaseKey, before: func() { // the run has looked whether a copy has begun
			into := &putHook{Store: to, prefix: lake.CommitsPrefix, after: func() { close(begun); <-goOn }}
			go func() {
				_, err := transfer.Copy(t.Context(), transfer.Config{From: w.Store, To: into, Memory: testkit.Allocator(t), Clock: w.Clock.Now})
				ended <- err
			}()
			select {
			case <-begun:
			case err := <-ended:
				t.Errorf("the copy ended: %v", err)
			}
		}}
		_, err := pull.Run(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), "has not finished") || errors.Is(err, load.ErrConflict) {
			t.Errorf("the run: got %v, want it to be refused because of the copy", err)
		}
		close(goOn)
		if err := <-ended; err != nil {
			t.Errorf("the copy: %v", err)
		}
		if l, err := load.Open(t.Context(), to); err != nil || l.Log().Number != w.Log(t).Number {
			t.Errorf("the copied lake: %v", err)
		}
	})
}
