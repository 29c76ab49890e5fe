package lakesource_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"dealflow/extract"
	"dealflow/internal/catalog"
	"dealflow/internal/pipeline"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/lakesource"
	"dealflow/serve/sim"
	"dealflow/serve/sourcetest"
	"dealflow/sql"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// world is a market, and a lake that is pulled from it and served.
type world struct {
	clock  *sim.ManualClock
	url    string
	store  store.Store
	source *lakesource.Source
	open   atomic.Int32 // catalogs
}

// newWorld has one night behind it.
func newWorld(t testing.TB, deals int) *world {
	t.Helper()
	w := &world{clock: sim.NewManualClock(epoch.Add(22 * time.Hour))}
	market := sim.New(sim.Config{Seed: 3, Deals: deals, PerDay: 5, Epoch: epoch, Clock: w.clock.Now})
	server, err := serve.New(serve.Config{Source: market})
	if err != nil {
		t.Fatal(err)
	}
	http := httptest.NewServer(server.Handler())
	t.Cleanup(http.Close)
	w.url = http.URL
	if w.store, err = dirstore.New(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	w.pull(t)
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

// newer opens the lake's catalog, and counts what is open.
func (w *world) newer(dir string) func(context.Context, int64) (*lakesource.Catalog, error) {
	return func(ctx context.Context, than int64) (*lakesource.Catalog, error) {
		l, err := load.Open(ctx, w.store)
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

// pull brings the market as it is into the lake.
func (w *world) pull(t testing.TB) {
	t.Helper()
	base, err := api.ParseBase(w.url)
	if err != nil {
		t.Fatal(err)
	}
	client, err := extract.New(extract.Config{Base: base, ClientID: "demo", ClientSecret: api.NewSecret("demo")})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = pipeline.Run(context.WithoutCancel(t.Context()), pipeline.Config{
		Client: client, Base: base, Store: w.store, RunID: uuid.Must(uuid.NewV7()).String(),
		Clock: w.clock.Now, ServerClock: true, WorkDir: t.TempDir(), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
}

// night is pull, a day later.
func (w *world) night(t testing.TB) {
	t.Helper()
	w.clock.Advance(24 * time.Hour)
	w.pull(t)
}

// TestSource holds the lake to what every source promises.
func TestSource(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourcetest.Config{KeepsStates: true, New: func(t testing.TB) sourcetest.World {
		w := newWorld(t, 15)
		return sourcetest.World{Source: w.source, Advance: w.night}
	}})
}

var feed = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}

// TestLimits asks for what is not there, and of a lake that is closed.
func TestLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 15)
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
	w := newWorld(t, 15)
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
	w := newWorld(b, 3000)
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
