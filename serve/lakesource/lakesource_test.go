package lakesource_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dealflow/extract"
	"dealflow/internal/catalog"
	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/lakesource"
	"dealflow/serve/sim"
	"dealflow/serve/sourcetest"
)

func TestMain(m *testing.M) { world.Main(m) }

// marketURL is the base address from which every night is pulled. A lake contains its market's address, and a lake
// that is shared by several Worlds can contain only one. sameAddress connects to the server of the World at hand.
const marketURL = "http://127.0.0.1:1"

// served is a World whose lake is served as a market.
type served struct {
	*world.World
	deals  int // in each feed of the market
	nights int // in the lake
	source *lakesource.Source
	open   *atomic.Int32 // open catalogs
}

// newServed returns a World whose lake has one night.
func newServed(t testing.TB, deals int) *served {
	t.Helper()
	w := &served{World: newMarket(t, deals), deals: deals}
	w.copyNight(t)
	w.source, w.open = lakeMarket(t, w.Store)
	return w
}

// newMarket returns a World with a market and an empty lake.
func newMarket(t testing.TB, deals int) *world.World {
	t.Helper()
	quirks := sim.AwkwardQuirks()
	quirks.Undated = 0.3
	w := world.New(t, sim.Config{Seed: 3, Deals: deals, PerDay: 5, Quirks: &quirks})
	w.Pages, w.Attempts = 0, 0
	return w
}

// sameAddress makes a run of a World pull from marketURL.
func sameAddress(t testing.TB, w *world.World) world.Change {
	t.Helper()
	server := strings.TrimPrefix(w.URL, "http://")
	transport := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	base, err := api.ParseBase(marketURL)
	if err != nil {
		t.Fatal(err)
	}
	client, err := extract.New(extract.Config{Base: base, ClientID: "demo", ClientSecret: api.NewSecret("demo"), Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return func(c *pull.Config) { c.Client, c.Base = client, base }
}

// prepared has the lakes by the number of deals of their market: after the first night, after the second, and so on.
// Each night is pulled once per process, when a test first needs it.
var prepared struct {
	sync.Mutex
	lakes map[int][]*memstore.Mem
}

// preparedLake returns the lake after a number of nights, 1 or more. The caller must not change it.
func preparedLake(t testing.TB, deals, nights int) *memstore.Mem {
	t.Helper()
	prepared.Lock()
	defer prepared.Unlock()
	if prepared.lakes == nil {
		prepared.lakes = map[int][]*memstore.Mem{}
	}
	for n := len(prepared.lakes[deals]); n < nights; n++ {
		w := newMarket(t, deals)
		if n > 0 {
			storetest.Copy(t, prepared.lakes[deals][n-1], w.Store)
		}
		w.Night(t, n, sameAddress(t, w))
		prepared.lakes[deals] = append(prepared.lakes[deals], storetest.Clone(t, w.Store))
	}
	return prepared.lakes[deals][nights-1]
}

// copyNight makes the lake equal to the prepared lake after its next night. The lake must not be read during the call.
func (w *served) copyNight(t testing.TB) {
	t.Helper()
	w.nights++
	next := preparedLake(t, w.deals, w.nights)
	wanted := map[string]bool{}
	for _, key := range world.Keys(t, next) {
		wanted[key] = true
		storetest.Overwrite(t, w.Store, key, storetest.Bytes(t, next, key))
	}
	for _, key := range world.Keys(t, w.Store) {
		if !wanted[key] {
			storetest.Remove(t, w.Store, key)
		}
	}
}

// pullNight adds the next night to the lake by a run, during which the lake can be read.
func (w *served) pullNight(t testing.TB) {
	t.Helper()
	w.Night(t, w.nights, sameAddress(t, w.World))
	w.nights++
}

// lakeMarket serves a lake as a market until the test ends, and counts the catalogs that are open. The lake must have
// a commit.
func lakeMarket(t testing.TB, lake store.Store) (source *lakesource.Source, open *atomic.Int32) {
	t.Helper()
	dir := t.TempDir()
	open = new(atomic.Int32)
	newer := func(ctx context.Context, than int64) (*lakesource.Catalog, error) {
		l, err := load.Open(ctx, lake)
		if err != nil || l.Log().Number <= than {
			return nil, err
		}
		file, err := catalog.Open(ctx, l, dir, nil)
		if err != nil {
			return nil, err
		}
		db, done, err := file.Apart(ctx, dir)
		if err != nil {
			return nil, err
		}
		open.Add(1)
		return &lakesource.Catalog{DB: db, Close: func() error { open.Add(-1); return done() }}, file.Close()
	}
	source, err := lakesource.New(t.Context(), lakesource.Config{Newer: newer})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
		if n := open.Load(); n != 0 {
			t.Errorf("%d catalogs are still open", n)
		}
	})
	return source, open
}

// TestSource runs the tests that every serve.Source must pass.
func TestSource(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, sourcetest.Config{KeepsStates: true, New: func(t testing.TB) sourcetest.World {
		w := newServed(t, 15)
		return sourcetest.World{Source: w.source, Advance: w.copyNight}
	}})
}

var feed = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}

// TestLimits asks for states that do not exist, for a later state in the past, and for pages of a closed lake.
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
	w.copyNight(t)
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

// TestConcurrent reads a lake from several goroutines while a run adds a night to it.
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
	w.pullNight(t)
	close(stop)
	group.Wait()
	if page, err := w.source.List(t.Context(), serve.Query{Feed: feed, Limit: 1}); err != nil || len(page.Records) != 1 {
		t.Errorf("at the end: %v", err)
	}
	if n := w.open.Load(); n != 1 {
		t.Errorf("%d catalogs are open", n)
	}
}

// BenchmarkPage reads pages of a list of 3,000 deals, with its index in memory.
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
