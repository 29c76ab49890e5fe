package pull_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/internal/testkit/s3test"
	"dealflow/internal/testkit/world"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestRaces lets two runs commit at the same time, over and over, while the market changes. Each number is taken by
// exactly one run; the other one decides again and takes the next. Nothing is lost or duplicated. TEST_RACES is the
// number of rounds on each kind of store; default 6.
func TestRaces(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T, w *world.World) store.Store{
		"folder": func(_ *testing.T, w *world.World) store.Store { return w.Store },
		"memory": func(*testing.T, *world.World) store.Store { return &memstore.Mem{} },
		"s3": func(t *testing.T, _ *world.World) store.Store {
			return s3test.Start(t, s3test.Options{}).Store(t, "races")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := world.NewBook(t)
			w.Store = open(t, w)
			b.WriteAll(world.Priced, 1, 20, `"message":"A"`)
			b.WriteAll(world.LoanExpected, 1, 5, `"message":"A"`)
			w.Night(t, 0, world.Feeds(world.Priced, world.LoanExpected), world.Quiet)
			for race := range testkit.Count(t, "TEST_RACES", 6) {
				runRace(t, w, b, uint64(race))
			}
			world.WantSound(t, w.Store)
		})
	}
}

func runRace(t *testing.T, w *world.World, b *world.Book, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	w.Later(24 * time.Hour)
	stir(b, random)
	before := w.Log(t).Number
	meeting := newMeeting(2)
	configs := [2]pull.Config{}
	for i := range configs {
		cfg := w.Config(t, world.Feeds(world.Priced, world.LoanExpected), world.Quiet)
		cfg.Store = &meets{Store: w.Store, meeting: meeting}
		configs[i] = cfg
	}
	if random.IntN(2) == 0 {
		var once sync.Once
		configs[0].FeedDone = func(lake.FeedRun) { once.Do(func() { w.Later(time.Minute); stir(b, random) }) }
	}
	var wg sync.WaitGroup
	for i := range configs {
		wg.Go(func() {
			if _, err := pull.Run(t.Context(), configs[i]); err != nil {
				t.Errorf("race %d, run %d: %v", seed, i, err)
			}
		})
	}
	wg.Wait()
	log := w.Log(t)
	ids := []string{configs[0].RunID, configs[1].RunID}
	made := map[string]int{}
	for _, run := range log.Commits[before:] {
		if run.Command != "compact" { // a run compacts by itself if there are many files
			made[run.RunID]++
		}
	}
	if len(made) != 2 || made[ids[0]] != 1 || made[ids[1]] != 1 {
		t.Fatalf("race %d: commits by run %v, want one of each of %v", seed, made, ids)
	}
	w.Later(time.Minute)
	w.MustRun(t, world.Feeds(world.Priced, world.LoanExpected), world.Quiet)
	wantBook(t, w, b)
}

// stir changes, adds and removes a few deals.
func stir(b *world.Book, random *rand.Rand) {
	for range 1 + random.IntN(3) {
		id := 1 + random.Int64N(25)
		switch random.IntN(6) {
		case 0:
			b.Strike(world.Priced, id)
		case 1:
			b.Write(world.LoanExpected, 1+random.Int64N(8), fmt.Sprintf(`"message":"%d"`, random.IntN(4)))
		default:
			b.Write(world.Priced, id, fmt.Sprintf(`"message":"%d"`, random.IntN(4)))
		}
	}
}

// wantBook checks that the deals that are current in the lake are those of the book, with their present bytes.
func wantBook(t *testing.T, w *world.World, b *world.Book) {
	t.Helper()
	l, err := load.Open(t.Context(), w.Store)
	if err != nil {
		t.Fatal(err)
	}
	latest, err := l.Latest(t.Context(), testkit.Allocator(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, feed := range []api.Feed{world.Priced, world.LoanExpected} {
		deals := b.Records(feed)
		standing := map[int64]int32{}
		for id, latest := range latest[feed] {
			if !latest.Removed {
				standing[id] = latest.Version
			}
		}
		if len(standing) != len(deals) {
			t.Fatalf("%s: the lake has %d deals standing, the market %d", feed, len(standing), len(deals))
		}
		for _, deal := range deals {
			if standing[deal.ID] == 0 {
				t.Fatalf("%s: the lake lacks deal %d", feed, deal.ID)
			}
		}
	}
}

// meeting blocks callers until a given number of them have arrived.
type meeting struct {
	mu   sync.Mutex
	left int
	all  chan struct{}
}

func newMeeting(n int) *meeting { return &meeting{left: n, all: make(chan struct{})} }

func (m *meeting) join(ctx context.Context) {
	m.mu.Lock()
	m.left--
	if m.left == 0 {
		close(m.all)
	}
	m.mu.Unlock()
	select {
	case <-m.all:
	case <-ctx.Done():
	}
}

// meets is the store of a run that makes its first commit only when all other runs are about to make theirs.
type meets struct {
	store.Store
	meeting *meeting
	once    sync.Once
}

func (s *meets) Put(ctx context.Context, key string, body io.ReadSeeker, mode store.PutMode) error {
	if strings.HasPrefix(key, lake.CommitsPrefix) {
		s.once.Do(func() { s.meeting.join(ctx) })
	}
	return s.Store.Put(ctx, key, body, mode)
}

func (s *meets) Path() string { return store.LocalPath(s.Store) }
