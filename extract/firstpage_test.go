package extract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dealflow/schemas/api"
)

// jump moves a deal to the front of its list, now. With a new revision it says something else there.
func (m *market) jump(feed api.Feed, id int64, revised bool) {
	d := m.deals[feed][id]
	d.updated = m.now
	if revised {
		d.rev++
	}
}

// TestFirstPageIsReadAgain changes a deal while a sweep of several pages reads past it, so that nothing on these pages
// is new. The sweep's first page, read once more, shows another list: new content, other deals, or other instants of
// the same deals, as docs/explanation/extraction.md says. So it is swept again, and the deal is found.
func TestFirstPageIsReadAgain(t *testing.T) {
	const missed = 1005 // on the second page of the sweep
	for name, change := range map[string]func(*market){
		"with news on it": func(m *market) {},
		"with other deals on it, that say what they said": func(m *market) {
			for _, id := range []int64{1000, 1001, 1002, 1003, 1004, 1006, 1007, 1008, 1009, 1010} {
				m.jump(bondPriced, id, false)
			}
		},
		"with the same deals on it in another order": func(m *market) {
			for id := int64(1019); id >= 1010; id-- {
				m.jump(bondPriced, id, false)
				m.now = m.now.Add(time.Minute)
			}
		},
		"with the same deals on it in the same order, at other instants": func(m *market) {
			for id := int64(1010); id <= 1019; id++ {
				m.jump(bondPriced, id, false)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket().fill(bondPriced, 35, time.Minute)
			m.varies = true // so that a deal that only moves has its old content
			sweeps := 0
			changed := false
			m.before = func(r *http.Request) {
				query := r.URL.Query()
				switch {
				case query.Has("updatedSince") && !query.Has("seeker"):
					sweeps++
				case sweeps == 0 && query.Has("seeker") && m.deals[bondPriced][1000].rev == 1:
					for id := range int64(20) { // during the walk: the sweeps have several pages
						m.touch(bondPriced, 1000+id)
					}
					m.now = m.now.Add(time.Minute)
				case sweeps == 2 && query.Has("seeker") && !changed:
					changed = true
					m.jump(bondPriced, missed, true)
					m.now = m.now.Add(time.Minute)
					change(m)
					m.now = m.now.Add(time.Minute)
				}
			}
			_, spool, err := m.snapshot(t, bondPriced)
			if err != nil {
				t.Fatal(err)
			}
			if !changed {
				t.Fatalf("no second sweep had several pages: %q", m.requests)
			}
			m.compare(t, bondPriced, spool)
		})
	}
}

// TestFirstPageOfAnUnorderedList changes a deal on the first page after a walk without new deals has read that page.
// The first page is read again, and the list is walked once more.
func TestFirstPageOfAnUnorderedList(t *testing.T) {
	m := newMarket().fill(bondExpected, 25, time.Minute)
	walks := 0
	m.before = func(r *http.Request) {
		if !r.URL.Query().Has("seeker") {
			walks++
		} else if d := m.deals[bondExpected][1003]; walks == 2 && d.rev == 1 {
			m.touch(bondExpected, d.id)
		}
	}
	s, spool, err := m.snapshot(t, bondExpected)
	if err != nil {
		t.Fatal(err)
	}
	m.compare(t, bondExpected, spool)
	if m.deals[bondExpected][1003].rev != 2 || s.Sweeps != 2 {
		t.Errorf("got %+v, want a third walk", s)
	}
}

// TestFirstPageThatIsTheSame reads the first page of a sweep of several pages once more, and nothing else: the list has
// not changed.
func TestFirstPageThatIsTheSame(t *testing.T) {
	m := newMarket().fill(bondPriced, 12, 0)
	m.touch(bondPriced, 999)
	m.now = m.now.Add(time.Minute)
	m.deals[bondPriced][999].updated = m.now.Add(-time.Hour) // its link is kept, and gives all deals
	s, _, err := m.snapshot(t, bondPriced)
	if err != nil {
		t.Fatal(err)
	}
	if s.Pages != 2+2+1 || s.Sweeps != 1 {
		t.Errorf("got %+v, want a walk, a sweep, and its first page: %q", s, m.requests)
	}
}

// TestFirstPageWithinItsSecond moves a deal to the front within the second in which a sweep's first page was answered.
// That is also the second of its newest entry. Instants are whole seconds, so the first page proves nothing until that
// second is over.
func TestFirstPageWithinItsSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m := newMarket().fill(bondPriced, 35, time.Minute)
		sweeps := 0
		m.before = func(r *http.Request) {
			query := r.URL.Query()
			switch {
			case query.Has("updatedSince") && !query.Has("seeker"):
				sweeps++
			case sweeps == 0 && query.Has("seeker") && m.deals[bondPriced][1000].rev == 1:
				for id := range int64(20) {
					m.touch(bondPriced, 1000+id) // now: the newest entries are of the answers' own second
				}
			}
		}
		s, spool, err := m.snapshot(t, bondPriced)
		if err != nil {
			t.Fatal(err)
		}
		m.compare(t, bondPriced, spool)
		// Sweep 1 has new deals; sweep 2 has none, but is in the newest entry's second; sweep 3 follows a second later.
		if s.Sweeps != 3 {
			t.Errorf("got %+v, want 3 sweeps: %q", s, m.requests)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("it took %s, want the second that has to pass", took)
		}
	})
}

// TestSpoolOfAnotherFeed refuses to read a feed into the spool of another.
func TestSpoolOfAnotherFeed(t *testing.T) {
	m := newMarket().fill(bondPriced, 3, time.Minute)
	spool := newSpool(t, bondExpected)
	client := newClient(t, m.config())
	if _, err := client.Snapshot(t.Context(), bondPriced, spool); err == nil || spool.Len() != 0 || m.seen("GET") != 0 {
		t.Errorf("snapshot: got %v, %d deals, %d requests", err, spool.Len(), m.seen("GET"))
	}
	if _, err := client.Changes(t.Context(), bondPriced, "", spool); err == nil || spool.Len() != 0 || m.seen("GET") != 0 {
		t.Errorf("changes: got %v, %d deals, %d requests", err, spool.Len(), m.seen("GET"))
	}
}

// TestKeptLinkMargin keeps the updatedSince link of the newest entry that is at least 2 seconds older than the first one.
func TestKeptLinkMargin(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 3, 2, 9, 0, 10, 0, time.UTC)
	for name, c := range map[string]struct {
		ages  []time.Duration // of the entries, before first
		dated time.Duration   // of the answer, after first
		want  int             // the entry whose link is kept; -1: none
	}{
		"1.999 s":                             {[]time.Duration{0, 1999 * time.Millisecond}, time.Minute, -1},
		"2 s":                                 {[]time.Duration{0, 2 * time.Second}, time.Minute, 1},
		"2.001 s":                             {[]time.Duration{0, 2001 * time.Millisecond}, time.Minute, 1},
		"1 s":                                 {[]time.Duration{0, time.Second}, time.Minute, -1},
		"same second":                         {[]time.Duration{0, 0, 0}, time.Minute, -1},
		"same second, then 2 s":               {[]time.Duration{0, 0, 2 * time.Second}, time.Minute, 2},
		"1.999 s, then 2 s, then more":        {[]time.Duration{0, 1999 * time.Millisecond, 2 * time.Second, time.Hour}, time.Minute, 2},
		"two of the same second: the first":   {[]time.Duration{0, 2 * time.Second, 2 * time.Second}, time.Minute, 1},
		"one entry":                           {[]time.Duration{0}, time.Minute, -1},
		"none":                                {nil, time.Minute, -1},
		"the first is of the answer's second": {[]time.Duration{0, 2 * time.Second}, 0, 1},
		"the first is later than the answer":  {[]time.Duration{0, 2 * time.Second, 3 * time.Second}, -time.Second, -1},
		"later than the answer, the second is 2s": {[]time.Duration{0, 2 * time.Second, 4 * time.Second}, -time.Second, 2},
		"rises by 2 s":     {[]time.Duration{10 * time.Second, 8 * time.Second, 12 * time.Second}, time.Minute, 2},
		"rises by 2.001 s": {[]time.Duration{10 * time.Second, 7999 * time.Millisecond, 12 * time.Second}, time.Minute, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMarket()
			m.now = first.Add(c.dated)
			href := func(i int) string {
				return bondPriced.Path() + "?updatedSince=" + first.Add(-c.ages[i]).Format("2006-01-02T15:04:05.999Z")
			}
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
					return false
				}
				var records []string
				for i := range c.ages {
					records = append(records, fmt.Sprintf(`{"dealId":%d,"_links":{"updatedSince":{"href":"%s%s"}}}`, i+1, m.base, href(i)))
				}
				fmt.Fprintf(w, `{"_embedded":{"pricedDeals":[%s]},"_links":{"first":{"href":"%s%s"}}}`, strings.Join(records, ","), m.base, bondPriced.Path())
				return true
			}
			s, _, err := m.snapshot(t, bondPriced)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			if c.want >= 0 {
				want = href(c.want)
			}
			if s.UpdatedSince != want || s.Deals != len(c.ages) {
				t.Errorf("kept %q of %d deals, want %q of %d", s.UpdatedSince, s.Deals, want, len(c.ages))
			}
		})
	}
}

// TestKeptLinkFindsALateUpdate makes an update visible two seconds after its instant, which is the allowed maximum. A
// sweep from the kept link finds it, whether the server's updatedSince excludes its own second or not.
func TestKeptLinkFindsALateUpdate(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{false, true} {
		m := newMarket().fill(bondPriced, 25, time.Second)
		m.strict = strict
		newest := m.deals[bondPriced][1024].updated
		m.now = newest.Add(3 * time.Second)
		late := true
		m.before = func(r *http.Request) {
			if late && r.URL.Query().Has("seeker") {
				late = false
				m.touch(bondPriced, 1002)
				m.deals[bondPriced][1002].updated = newest.Add(-time.Second) // later than the kept link, by a second
			}
		}
		_, spool, err := m.snapshot(t, bondPriced)
		if err != nil {
			t.Fatal(err)
		}
		m.compare(t, bondPriced, spool)
	}
}

// TestFirstPageOfOtherDeals moves deals to the front that become visible a second after their instants. The first page
// has the same instants as before, but of other deals, and the deal with new content is on the second page.
func TestFirstPageOfOtherDeals(t *testing.T) {
	m := newMarket().fill(bondPriced, 40, time.Minute)
	m.varies = true
	sweeps := 0
	var newest time.Time
	m.before = func(r *http.Request) {
		query := r.URL.Query()
		switch {
		case query.Has("updatedSince") && !query.Has("seeker"):
			sweeps++
		case sweeps == 0 && query.Has("seeker") && newest.IsZero():
			for id := range int64(20) {
				m.touch(bondPriced, 1010+id)
			}
			m.now = m.now.Add(5 * time.Second)
			for id := range int64(10) {
				m.touch(bondPriced, 1000+id)
			}
			newest = m.now
			m.now = m.now.Add(time.Second)
		case sweeps == 2 && query.Has("seeker") && m.deals[bondPriced][1015].rev == 2:
			m.deals[bondPriced][1015].rev++
			for _, id := range []int64{1015, 1020, 1021, 1022, 1023, 1024, 1025, 1026, 1027, 1028, 1029} {
				m.deals[bondPriced][id].updated = newest
			}
		}
	}
	_, spool, err := m.snapshot(t, bondPriced)
	if err != nil {
		t.Fatal(err)
	}
	if m.deals[bondPriced][1015].rev != 3 {
		t.Fatalf("no second sweep had several pages: %q", m.requests)
	}
	m.compare(t, bondPriced, spool)
}

// TestLastObservedIsTheLatest sets the server's clock back between two rounds. LastObserved is the latest instant of
// observation, because a commit must be later than that.
func TestLastObservedIsTheLatest(t *testing.T) {
	m := newMarket().fill(bondPriced, 25, time.Minute)
	ahead := m.now.Add(time.Hour)
	back := m.now
	m.now = ahead
	m.before = func(r *http.Request) {
		if r.URL.Query().Has("seeker") && m.now.Equal(ahead) {
			m.now = back // from the answer after this one on
		}
	}
	s, _, err := m.snapshot(t, bondPriced)
	if err != nil {
		t.Fatal(err)
	}
	if !s.LastObserved.Equal(ahead) {
		t.Errorf("last observed at %s, want %s", s.LastObserved, ahead)
	}
	if s.Pages < 4 || m.dated.After(back) {
		t.Errorf("%+v: the clock never went back: nothing was tried", s)
	}
}
