package simulation

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/extract"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
)

// TestDriftLosesNothing crawls TEST_CRAWLS lists that change during the crawl, with extract alone. No deal is lost or
// appears twice. Each deal is as it was at some instant of the crawl. No change from before the last sweep is missing.
func TestDriftLosesNothing(t *testing.T) {
	t.Parallel()
	crawls, moved, unsettled := count("TEST_CRAWLS", 200), 0, 0
	from := 0
	if *oneSeed >= 0 {
		from, crawls = int(*oneSeed), int(*oneSeed)+1
	}
	for seed := from; seed < crawls && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) {
			changes, ok := crawl(t, uint64(seed))
			moved += changes
			if !ok {
				unsettled++
			}
			if t.Failed() {
				t.Logf("go test ./internal/simulation -run TestDriftLosesNothing -seed %d", seed)
			}
		})
	}
	if *oneSeed < 0 && moved < crawls || unsettled*10 > crawls {
		t.Errorf("%d crawls saw %d changes, %d did not settle: want more of the one and less of the other", crawls, moved, unsettled)
	}
	t.Logf("%d crawls, %d changes during them, %d did not settle; lost 0, twice 0", crawls, moved, unsettled)
}

// crawl reads one changing list. It returns how many changes the list had during that, and whether the snapshot
// completed.
func crawl(t *testing.T, seed uint64) (changes int, settled bool) {
	dice := diceOf(seed, "crawl")
	feed := api.Feeds()[dice.IntN(12)]
	m := newMarket(seed, []api.Feed{feed}, 60)
	l := &life{t: t, listener: server(t, m, serve.Config{}), pageSize: 1 + dice.IntN(20)}
	n := newNetwork(seed, l.listener)
	n.beat = []time.Duration{time.Second, 20 * time.Millisecond}[dice.IntN(2)]
	n.fault = func(_ site, dice *rand.Rand) fault {
		if dice.IntN(30) > 0 {
			return none
		}
		return anyFaults[dice.IntN(len(anyFaults))]
	}
	spool, err := extract.NewSpool(t.TempDir(), feed, contentSum(feed))
	if err != nil {
		t.Fatal(err)
	}
	defer spool.Close()
	client, _ := l.client(plan{server: true}, n)
	m.stir(40, time.Now(), time.Now().Add(60*n.beat))
	m.ambush(20)
	s := &span{command: "run", from: time.Now()}
	snapshot, err := client.Snapshot(t.Context(), feed, spool)
	s.to, s.calls = time.Now(), n.calls
	m.calm()
	n.close()
	if err != nil {
		return 0, false
	}
	j := &checker{t: t, market: m}
	if ids := spool.IDs(); len(ids) != snapshot.Deals {
		t.Errorf("crawl %d: %d deals, %d counted", seed, len(ids), snapshot.Deals)
	}
	for _, id := range m.books[feed].ids {
		v := view{span: s, feed: feed, deal: m.books[feed].deals[id], states: m.books[feed].deals[id].during(s.from, s.to)}
		changes += len(v.states) - 1
		if payload, err := spool.Payload(id, nil); err == nil {
			v.is = &version{Version: 1, Change: "spooled"}
			v.said = v.is
			if v.is.content, err = contentOf(feed, id, string(payload)); err != nil && !some(v.states, func(s state) bool { return s.broken != whole }) {
				t.Errorf("crawl %d: %v", seed, err)
			} else if err != nil {
				continue // a record with a fault inside
			}
		}
		v.readChange()
		if wrong := v.wrongForRun(); wrong != "" {
			j.report(&v, wrong)
		}
	}
	return changes, true
}

// contentSum returns the hash of a payload's content.
func contentSum(feed api.Feed) func([]byte) (lake.Digest, error) {
	return func(payload []byte) (lake.Digest, error) {
		record, err := api.ReadRecordID(payload, feed)
		if err != nil {
			return lake.Digest{}, err
		}
		said, err := contentOf(feed, record.ID, string(payload))
		return sha256.Sum256(fmt.Append(nil, said)), err
	}
}
