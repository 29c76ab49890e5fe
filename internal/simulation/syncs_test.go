package simulation

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/schemas/api"
)

// TestSyncsChangeNothing executes the same days twice, with syncs and without: after each night the lake's current
// state is the same.
func TestSyncsChangeNothing(t *testing.T) {
	t.Parallel()
	synced := 0
	for seed := range uint64(count("TEST_SIM_SEEDS", 40) / 10) {
		with, n := nightsOf(t, seed, 3)
		without, _ := nightsOf(t, seed, 0)
		synced += n
		for night := range without {
			for deal, want := range without[night] {
				if got := with[night][deal]; got != want {
					t.Errorf("seed %d, night %d: %s: with syncs %q, without %q", seed, night, deal, got, want)
				}
			}
		}
	}
	if synced == 0 {
		t.Error("no sync committed anything")
	}
}

// nightsOf returns the lake's current state after each of three nights, with the given number of syncs before each
// night, and how many of those syncs committed. It leaves out deals that a list omits: only a sync may have seen them.
func nightsOf(t *testing.T, seed uint64, syncs int) (nights []map[string]string, committed int) {
	synctest.Test(t, func(t *testing.T) {
		l := newLife(t, seed)
		dice := diceOf(seed, "days")
		for range 3 {
			morning := time.Now()
			l.market.stir(15, morning, morning.Add(20*time.Hour))
			for hour := range syncs {
				l.sleep(morning.Add(time.Duration(dice.IntN(6)+6*hour) * time.Hour))
				l.execute("sync", plan{server: true})
			}
			l.sleep(morning.Add(21 * time.Hour))
			l.execute("run", plan{server: true, accept: true})
			nights = append(nights, l.standing())
			l.sleep(morning.Add(24 * time.Hour))
		}
		committed = l.tally["sync committed"]
	})
	return nights, committed
}

// standing returns the lake's state of each deal that no list ever omitted.
func (l *life) standing() map[string]string {
	said := map[string]string{}
	for _, feed := range api.Feeds() {
		b := l.market.books[feed]
		if b == nil {
			continue
		}
		for _, id := range b.ids {
			plainly := all(b.deals[id].states, func(s state) bool { return s.content.number == 0 || s.listed() && s.broken == whole })
			if v := l.ledger.newest[feed][id]; plainly && v.live() {
				said[fmt.Sprintf("%s %d", feed, id)] = stamp(l.ledger.payload[feed][id].content)
			} else if plainly {
				said[fmt.Sprintf("%s %d", feed, id)] = "gone"
			}
		}
	}
	return said
}
