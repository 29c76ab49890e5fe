package lakesource_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"dealflow/extract"
	"dealflow/internal/pipeline"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/lakesource"
	"dealflow/serve/sim"
	"dealflow/serve/sourcetest"
	"dealflow/sql"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// marketURL is where every market says that it is. A client dials the server of its own world there, so that
// the worlds can share prepared lakes, which contain the address.
const marketURL = "http://127.0.0.1:1"

// world is a market, and a lake that is pulled from it and served.
type world struct {
	deals  int // of the market, in each feed
	nights int // that the lake has
	store  store.Store
	source *lakesource.Source
	open   atomic.Int32 // catalogs
}

// newWorld returns a world whose lake has one night.
func newWorld(t testing.TB, deals int) *world {
	t.Helper()
	w := &world{deals: deals, store: folder(t)}
	w.night(t)
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

func folder(t testing.TB) store.Store {
	t.Helper()
	s, err := dirstore.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newer opens the lake's catalog, and counts what is open.
func (w *world) newer(dir string) func(context.Context, int64) (*lakesource.Catalog, error) {
	return func(ctx context.Context, than int64) (*lakesource.Catalog, error) {
		l, err := load.Open(ctx, w.store)
		if err != nil || l.Log().Number <= than {
			return nil, err
		}
		file, err := pipeline.OpenCatalog(ctx, l, dir, nil)
		if err != nil {
			return nil, err
		}
		db, done, err := sql.OpenApart(ctx, file.Path, file.Root, dir)
		if err != nil {
			return nil, err
		}
		w.open.Add(1)
		return &lakesource.Catalog{DB: db, Close: func() error { w.open.Add(-1); return done() }}, file.Close()
	}
}

// pull adds the next night to the lake, as a run does.
func (w *world) pull(t testing.TB) {
	t.Helper()
	pull(t, w.store, w.deals, w.nights)
	w.nights++
}

// pull runs into a lake that has some nights.
func pull(t testing.TB, into store.Store, deals, nights int) {
	t.Helper()
	clock := sim.NewManualClock(epoch.AddDate(0, 0, nights).Add(22 * time.Hour))
	server, err := serve.New(serve.Config{Source: sim.New(sim.Config{Seed: 3, Deals: deals, PerDay: 5, Epoch: epoch, Clock: clock.Now})})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server.Handler())
	defer front.Close()
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, front.Listener.Addr().String())
	}}
	defer transport.CloseIdleConnections()
	base, err := api.ParseBase(marketURL)
	if err != nil {
		t.Fatal(err)
	}
	client, err := extract.New(extract.Config{Base: base, ClientID: "demo", ClientSecret: api.NewSecret("demo"), Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = pipeline.Run(context.WithoutCancel(t.Context()), pipeline.Config{
		Client: client, Base: base, Store: into, RunID: uuid.Must(uuid.NewV7()).String(),
		Clock: clock.Now, ServerClock: true, WorkDir: t.TempDir(), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
}

// prepared are lakes by the deals of their market: each as it was after its first night, its second, and so on.
// They are pulled once in a process, as far as its tests ask for them.
var prepared struct {
	sync.Mutex
	lakes map[int][]*memstore.Mem
}

// after returns the lake after some nights. It must not be changed.
func after(t testing.TB, deals, nights int) *memstore.Mem {
	t.Helper()
	prepared.Lock()
	defer prepared.Unlock()
	if prepared.lakes == nil {
		prepared.lakes = map[int][]*memstore.Mem{}
	}
	for n := len(prepared.lakes[deals]); n < nights; n++ {
		lake, kept := folder(t), new(memstore.Mem)
		if n > 0 {
			storetest.Copy(t, prepared.lakes[deals][n-1], lake)
		}
		pull(t, lake, deals, n)
		storetest.Copy(t, lake, kept)
		prepared.lakes[deals] = append(prepared.lakes[deals], kept)
	}
	return prepared.lakes[deals][nights-1]
}

// night adds the next night of the prepared lake, object by object. While it does, the lake must not be read.
func (w *world) night(t testing.TB) {
	t.Helper()
	w.nights++
	next := after(t, w.deals, w.nights)
	keys := map[string]bool{}
	for object, err := range next.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys[object.Key] = true
		if err := w.store.Put(t.Context(), object.Key, bytes.NewReader(storetest.Bytes(t, next, object.Key)), store.Replace); err != nil {
			t.Fatal(err)
		}
	}
	for object, err := range w.store.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if !keys[object.Key] {
			if err := w.store.Delete(t.Context(), object.Key); err != nil {
				t.Fatal(err)
			}
		}
	}
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

// TestConcurrent asks from all sides while a run adds to the lake.
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
	w.pull(t)
	close(stop)
	group.Wait()
	if page, err := w.source.List(t.Context(), serve.Query{Feed: feed, Limit: 1}); err != nil || len(page.Records) != 1 {
		t.Errorf("at the end: %v", err)
	}
	if n := w.open.Load(); n != 1 {
		t.Errorf("%d catalogs are open", n)
	}
}

// BenchmarkPage reads pages of a list of 3,000 deals from warm; under -short, of 30.
func BenchmarkPage(b *testing.B) {
	deals := 3000
	if testing.Short() {
		deals = 30
	}
	w := newWorld(b, deals)
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
