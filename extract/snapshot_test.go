package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/schemas/api"
)

// TestSnapshotOfAMovingList proves the package's promise as a property. Deals are updated, added and removed while a
// list is read. Afterwards the spool contains every deal as it is at the last request.
func TestSnapshotOfAMovingList(t *testing.T) {
	swept, doubled := 0, 0
	for seed := range uint64(240) {
		t.Run(fmt.Sprint(seed), inVirtualTime(func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			feed := []api.Feed{bondPriced, loanExpected}[seed%2]
			m := newMarket()
			m.size = 1 + rng.IntN(12)
			m.strict = seed/2%2 == 0
			m.positions = seed/4%2 == 0
			m.varies = seed/8%2 == 0
			apart := []time.Duration{0, 300 * time.Millisecond, 10 * time.Second}[rng.IntN(3)]
			m.fill(feed, rng.IntN(90), apart)
			moves := rng.IntN(30)
			m.before = func(r *http.Request) {
				m.now = m.now.Add(time.Duration(rng.IntN(1500)) * time.Millisecond)
				if moves--; moves > 0 {
					m.move(feed, rng)
				}
			}
			s, spool, err := m.snapshot(t, feed)
			if err != nil {
				t.Fatal(err)
			}
			m.compare(t, feed, spool)
			if s.Deals != spool.Len() || s.Pages != m.seen("GET") || s.Requests != s.Pages {
				t.Errorf("counts are off: %+v, %d deals", s, spool.Len())
			}
			if !s.LastObserved.Equal(m.dated) {
				t.Errorf("last observed at %s, want the last answer's Date %s", s.LastObserved, m.dated)
			}
			if s.UpdatedSince != "" && !strings.HasPrefix(s.UpdatedSince, feed.Path()+"?updatedSince=") {
				t.Errorf("kept link %q is not relative to the base", s.UpdatedSince)
			}
			swept += s.Sweeps
			doubled += s.Pages*m.size - s.Deals
		}))
	}
	if swept == 0 || doubled == 0 {
		t.Errorf("the lists did not move enough to prove anything: %d sweeps, %d doubled records", swept, doubled)
	}
}

// move changes the list in one of the ways in which real lists change.
func (m *market) move(feed api.Feed, rng *rand.Rand) {
	ids := slices.Sorted(maps.Keys(m.deals[feed]))
	if len(ids) == 0 {
		return
	}
	switch some := ids[rng.IntN(len(ids))]; rng.IntN(7) {
	case 0, 1, 2:
		m.touch(feed, some)
	case 3:
		m.touch(feed, 5000+rng.Int64N(1000))
	case 4:
		if !m.positions { // known limit: a removal shifts unread deals in front of such a cursor
			delete(m.deals[feed], some)
		}
	case 6: // it jumps ahead and says the same
		m.deals[feed][some].updated = m.now
	case 5: // everything restated in one second
		if rng.IntN(5) == 0 {
			for _, id := range ids {
				m.touch(feed, id)
			}
		}
	}
}

// TestSnapshotFindsAnUpdateBehindTheReader is the simplest case of the property.
func TestSnapshotFindsAnUpdateBehindTheReader(t *testing.T) {
	m := newMarket().fill(bondPriced, 25, time.Minute)
	m.before = func(r *http.Request) {
		if len(m.requests) == 3 { // token, page 1, then:
			m.touch(bondPriced, 1000) // the oldest deal moves to the front
		}
	}
	s, spool, err := m.snapshot(t, bondPriced)
	if err != nil {
		t.Fatal(err)
	}
	m.compare(t, bondPriced, spool)
	// Three pages; a sweep that finds deal 1000; one that finds nothing.
	if s.Pages != 5 || s.Sweeps != 2 || s.Deals != 25 {
		t.Errorf("got %+v", s)
	}
	if want := "/v3/bond/ig/priced-deal?updatedSince=2026-03-02T09:25:00Z"; s.UpdatedSince != want {
		t.Errorf("kept %s, want %s", s.UpdatedSince, want)
	}
	if want := m.now; !s.LastObserved.Equal(want) {
		t.Errorf("last observed at %s, want the server's Date %s", s.LastObserved, want)
	}
}

func TestSnapshotOfOnePageIsReadAtOnce(t *testing.T) {
	for _, feed := range []api.Feed{bondPriced, bondExpected} {
		for _, n := range []int{0, 1, 10} {
			s, _, err := newMarket().fill(feed, n, time.Minute).snapshot(t, feed)
			if err != nil || s.Requests != 1 || s.Deals != n {
				t.Errorf("%s: got %+v, %v", feed, s, err)
			}
		}
	}
}

func TestSnapshotOfAListWithoutUpdatedSince(t *testing.T) {
	m := newMarket().fill(bondExpected, 35, time.Minute)
	m.before = func(r *http.Request) {
		if n := len(m.requests); n == 4 || n == 9 {
			m.touch(bondExpected, 1000) // already read; it stays in its place
		}
	}
	s, spool, err := m.snapshot(t, bondExpected)
	if err != nil {
		t.Fatal(err)
	}
	m.compare(t, bondExpected, spool)
	if s.Sweeps != 3 || s.UpdatedSince != "" {
		t.Errorf("got %+v", s)
	}
}

// TestSnapshotThatDoesNotSettle: a list that changes, or grows, faster than it is read ends in an error with the rate.
func TestSnapshotThatDoesNotSettle(t *testing.T) {
	for name, test := range map[string]struct {
		feed   api.Feed
		grows  bool
		rounds int
	}{
		"changing":          {bondPriced, false, 21},
		"growing":           {bondPriced, true, 21},
		"loan growing":      {loanExpected, true, 21},
		"expected changing": {bondExpected, false, 25},
		"expected growing":  {bondExpected, true, 25},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket().fill(test.feed, 35, time.Minute)
			next := int64(9000)
			m.before = func(r *http.Request) {
				m.now = m.now.Add(time.Second)
				m.touch(test.feed, 1000)
				if test.grows {
					next-- // in a list by id: before the reader's position
					m.touch(test.feed, next-8000)
				}
			}
			_, _, err := m.snapshot(t, test.feed)
			var unsettled *UnsettledError
			if !errors.As(err, &unsettled) || unsettled.Rounds != test.rounds || unsettled.Fresh == 0 || unsettled.Sweep != nil || !strings.Contains(err.Error(), "a second; run again") {
				t.Errorf("got %v", err)
			}
			if test.grows && unsettled != nil && unsettled.Fresh < 2 {
				t.Errorf("%d fresh in the last round, want what was added meanwhile", unsettled.Fresh)
			}
		})
	}
}

func TestSnapshotRestartsWhereACursorHasExpired(t *testing.T) {
	m := newMarket().fill(bondPriced, 35, time.Minute)
	expired := 0
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.RawQuery, "seeker") && len(m.requests) > 3 && expired < 2 {
			expired++
			fail(w, http.StatusBadRequest, "seeker has expired")
			return true
		}
		return false
	}
	s, spool, err := m.snapshot(t, bondPriced)
	if err != nil || s.Deals != 35 || expired != 2 || s.Restarts != 2 {
		t.Errorf("got %+v, %v", s, err)
	}
	m.compare(t, bondPriced, spool)
}

// TestSweepRestartsFromItsKeptLink: the cursor of a sweep expires. The beginning of the list is not requested again.
func TestSweepRestartsFromItsKeptLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMarket().fill(bondPriced, 35, time.Minute)
		m.before = func(r *http.Request) {
			if len(m.requests) == 4 { // within the walk: what a sweep has pages of
				m.now = m.now.Add(time.Minute)
				for id := range int64(20) {
					m.touch(bondPriced, 1000+id)
				}
			}
		}
		expired := 0
		m.instead = func(w http.ResponseWriter, r *http.Request) bool {
			if query := r.URL.Query(); query.Has("updatedSince") && query.Has("seeker") && expired < 3 {
				expired++
				fail(w, http.StatusGone, "seeker has expired")
				return true
			}
			return false
		}
		s, spool, err := m.snapshot(t, bondPriced)
		if err != nil || s.Deals != 35 || expired != 3 || s.Restarts != 3 {
			t.Errorf("got %+v, %v", s, err)
		}
		m.compare(t, bondPriced, spool)
		heads := slices.DeleteFunc(m.requests, func(r string) bool { return r != "GET /flow/v3/bond/ig/priced-deal?pageSize=1000" })
		if len(heads) != 1 {
			t.Errorf("the whole list was begun %d times, want once", len(heads))
		}
	})
}

func TestCursorThatAlwaysExpires(t *testing.T) {
	m := newMarket().fill(bondPriced, 35, time.Minute)
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.RawQuery, "seeker") {
			fail(w, http.StatusBadRequest, "seeker has expired")
			return true
		}
		return false
	}
	s, _, err := m.snapshot(t, bondPriced)
	if err == nil || !strings.Contains(err.Error(), "refused its own cursor in each of 4 walks") || !strings.Contains(err.Error(), "page 2") || s.Restarts != 3 {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestSnapshotSetsUnreadableRecordsAside(t *testing.T) {
	m := newMarket()
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, "{\"_embedded\":{\"pricedDeals\":[{\"dealId\":1},null,{\"dealId\":2,\"a\":\"\xff\"},null,{\"dealId\":3}]},\"_links\":{}}")
			return true
		}
		return false
	}
	s, spool, err := m.snapshot(t, bondPriced)
	if err != nil || s.Deals != 2 {
		t.Fatalf("got %+v, %v", s, err)
	}
	rejects := spool.Rejects()
	if len(rejects) != 2 || string(rejects[0].Raw) != "null" || rejects[0].Reject.Reason != api.RejectNotObject || rejects[0].HasID ||
		rejects[1].ID != 2 || !rejects[1].HasID || rejects[1].Reject.Reason != api.RejectInvalidUTF8 ||
		!strings.HasPrefix(rejects[1].URL, testBase+"/v3/bond/ig/priced-deal") || rejects[1].ObservedAt.IsZero() {
		t.Errorf("got %+v", rejects)
	}
}

func TestSnapshotWithoutPageSize(t *testing.T) {
	m := newMarket().fill(bondPriced, 25, time.Minute)
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Has("pageSize") {
			fail(w, http.StatusBadRequest, "unknown parameter")
			return true
		}
		return false
	}
	c := newClient(t, m.config())
	for range 2 {
		if s, err := c.Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced)); err != nil || s.Deals != 25 {
			t.Errorf("got %+v, %v", s, err)
		}
	}
	if n := m.seen("pageSize=1000"); n != 1 {
		t.Errorf("pageSize was tried %d times, want once", n)
	}
}

func TestFeedOutsideTheAccount(t *testing.T) {
	for name, test := range map[string]struct {
		match  string
		status int
		want   bool
	}{
		"first page forbidden": {"/priced-deal", 403, true},
		"first page missing":   {"/priced-deal", 404, true},
		"first page refused":   {"/priced-deal", 400, false},
		"later page missing":   {"seeker=", 404, false},
		"later page forbidden": {"seeker=", 403, false},
		"sweep missing":        {"updatedSince=", 404, false},
		"token forbidden":      {"/oauth/token", 403, false},
		"token missing":        {"/oauth/token", 404, false},
		"a page of a gateway":  {"/priced-deal", -404, false},
		"a page of a firewall": {"/priced-deal", -403, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket().fill(bondPriced, 25, time.Minute)
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case !strings.Contains(r.URL.String(), test.match):
					return false
				case test.status < 0: // in HTML
					w.Header().Set("Content-Type", "text/html; charset=utf-8")
					w.WriteHeader(-test.status)
					_, _ = io.WriteString(w, htmlBody)
				default:
					fail(w, test.status, "no")
				}
				return true
			}
			s, _, err := m.snapshot(t, bondPriced)
			if got := IsForbiddenOrMissing(err); err == nil || got != test.want || s.Restarts != 0 {
				t.Errorf("got %v for %v, after %d restarts", got, err, s.Restarts)
			}
		})
	}
}

func TestEveryListThatCannotBeFollowedIsAnError(t *testing.T) {
	page := func(next string) string {
		return fmt.Sprintf(`{"_embedded":{"pricedDeals":[]},"_links":{"next":{"href":%q}}}`, next)
	}
	for name, test := range map[string]struct{ body, want string }{
		"other host":      {page("https://evil.example.test/flow/v3/x"), "link https://evil.example.test/flow/v3/x: leads away from https://api.example.test"},
		"other scheme":    {page("http://api.example.test/flow/v3/x"), "leads away from"},
		"other port":      {page("https://api.example.test:8443/flow/v3/x"), "leads away from"},
		"user info":       {page("https://api.example.test@evil.test/flow/v3"), "credentials"},
		"no scheme":       {page("//evil.example.test/flow/v3/x"), "leads away from"},
		"backslash":       {page(`https://api.example.test\@evil.test/`), "URL"},
		"opaque":          {page("mailto:a@b"), "leads away from"},
		"other path":      {page("/v3/x"), "outside"},
		"climbing":        {page("/flow/%2e%2e/admin"), "outside"},
		"another market":  {page("/flow/v3/bond/hy/priced-deal?pageSize=1000&seeker=2"), "link https://api.example.test/flow/v3/bond/hy/priced-deal?pageSize=1000&seeker=2: does not lead to the list /v3/bond/ig/priced-deal"},
		"another kind":    {page("../ig/expected-deal"), "does not lead to the list"},
		"one deal":        {page("/flow/v3/bond/ig/priced-deal/7"), "does not lead to the list"},
		"onto itself":     {page("/flow/v3/bond/ig/priced-deal?pageSize=1000"), "circle"},
		"circle":          {page("?a=1"), "circle"},
		"no list":         {`{"errorId":"x"}`, "no object _links"},
		"HTML":            {`<html>`, "gave up after 8 attempts"},
		"renamed list":    {`{"_embedded":{"deals":[{"dealId":1}]},"_links":{"first":{"href":"/f"}}}`, "no list \"pricedDeals\", but page:/_embedded/deals"},
		"no links":        {`{"_embedded":{"pricedDeals":[{"dealId":1}]}}`, "no object _links"},
		"another list":    {`{"_embedded":{"pricedDeals":{}}}`, "want '['"},
		"next is no link": {`{"_links":{"next":"/x"}}`, "want '{'"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket()
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodGet {
					fmt.Fprint(w, test.body)
				}
				return r.Method == http.MethodGet
			}
			_, _, err := m.snapshot(t, bondPriced)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "bond/ig/priced: page ") {
				t.Errorf("got %v", err)
			}
			if n := m.seen("GET"); n > 8 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func TestEndlessList(t *testing.T) {
	m := newMarket()
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			fmt.Fprintf(w, `{"_links":{"next":{"href":"?n=%d"}}}`, len(m.requests))
		}
		return r.Method == http.MethodGet
	}
	cfg := m.config()
	cfg.MaxPages = 7
	_, err := newClient(t, cfg).Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
	if err == nil || !strings.Contains(err.Error(), "want 7 pages at most") || m.seen("GET") != 7 {
		t.Errorf("got %v after %d pages", err, m.seen("GET"))
	}
}

// TestListGoesOnForEver has a market answer the last page again and again, each time with another next link. The walk ends
// after a hundred such pages, and not after all that a list may have.
func TestListGoesOnForEver(t *testing.T) {
	m := newMarket().fill(bondPriced, 25, time.Minute)
	m.size = 1
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || len(m.requests) < 20 {
			return false
		}
		page := fmt.Sprintf(`{"_embedded":{"%s":[%s]},"_links":{"next":{"href":"?n=%d"}}}`, bondPriced.ListKey(), m.record(bondPriced, m.deals[bondPriced][1000]), len(m.requests))
		fmt.Fprint(w, page)
		return true
	}
	_, err := newClient(t, m.config()).Snapshot(context.Background(), bondPriced, newSpool(t, bondPriced))
	if err == nil || !strings.Contains(err.Error(), "the list seems to have no end") || m.seen("GET") > 125 {
		t.Errorf("got %v after %d pages", err, m.seen("GET"))
	}
}

func TestSpoolErrorsNameTheFile(t *testing.T) {
	m := newMarket().fill(bondPriced, 25, time.Minute)
	spool, err := NewSpool(t.TempDir(), bondPriced, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := spool.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := newClient(t, m.config()).Snapshot(context.Background(), bondPriced, spool); err != nil {
		t.Fatal("nothing needs to be on disk yet:", err)
	}
	if _, err := spool.Payload(1000, nil); err == nil || !strings.Contains(err.Error(), "bond-ig-priced-") {
		t.Errorf("got %v, want the file's name", err)
	}
}

func TestConfirm(t *testing.T) {
	m := newMarket().fill(bondPriced, 3, time.Minute)
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case strings.HasSuffix(r.URL.Path, "/77"):
			fail(w, http.StatusForbidden, "outside of the two years")
		case strings.HasSuffix(r.URL.Path, "/88"):
			fmt.Fprint(w, m.record(bondPriced, &deal{id: 89}))
		case strings.HasSuffix(r.URL.Path, "/99"):
			fail(w, http.StatusInternalServerError, "sorry")
		default:
			return false
		}
		return true
	}
	c := newClient(t, m.config())
	spool := newSpool(t, bondPriced)
	ctx := context.Background()
	confirmed, err := c.Confirm(ctx, bondPriced, Question{IDs: []int64{1000, 1001, 12, 77}, Shown: shown(1002)}, spool)
	want := map[int64]Answer{1000: {Present, true}, 1001: {Present, true}, 12: {Gone, true}, 77: {OutOfEntitlement, true}}
	if err != nil || !maps.Equal(confirmed.Answers, want) || !confirmed.Believed {
		t.Fatalf("got %+v, %v", confirmed, err)
	}
	if payload, err := spool.Payload(1001, nil); err != nil || string(payload) != m.record(bondPriced, m.deals[bondPriced][1001]) {
		t.Errorf("got %s, %v", payload, err)
	}
	if spool.Len() != 2 {
		t.Errorf("%d deals in the spool, want the two asked for that stand", spool.Len())
	}
	if n := c.Counts(bondPriced).Confirmations; n != 6 {
		t.Errorf("%d confirmations counted, want 4, and the deal in the list before and after", n)
	}
	for name, test := range map[string]struct {
		q    Question
		want string
	}{
		"another deal":          {Question{IDs: []int64{88}}, "got deal 89, want deal 88"},
		"server error":          {Question{IDs: []int64{12, 99}, Shown: shown(13, 1000)}, "bond/ig/priced: deal 99: gave up after 8 attempts: GET https://api.example.test/flow/v3/bond/ig/priced-deal/99: 500 Internal Server Error: sorry (errorId 5e0f7a52"},
		"deal in the list":      {Question{IDs: []int64{12}, Shown: shown(99)}, "bond/ig/priced: deal 99, which the list shows: gave up after 8 attempts"},
		"deal in the list, too": {Question{IDs: []int64{12}, Again: []int64{13}, Shown: shown(99)}, "deal 99, which the list shows"},
	} {
		if confirmed, err := c.Confirm(ctx, bondPriced, test.q, spool); err == nil || confirmed != nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %+v, %v", name, confirmed, err)
		}
	}
}

// shown says that a list shows deals.
func shown(ids ...int64) []Shown { return []Shown{{Feed: bondPriced, IDs: ids}} }

// TestConfirmTakesNoFateFromTheTokenEndpoint: a 403 or 404 to the token request says nothing about a deal.
func TestConfirmTakesNoFateFromTheTokenEndpoint(t *testing.T) {
	for _, status := range []int{403, 404} {
		m := newMarket().fill(bondPriced, 3, time.Minute)
		m.instead = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				fail(w, status, "no")
			}
			return r.Method == http.MethodPost
		}
		confirmed, err := newClient(t, m.config()).Confirm(context.Background(), bondPriced, Question{IDs: []int64{1000}}, newSpool(t, bondPriced))
		if err == nil {
			t.Errorf("%d: got %+v", status, confirmed)
		}
	}
}
