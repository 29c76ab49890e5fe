package simulation

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit"
	"dealflow/load"
	"dealflow/load/store"
	"dealflow/load/store/memstore"
	"dealflow/load/store/storetest"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
)

// nights are two nights without faults: the lake after the first one, and the outcome of the second one.
type nights struct {
	*life
	first *memstore.Mem
	old   outcome
	want  outcome
	sites []site // requests of the second night
}

// outcome is the result of a run, except what contains the run's id.
type outcome struct {
	latest map[api.Feed]lake.Latest
	files  map[api.Feed][]string // folder and SHA-256 of the live files of each feed's tables
}

// newNights must be called in a bubble.
func newNights(t *testing.T) *nights {
	t.Helper()
	n := &nights{life: &life{
		t: t, work: t.TempDir(), mem: testkit.Allocator(t), pageSize: 3, beat: 20 * time.Millisecond,
		feeds: []api.Feed{
			{Service: api.Bond, Market: api.IG, Kind: api.Priced}, {Service: api.Bond, Market: api.IG, Kind: api.Expected},
			{Service: api.Loan, Market: api.LL, Kind: api.Priced}, {Service: api.Loan, Market: api.LL, Kind: api.Expected},
		},
	}}
	n.market = newMarket(1, n.feeds, 0)
	n.market.vary = false
	n.listener = server(t, n.market, serve.Config{})
	n.each(func(b *book) {
		for i := range 7 {
			b.happen(time.Now().Add(time.Duration(i-60)*time.Minute), "add")
		}
	})
	n.store = new(memstore.Mem)
	n.night("2000-01-01", nil)
	n.first, n.old = n.store, n.outcome()
	time.Sleep(time.Hour)
	n.each(func(b *book) {
		for _, what := range []string{"add", "change", "price", "omit", "remove", "forbid", "touch"} {
			b.happen(time.Now().Add(-time.Minute), what)
		}
	})
	n.store = n.again()
	network := n.night("2000-01-02", nil)
	n.want, n.sites = n.outcome(), sitesOf(network)
	return n
}

// each calls do for the feeds in their order.
func (n *nights) each(do func(*book)) {
	for _, feed := range n.feeds {
		do(n.market.books[feed])
	}
}

func sitesOf(n *network) []site {
	var sites []site
	for _, c := range n.calls {
		sites = append(sites, c.site)
	}
	slices.SortFunc(sites, func(a, b site) int { return strings.Compare(a.String(), b.String()) })
	return sites
}

// again returns a copy of the lake after the first night.
func (n *nights) again() *memstore.Mem {
	s := new(memstore.Mem)
	for object, err := range n.first.List(n.t.Context(), "") {
		if err != nil {
			n.t.Fatal(err)
		}
		if err := s.Put(n.t.Context(), object.Key, bytes.NewReader(storetest.Bytes(n.t, n.first, object.Key)), store.CreateOnly); err != nil {
			n.t.Fatal(err)
		}
	}
	return s
}

// night runs into the store. Only the faults may cause errors.
func (n *nights) night(day string, faults map[site]fault) *network {
	n.t.Helper()
	network, _, err := n.try(day, faults)
	if err != nil {
		n.t.Fatal(err)
	}
	return network
}

func (n *nights) try(day string, faults map[site]fault) (*network, *pull.Result, error) {
	n.runs++
	network := newNetwork(1, n.listener)
	network.beat = n.beat
	network.fault = func(s site, _ *rand.Rand) fault {
		if f, ok := faults[s]; ok {
			return f
		}
		return none
	}
	result, err := n.run("run", plan{server: true, day: day}, network)
	return network, result, err
}

// outcome reads the lake back.
func (n *nights) outcome() outcome {
	n.t.Helper()
	opened, err := load.Open(n.t.Context(), n.store)
	if err != nil {
		n.t.Fatal(err)
	}
	latest, err := opened.Latest(n.t.Context(), n.mem)
	if err != nil {
		n.t.Fatal(err)
	}
	files := map[api.Feed][]string{}
	for _, feed := range n.feeds {
		for _, table := range lake.FeedTables(feed) {
			for _, f := range slices.Concat(opened.Log().Files(lake.HistoryTable(table.Name)), opened.Log().Files(lake.SnapshotTable(table.Name))) {
				files[feed] = append(files[feed], path.Dir(f.Path)+" "+f.SHA256)
			}
		}
		slices.Sort(files[feed])
	}
	return outcome{latest: latest, files: files}
}

func (o outcome) equal(other outcome, feed api.Feed) bool {
	return maps.Equal(o.latest[feed], other.latest[feed]) && slices.Equal(o.files[feed], other.files[feed])
}

// apart says how an outcome differs from the one that is wanted.
func (o outcome) apart(want outcome, feed api.Feed) string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(want.latest[feed])) {
		if got, want := o.latest[feed][id], want.latest[feed][id]; got != want {
			fmt.Fprintf(&b, "\n  deal %d: got version %d, removed %t, content %.4x; want %d, %t, %.4x", id, got.Version, got.Removed, got.ContentHash, want.Version, want.Removed, want.ContentHash)
		}
	}
	for _, f := range o.files[feed] {
		if !slices.Contains(want.files[feed], f) {
			fmt.Fprintf(&b, "\n  too much: %s", f)
		}
	}
	for _, f := range want.files[feed] {
		if !slices.Contains(o.files[feed], f) {
			fmt.Fprintf(&b, "\n  missing: %s", f)
		}
	}
	return b.String()
}

// survive runs the second night with faults. The night must end in the right commit, or in a clear error that leaves
// the feeds that it names in the old state. The next run must then produce the right outcome.
func (n *nights) survive(faults map[site]fault) (failed bool) {
	n.t.Helper()
	n.store = n.again()
	_, result, err := n.try("2000-01-02", faults)
	got := n.outcome()
	for _, feed := range n.feeds {
		done := err == nil
		if !done && result != nil && result.Commit != 0 {
			done = slices.ContainsFunc(result.Feeds, func(f lake.FeedRun) bool { return f.Feed == feed && f.Outcome == lake.OutcomeDone })
		}
		switch {
		case done && !got.equal(n.want, feed):
			n.t.Errorf("%v: %s differs from the undisturbed night:%s", faults, feed, got.apart(n.want, feed))
		case !done && !got.equal(n.old, feed):
			n.t.Errorf("%v: %s is not done, but differs from the night before:%s", faults, feed, got.apart(n.old, feed))
		}
	}
	if err == nil {
		return false
	}
	if text := err.Error(); !strings.Contains(text, base) {
		n.t.Errorf("%v: the error does not say where: %s", faults, text)
	}
	n.night("2000-01-02", nil)
	for _, feed := range n.feeds {
		if got := n.outcome(); !got.equal(n.want, feed) {
			n.t.Errorf("%v: after the next run %s still differs:%s", faults, feed, got.apart(n.want, feed))
		}
	}
	return true
}

// TestEveryFault fails each request of a night in each way, one at a time: one in TEST_EVERY of them (default 11).
func TestEveryFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNights(t)
		stride := count("TEST_EVERY", 11)
		kinds := anyFaults[:9]
		wantKinds(t, n.sites)
		tried, failures := 0, 0
		for i := 0; i < len(n.sites)*len(kinds) && !t.Failed(); i += stride {
			s, f := n.sites[i/len(kinds)], kinds[i%len(kinds)]
			failed := n.survive(map[site]fault{s: f})
			if failed {
				t.Errorf("%s: %s: one such fault should be outlived", s, f)
			}
			tried++
			if failed {
				failures++
			}
		}
		t.Logf("%d requests × %d kinds of fault: %d tried, %d ended in an error and the old state", len(n.sites), len(kinds), tried, failures)
	})
}

// wantKinds checks that the quiet night has every kind of request in it.
func wantKinds(t *testing.T, sites []site) {
	t.Helper()
	seen := map[string]bool{}
	for _, s := range sites {
		what, _, _ := strings.Cut(s.what, " ")
		seen[what] = true
		if what == "next" || what == "deal" {
			seen[fmt.Sprintf("%s %s %s", s.feed.Service, s.feed.Kind, what)] = true
		}
	}
	for _, what := range []string{"token", "list", "since", "next", "deal", "bond priced deal", "bond expected deal", "bond expected next", "loan expected deal"} {
		if !seen[what] {
			t.Errorf("the quiet night has no request of the kind %q: %v", what, sites)
		}
	}
}

// TestDoubleFaults fails two requests of a night, drawn at random (TEST_DOUBLE pairs). Two bubbles share the pairs,
// because the goroutines of one bubble mostly wait for each other and leave a processor idle.
func TestDoubleFaults(t *testing.T) {
	t.Parallel()
	const parts = 2
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { doubleFaults(t, part, parts) })
		})
	}
}

// doubleFaults tests every parts-th pair from part on. It must be called in a bubble.
func doubleFaults(t *testing.T, part, parts int) {
	t.Helper()
	n := newNights(t)
	dice := diceOf(2, "double")
	for i := range count("TEST_DOUBLE", 20) {
		faults := map[site]fault{}
		for len(faults) < 2 {
			faults[n.sites[dice.IntN(len(n.sites))]] = anyFaults[dice.IntN(9)]
		}
		if i%parts != part {
			continue
		}
		if n.survive(faults) {
			t.Errorf("%v: two such faults should be outlived", faults)
		}
		if t.Failed() {
			return
		}
	}
}
