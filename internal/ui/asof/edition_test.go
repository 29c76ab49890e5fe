package asof

import (
	"context"
	stdsql "database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"dealflow/load"
	"dealflow/schemas/lake"
)

// nights is a lake of that many commits without data. Its editions have a folder, as those of the program.
type nights struct {
	folder string
	cut    func(ctx context.Context, commit int64) error // what happens while a cut is made
	open   int                                           // editions that are open
}

func (n *nights) edition(commits int) *Edition {
	log := &load.Log{}
	for i := range commits {
		at := lake.At(time.Date(2026, 1, 5+i, 22, 0, 0, 0, time.UTC))
		log.Commits = append(log.Commits, lake.Commit{Number: int64(i + 1), KnownAt: at})
		log.Number, log.KnownAt = int64(i+1), at
	}
	n.open++
	return &Edition{
		Log: log, Path: filepath.Join(n.folder, "catalog.duckdb"),
		Fetch: func(context.Context, string) error { return nil },
		Close: func() error { n.open--; return nil },
		Cut: func(ctx context.Context, path string, shown lake.NamedCommit) error {
			if err := n.cut(ctx, shown.Number); err != nil {
				return err
			}
			return os.WriteFile(path, nil, 0o600)
		},
	}
}

func newNights(t *testing.T) *nights {
	t.Helper()
	n := &nights{folder: t.TempDir(), cut: func(context.Context, int64) error { return nil }}
	if err := os.WriteFile(filepath.Join(n.folder, "catalog.duckdb"), []byte("large"), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

// newest is the commit of an unpinned view.
func newest(t *testing.T, l *Lake) int64 {
	t.Helper()
	v, err := l.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Release(); err != nil {
		t.Fatal(err)
	}
	return v.Commit().Number
}

// TestFollowAside has a newer catalog that takes long to open: readers get the older one until it is open. A reader
// who goes does not end the opening, and Close does.
func TestFollowAside(t *testing.T) {
	n, now := newNights(t), new(atomic.Int64)
	begun, opened := make(chan context.Context), make(chan int)
	l, err := Open(t.Context(), Config{
		Every: time.Second, Clock: func() time.Time { return time.Unix(now.Load(), 0) },
		Newer: func(ctx context.Context, than int64) (*Edition, error) {
			if than < 0 {
				return n.edition(1), nil
			}
			begun <- ctx
			select {
			case commits := <-opened:
				return n.edition(commits), nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	l.patience = 0
	if got := newest(t, l); got != 1 {
		t.Errorf("before the time to look: commit %d", got)
	}
	now.Add(1)
	gone, leave := context.WithCancel(t.Context())
	v, err := l.Newest(gone)
	if err != nil || v.Commit().Number != 1 {
		t.Fatalf("while a newer one is opened: %v, %v", v, err)
	}
	ctx := <-begun
	leave()
	if got := newest(t, l); got != 1 || ctx.Err() != nil {
		t.Errorf("while a newer one is opened, and its reader has gone: commit %d, %v", got, ctx.Err())
	}
	opened <- 2
	l.background.Wait() // else the older one may still be in use, or no look for a newer one begin
	if got := newest(t, l); got != 2 {
		t.Errorf("after the newer one is opened: commit %d", got)
	}
	if n.open != 2 {
		t.Errorf("%d editions are open, want the newest and that of a view", n.open)
	}
	if err := v.Release(); err != nil || n.open != 1 {
		t.Errorf("after the view of the older one: %d editions are open, %v", n.open, err)
	}
	now.Add(1)
	if got := newest(t, l); got != 2 {
		t.Errorf("commit %d", got)
	}
	ctx = <-begun
	if err := l.Close(); err != nil || n.open != 0 || ctx.Err() == nil {
		t.Errorf("after Close %d editions are open, %v", n.open, err)
	}
	if _, err := l.Newest(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestLargeCatalogIsCutAside cuts large catalogs: readers are told to come again, and one cut is made at a time; a failure is told
// once. Four cuts stay, besides those in use. Close ends what is being made.
func TestLargeCatalogIsCutAside(t *testing.T) {
	n, going, begun := newNights(t), make(chan error), make(chan int64)
	var running atomic.Int64
	n.cut = func(ctx context.Context, commit int64) error {
		defer running.Add(-1)
		if running.Add(1) > 1 {
			t.Errorf("the cut at commit %d is made at the same time as another", commit)
		}
		begun <- commit
		select {
		case err := <-going:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	l, err := Open(t.Context(), Config{
		Clock: time.Now, LargeCatalog: 5,
		Newer: func(_ context.Context, than int64) (*Edition, error) {
			if than > 0 {
				return nil, nil
			}
			return n.edition(9), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(commit int) (string, error) {
		at, err := l.Resolve(fmt.Sprintf("commit-%d", commit))
		if err != nil {
			t.Fatal(err)
		}
		v, err := l.At(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		c, done, err := v.Catalog(t.Context(), "")
		if err == nil {
			done()
		}
		if err := v.Release(); err != nil {
			t.Fatal(err)
		}
		return filepath.Base(c.Path), err
	}
	wait := func(commit int) (path string, err error) {
		for err = ErrCutting; errors.Is(err, ErrCutting); {
			path, err = ask(commit)
		}
		return path, err
	}
	begin := func(commit int) { // the cut before may be about to end
		for {
			if _, err := ask(commit); !errors.Is(err, ErrCutting) {
				t.Errorf("commit %d, at first: %v", commit, err)
			}
			select {
			case made := <-begun:
				if made != int64(commit) {
					t.Errorf("the cut at commit %d is made, want %d", made, commit)
				}
				return
			default:
			}
		}
	}
	begin(3)
	for _, commit := range []int{3, 4} {
		if _, err := ask(commit); !errors.Is(err, ErrCutting) {
			t.Errorf("commit %d, while another cut is made: %v", commit, err)
		}
	}
	if path, err := ask(9); path != "catalog.duckdb" || err != nil {
		t.Errorf("the newest commit: %s, %v", path, err)
	}
	going <- nil
	if path, err := wait(3); path != "cut-3.duckdb" || err != nil {
		t.Errorf("then: %s, %v", path, err)
	}
	begin(4)
	if path, err := ask(3); path != "cut-3.duckdb" || err != nil {
		t.Errorf("one that is made, while another cut is made: %s, %v", path, err)
	}
	full := errors.New("the disk is full")
	going <- full
	if _, err := wait(4); !errors.Is(err, full) {
		t.Errorf("a failure: %v", err)
	}
	for _, commit := range []int{4, 5, 6, 7} {
		begin(commit)
		going <- nil
		if _, err := wait(commit); err != nil {
			t.Errorf("commit %d: %v", commit, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(n.folder, "cut-*"))
	if err != nil || len(left) != 4 || filepath.Base(left[0]) != "cut-4.duckdb" {
		t.Errorf("the files %v are left, want the last four (%v)", left, err)
	}
	begin(8)
	if err := l.Close(); err != nil || n.open != 0 {
		t.Errorf("Close, while a cut is made: %d editions are open, %v", n.open, err)
	}
}

// TestOpened has a function for what is opened: it gets each edition once, as of its newest commit, and the edition stays open until the
// function returns. Close ends it.
func TestOpened(t *testing.T) {
	n, now := newNights(t), new(atomic.Int64)
	asked := make(chan int64)
	l, err := Open(t.Context(), Config{
		Every: time.Second, Clock: func() time.Time { return time.Unix(now.Load(), 0) },
		Newer: func(_ context.Context, than int64) (*Edition, error) { return n.edition(int(max(than, 0)) + 1), nil },
		Opened: func(ctx context.Context, v *View) {
			asked <- v.Commit().Number
			<-ctx.Done()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != 1 {
		t.Errorf("commit %d is asked first", got)
	}
	now.Add(1)
	l.patience = time.Hour
	if got := newest(t, l); got != 2 || n.open != 2 {
		t.Errorf("commit %d, %d editions are open; want the newest and the one that is being asked", got, n.open)
	}
	if got := <-asked; got != 2 {
		t.Errorf("commit %d is asked second", got)
	}
	if err := l.Close(); err != nil || n.open != 0 {
		t.Errorf("Close, while two editions are asked: %d editions are open, %v", n.open, err)
	}
}

// TestBrokenEngine has an engine that answers nothing more, as DuckDB after a fault in itself: the next view is of the same commit, opened
// again, before it is time to look for a newer one. A statement that fails by itself is no reason.
func TestBrokenEngine(t *testing.T) {
	n := newNights(t)
	var engines []*stdsql.DB
	l, err := Open(t.Context(), Config{
		Every: time.Hour, Clock: time.Now,
		Newer: func(_ context.Context, than int64) (*Edition, error) {
			if than > 0 {
				return nil, nil
			}
			db, err := stdsql.Open("duckdb", "")
			engines = append(engines, db)
			e := n.edition(1)
			e.DB, e.Close = db, db.Close
			return e, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func() error {
		v, err := l.Newest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, err = v.Ask(t.Context(), Query{Name: "aliases"})
		return errors.Join(err, v.Release())
	}
	for range 2 {
		if err := ask(); err == nil || errors.Is(err, ErrBroken) || len(engines) != 1 {
			t.Fatalf("a catalog without tables: %v, %d engines", err, len(engines))
		}
	}
	if err := engines[0].Close(); err != nil {
		t.Fatal(err)
	}
	if err := ask(); !errors.Is(err, ErrBroken) {
		t.Errorf("an engine that answers nothing: %v", err)
	}
	if err := ask(); err == nil || errors.Is(err, ErrBroken) || len(engines) != 2 {
		t.Errorf("after that: %v, %d engines", err, len(engines))
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
