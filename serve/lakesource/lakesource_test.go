package lakesource_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dealflow/internal/catalog"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/lakesource"
	"dealflow/serve/sim"
	"dealflow/serve/sourcetest"
	"dealflow/sql"
)

func TestMain(m *testing.M) { world.Main(m) }

// served is a World whose lake is served as a market.
type served struct {
	*world.World
	source *lakesource.Source
	open   atomic.Int32 // catalogs
}

// newServed returns a World after its first night.
func newServed(t testing.TB, deals int) *served {
	t.Helper()
	w := &served{World: world.New(t, sim.Config{Seed: 3, Deals: deals, PerDay: 5})}
	w.Pages, w.Attempts = 0, 0
	w.Night(t, 0)
	var err error
	if w.source, err = lakesource.New(t.Context(), lakesource.Config{Newer: w.newer(t.TempDir())}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.source.Close(); err != nil {
			t.Error(err)
		}
		if n := w.open.Load(); n != 0 {
			t.Errorf("%d catalogs are still open", n)
		}
	})
	return w
}

// newer opens the lake's catalog, and counts the open ones.
func (w *served) newer(dir string) func(context.Context, int64) (*lakesource.Catalog, error) {
	return func(ctx context.Context, than int64) (*lakesource.Catalog, error) {
		l, err := load.Open(ctx, w.Store)
		if err != nil || l.Log().Number <= than {
			return nil, err
		}
		file, err := catalog.Open(ctx, l, dir, nil)
		if err != nil {
			return nil, err
		}
		db, done, err := sql.OpenApart(ctx, file.Path, file.Root(), dir)
		if err != nil {
			return nil, err
		}
		w.open.Add(1)
		return &lakesource.Catalog{DB: db, Close: func() error { w.open.Add(-1); return done() }}, file.Close()
	}
}

// night executes a run, a day later.
func (w *served) night(t testing.TB) {
	t.Helper()
	w.Later(24 * time.Hour)
	if _, err := w.Run(t); err != nil {
		t.Fatal(err)
	}
}

// TestSource holds the lake to what every source promises.
func TestSource(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourcetest.Config{KeepsStates: true, New: func(t testing.TB) sourcetest.World {
		w := newServed(t, 15)
		return sourcetest.World{Source: w.source, Advance: w.night}
	}})
}

var feed = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}

// TestLimits asks for what is not there, and of a lake that is closed.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newServed(t, 15)
	if _, err := lakesource.New(t.Context(), lakesource.Config{}); err == nil {
		t.Error("a lake without a way to open it")
	}
	for _, state := range []string{"!", "zzzzzzzzzzzz"} {
		if _, err := w.source.List(t.Context(), serve.Query{Feed: feed, Limit: 1, State: state}); !errors.Is(err, serve.ErrNotFound) {
			t.Errorf("state %q: %v", state, err)
		}
	}
	present := w.source.Now()
	past, err := w.source.AsOf(t.Context(), present)
	if err != nil {
		t.Fatal(err)
	}
	w.night(t)
	page, err := w.source.List(t.Context(), serve.Query{Feed: feed, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := past.List(t.Context(), serve.Query{Feed: feed, Limit: 1, State: page.State}); !errors.Is(err, serve.ErrNotFound) {
		t.Errorf("a later state in the past: %v", err)
	}
	if !past.Now().Equal(present) || !w.source.Now().After(present) {
		t.Errorf("it was %s; the past says %s, the lake %s", present, past.Now(), w.source.Now())
	}
	if err := w.source.Close(); err != nil {
		t.Error(err)
	}
	if _, err := w.source.List(t.Context(), serve.Query{Feed: feed, Limit: 1}); err == nil {
		t.Error("a closed lake gives a list")
	}
}

// TestConcurrent asks from all sides while the lake grows.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	w := newServed(t, 15)
	var group sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				page, err := w.source.List(t.Context(), serve.Query{Feed: feed, Limit: 5})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := w.source.Get(t.Context(), feed, page.Records[0].ID); err != nil && !errors.Is(err, serve.ErrNotFound) {
					t.Error(err)
				}
				if w.source.Now().IsZero() {
					t.Error("no present")
				}
			}
		})
	}
	w.night(t)
	close(stop)
	group.Wait()
	if page, err := w.source.List(t.Context(), serve.Query{Feed: feed, Limit: 1}); err != nil || len(page.Records) != 1 {
		t.Errorf("at the end: %v", err)
	}
	if n := w.open.Load(); n != 1 {
		t.Errorf("%d catalogs are open", n)
	}
}

// BenchmarkPage reads pages of a list of 3,000 deals from warm.
func BenchmarkPage(b *testing.B) {
	w := newServed(b, 3000)
	for _, size := range []int{1, 100, 1000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			q, bytes := serve.Query{Feed: feed, Limit: size}, 0
			for b.Loop() {
				page, err := w.source.List(b.Context(), q)
				if err != nil {
					b.Fatal(err)
				}
				for _, r := range page.Records {
					bytes += len(r.Body)
				}
				last := page.Records[len(page.Records)-1]
				q.After, q.State = &serve.Position{UpdatedAt: last.UpdatedAt, ID: last.ID}, page.State
				if !page.More {
					q.After, q.State = nil, ""
				}
			}
			b.SetBytes(int64(bytes / b.N))
		})
	}
}
