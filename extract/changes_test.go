package extract

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
)

// changes reads a delta of the market.
func (m *market) changes(t testing.TB, feed api.Feed, since string) (Snapshot, *Spool, error) {
	t.Helper()
	spool := newSpoolBy(t, feed, m.sum())
	s, err := newClient(t, m.config()).Changes(context.Background(), feed, since, spool)
	return s, spool, err
}

// TestChangesAddUp proves the promise of sync as a property. Lists change during and between the readings. Each reading
// starts from the link that the previous one returned. Together they return every deal that exists at the end.
func TestChangesAddUp(t *testing.T) {
	late := 0
	for seed := range uint64(120) {
		t.Run(fmt.Sprint(seed), inVirtualTime(func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			feed := []api.Feed{bondPriced, loanExpected}[seed%2]
			m := newMarket()
			m.size = 1 + rng.IntN(9)
			m.strict = seed/2%2 == 0
			m.varies = seed/4%2 == 0
			m.fill(feed, 1+rng.IntN(40), []time.Duration{0, 300 * time.Millisecond, 10 * time.Second}[rng.IntN(3)])
			known := map[int64]string{}
			since := ""
			for round := range 6 {
				moves := rng.IntN(15)
				m.before = func(r *http.Request) {
					m.now = m.now.Add(time.Duration(rng.IntN(1500)) * time.Millisecond)
					if moves--; moves > 0 && round < 5 { // the last one reads a quiet list
						m.move(feed, rng)
					}
				}
				s, spool, err := m.changes(t, feed, since)
				if err != nil {
					t.Fatal(err)
				}
				if since != "" && s.UpdatedSince == "" {
					t.Fatalf("the link %s was lost", since)
				}
				since = s.UpdatedSince
				for _, id := range spool.IDs() {
					payload, err := spool.Payload(id, nil)
					if err != nil {
						t.Fatal(err)
					}
					known[id] = string(payload)
				}
				for id, d := range m.deals[feed] {
					if !sameRecord([]byte(known[id]), []byte(m.record(feed, d))) {
						late++
						if round == 5 {
							t.Errorf("deal %d is %q, want %s", id, known[id], m.record(feed, d))
						}
					}
				}
			}
		}))
	}
	if late == 0 {
		t.Error("no reading was behind the list: nothing was proved")
	}
}

// TestChangesReadOnce reads one scan, from the saved link on.
func TestChangesReadOnce(t *testing.T) {
	m := newMarket().fill(bondPriced, 35, time.Minute) // 09:01 to 09:35
	m.size = 2
	s, spool, err := m.changes(t, bondPriced, "/v3/bond/ig/priced-deal?updatedSince=2026-03-02T09:31:00Z")
	if err != nil || s.Deals != 5 || s.Pages != 3 || s.Requests != 3 || s.Sweeps != 0 || s.Feed != bondPriced || !s.LastObserved.Equal(m.now) {
		t.Fatalf("got %+v, %v", s, err)
	}
	if want := "/v3/bond/ig/priced-deal?updatedSince=2026-03-02T09:34:00Z"; s.UpdatedSince != want {
		t.Errorf("kept %s, want %s", s.UpdatedSince, want)
	}
	if got := spool.IDs(); !slices.Equal(got, []int64{1030, 1031, 1032, 1033, 1034}) {
		t.Errorf("got %v", got)
	}
}

func TestChangesWithoutALink(t *testing.T) {
	for feed, link := range map[api.Feed]string{bondPriced: "/v3/bond/ig/priced-deal?updatedSince=2026-03-02T09:34:00Z", bondExpected: ""} {
		m := newMarket().fill(feed, 35, time.Minute)
		s, spool, err := m.changes(t, feed, "")
		if err != nil || s.Deals != 35 || s.Pages != 4 || s.UpdatedSince != link {
			t.Errorf("%s: got %+v, %v", feed, s, err)
		}
		m.compare(t, feed, spool)
	}
}

// TestChangesKeepTheLinkWhereNoneIsOldEnough: if little or nothing has changed, Changes returns the same link, in the
// same spelling.
func TestChangesKeepTheLinkWhereNoneIsOldEnough(t *testing.T) {
	for _, since := range []string{
		"/v3/bond/ig/priced-deal?updatedSince=2026-03-02T09:35:00Z", // one deal, or none
		"/v3/bond/ig/priced-deal?updatedSince=2026-03-02T09%3A36%3A00Z",
		testBase + "/v3/bond/ig/priced-deal?updatedSince=2026-03-02T09:36:00Z",
	} {
		for _, strict := range []bool{true, false} {
			m := newMarket().fill(bondPriced, 35, time.Minute)
			m.strict = strict
			s, _, err := m.changes(t, bondPriced, since)
			if err != nil || s.UpdatedSince != since || s.Deals > 1 || s.Requests != 1 {
				t.Errorf("%s: got %+v, %v", since, s, err)
			}
		}
	}
}

// TestChangesFromAStaleLink: the error says what to do. Errors of other statuses, and of later pages, do not.
func TestChangesFromAStaleLink(t *testing.T) {
	const hint = "run `dealflow run`, which saves a new one"
	for name, test := range map[string]struct {
		since  string
		match  string
		status int
		hint   bool
	}{
		"refused":              {"?updatedSince=2026-03-02T09:01:00Z", "updatedSince", 400, true},
		"missing":              {"?updatedSince=2026-03-02T09:01:00Z", "updatedSince", 404, true},
		"gone":                 {"?updatedSince=2026-03-02T09:01:00Z", "updatedSince", 410, true},
		"forbidden":            {"?updatedSince=2026-03-02T09:01:00Z", "updatedSince", 403, false},
		"later page":           {"?updatedSince=2026-03-02T09:01:00Z", "seeker", 404, false},
		"token endpoint":       {"?updatedSince=2026-03-02T09:01:00Z", "token", 404, false},
		"without any link":     {"", "priced-deal", 404, false},
		"cursor ends for ever": {"?updatedSince=2026-03-02T09:01:00Z", "seeker", 400, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket().fill(bondPriced, 35, time.Minute)
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				if strings.Contains(r.URL.String(), test.match) {
					fail(w, test.status, "no")
					return true
				}
				return false
			}
			since := test.since
			if since != "" {
				since = bondPriced.Path() + since
			}
			_, _, err := m.changes(t, bondPriced, since)
			var status *StatusError
			if !errors.As(err, &status) || status.Status != test.status || strings.Contains(err.Error(), hint) != test.hint || status.ErrorID == "" {
				t.Errorf("got %v", err)
			}
			if got := IsForbiddenOrMissing(err); got != (since == "") {
				t.Errorf("outside the account: %v, for %v", got, err)
			}
		})
	}
}

// TestChangesFollowNoLinkThatLeaves: a saved link is checked like one in an answer.
func TestChangesFollowNoLinkThatLeaves(t *testing.T) {
	for _, since := range []string{
		"https://evil.example.test/flow/v3/bond/ig/priced-deal?updatedSince=x", "//evil.example.test/flow/v3", "http://api.example.test/flow/v3/x",
		"https://api.example.test/elsewhere", "/../admin", ":8443/v3/x", "https://api.example.test@evil.test/flow/v3",
	} {
		m := newMarket().fill(bondPriced, 3, time.Minute)
		_, _, err := m.changes(t, bondPriced, since)
		var link *LinkError
		if !errors.As(err, &link) || len(m.requests) > 0 {
			t.Errorf("%s: got %v after %v", since, err, m.requests)
		}
	}
}

// TestEntryOfTheFuture keeps a link that is old enough although the first entry is dated in the future. If that entry's
// instant were believed, the kept link would be of the current second, and later changes in this second would be
// missed.
func TestEntryOfTheFuture(t *testing.T) {
	m := newMarket().fill(bondPriced, 30, time.Minute)
	present := m.now
	m.now = present.Add(48 * time.Hour)
	m.touch(bondPriced, 1000)
	m.now = present
	m.touch(bondPriced, 1001)
	s, err := newClient(t, m.config()).Changes(context.Background(), bondPriced, "", newSpool(t, bondPriced))
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := api.UpdatedSinceTime(s.UpdatedSince); !ok || at.After(present.Add(-overlap)) {
		t.Errorf("kept %s, want a link of %s or before", s.UpdatedSince, present.Add(-overlap))
	}
}
