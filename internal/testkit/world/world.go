package world

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"dealflow/extract"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/dirstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// Main runs a package's tests and fails when they leave a goroutine. It is the body of TestMain.
func Main(m *testing.M) { goleak.VerifyTestMain(m) }

// Epoch is the midnight, in UTC, at which the clock of a World begins.
var Epoch = time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)

// World is a market, served over HTTP, and a lake that is filled from it. Its clock is the market's, the
// server's and that of the commands; it does not move during a command, unless the test moves it.
//
// A test may change the fields between commands. Commands of one World can run at the same time.
type World struct {
	Clock    *sim.ManualClock
	Market   *sim.Market // nil if the market is a Book
	URL      string      // base address of the API, from which commands pull
	Root     string      // folder of the lake; of no use once Store is replaced
	Store    store.Store // the lake
	Pages    int         // deals per page that the client asks for; 0: the client's default
	Attempts int         // attempts of the client per request; 0: the client's default
	Requests int64       // most requests of a command for feeds; 0: no limit
	Stretch  int         // as in pull.Config; a few deals, so that of a small market some stretches change and others do not
	meddle   atomic.Pointer[Meddler]
	empty    store.Store  // in which the first command finds nothing; nil for a lake of another World
	commands atomic.Int64 // that have an id
}

// firstID is the id of each World's first command. A lake is identified by its first commit, so the lakes of most Worlds are
// one to a catalog, and the process binds their macros once.
const firstID = "019b902c-9700-7000-8000-000000000001"

// Alone gives the lake an identity of its own, before its first commit: of two lakes in one session of a reader, each must
// have one. It returns w.
func (w *World) Alone() *World {
	w.empty = nil
	return w
}

// isEmpty says whether the lake has no commit. (A test may have filled the folder.)
func (w *World) isEmpty() bool {
	_, err := store.Read(context.Background(), w.Store, lake.CommitKey(1))
	return errors.Is(err, store.ErrNotFound)
}

// runID returns the id of the next command.
func (w *World) runID() string {
	if w.commands.Add(1) == 1 && w.Store == w.empty && w.isEmpty() {
		return firstID
	}
	return uuid.Must(uuid.NewV7()).String()
}

// New returns a World with a simulated market and an empty lake in a folder. Epoch and Clock of the
// configuration are replaced by those of the World, and without Quirks the market has sim.AwkwardQuirks.
func New(t testing.TB, config sim.Config) *World {
	t.Helper()
	clock := sim.NewManualClock(Epoch)
	config.Epoch, config.Clock = Epoch, clock.Now
	if config.Quirks == nil {
		quirks := sim.AwkwardQuirks()
		config.Quirks = &quirks
	}
	market := sim.New(config)
	w := Of(t, clock, market)
	w.Market = market
	return w
}

// Of returns a World with a market of the test's own, which goes by the clock.
func Of(t testing.TB, clock *sim.ManualClock, source serve.Source) *World {
	t.Helper()
	w := &World{Clock: clock, Root: filepath.Join(t.TempDir(), "lake"), Pages: 25, Attempts: 2}
	w.Store = Folder(t, w.Root)
	w.empty = w.Store
	api := handler(t, serve.Config{Source: source})
	w.Serve(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if meddle := w.meddle.Load(); meddle == nil || !(*meddle)(out, r) {
			api.ServeHTTP(out, r)
		}
	}))
	return w
}

// WithStore returns a World with the same market, clock and address, and another lake. It has no Root.
func (w *World) WithStore(s store.Store) *World {
	return &World{Clock: w.Clock, Market: w.Market, URL: w.URL, Store: s, Pages: w.Pages, Attempts: w.Attempts}
}

// Folder opens a folder as a store.
func Folder(t testing.TB, root string) store.Store {
	t.Helper()
	s, err := dirstore.New(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Serve puts a handler at an address of its own until the test ends. Commands pull from there from now on.
// It is not reached by Interfere.
func (w *World) Serve(t testing.TB, handler http.Handler) {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w.URL = server.URL
}

// ServeAgain serves a market at a new address, as Serve does: such as the World's own, with faults.
func (w *World) ServeAgain(t testing.TB, config serve.Config) {
	t.Helper()
	w.Serve(t, handler(t, config))
}

func handler(t testing.TB, config serve.Config) http.Handler {
	t.Helper()
	server, err := serve.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return server.Handler()
}

// Meddler answers a request in place of the server, or returns false.
type Meddler func(http.ResponseWriter, *http.Request) bool

// Interfere has each later request shown to a Meddler first; nil ends that. It may be called during a
// command.
func (w *World) Interfere(m Meddler) {
	if m == nil {
		w.meddle.Store(nil)
		return
	}
	w.meddle.Store(&m)
}

// Refuse answers all requests for paths with a prefix with a status.
func Refuse(status int, prefix string) Meddler {
	return func(out http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, prefix) {
			return false
		}
		out.WriteHeader(status)
		return true
	}
}

// Client returns a client of this World's API and the API's base address. The client waits only
// milliseconds before it tries again, and is closed when the test ends.
func (w *World) Client(t testing.TB, secret string) (*extract.Client, api.Base) {
	t.Helper()
	base, err := api.ParseBase(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	client, err := extract.New(extract.Config{
		Base: base, ClientID: "demo", ClientSecret: api.NewSecret(secret), PageSize: w.Pages,
		MaxAttempts: w.Attempts, MaxRequests: w.Requests, Backoff: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, base
}

// Evening sets the clock to 22:00 of the day that is a number of days after the Epoch.
func (w *World) Evening(day int) { w.Clock.Set(Epoch.AddDate(0, 0, day).Add(22 * time.Hour)) }

// Later moves the clock forward.
func (w *World) Later(d time.Duration) { w.Clock.Set(w.Clock.Now().Add(d)) }

// Log reads the lake's log from the store. Without a lake the log is empty.
func (w *World) Log(t testing.TB) *load.Log {
	t.Helper()
	return w.Lake(t).Log()
}

// Lake opens the lake in the store, which may be empty.
func (w *World) Lake(t testing.TB) *load.Lake {
	t.Helper()
	l, err := load.Open(t.Context(), w.Store)
	if err != nil && !errors.Is(err, load.ErrNoLake) {
		t.Fatal(err)
	}
	return l
}
