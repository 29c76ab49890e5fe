package extract

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestSnapshotSettlesByContent: a server that spells its links differently in each answer never returns the same bytes
// twice, and its list is complete nevertheless.
func TestSnapshotSettlesByContent(t *testing.T) {
	for _, feed := range []api.Feed{bondPriced, loanExpected, bondExpected} {
		t.Run(feed.String(), func(t *testing.T) {
			// All in one second, so that a priced list offers no link to sweep from and is walked again completely.
			m := newMarket().fill(feed, 35, 0)
			m.varies = true
			m.now = m.now.Add(time.Minute)
			spool := newSpoolBy(t, feed, recordSum)
			s, err := newClient(t, m.config()).Snapshot(context.Background(), feed, spool)
			if err != nil || s.Deals != 35 || s.Sweeps != 1 {
				t.Fatalf("got %+v, %v", s, err)
			}
			// The bytes of the first reading are kept: the answers were counted from 1 on.
			for _, id := range spool.IDs() {
				payload, err := spool.Payload(id, nil)
				var answer int
				if _, after, ok := strings.Cut(string(payload), "?answer="); ok {
					_, _ = fmt.Sscan(strings.TrimRight(strings.SplitN(after, `"`, 2)[0], `"`), &answer)
				}
				if err != nil || answer < 1 || answer > 35 {
					t.Errorf("deal %d: got %s of answer %d, %v", id, payload, answer, err)
				}
			}

			_, err = newClient(t, m.config()).Snapshot(context.Background(), feed, newSpool(t, feed))
			var unsettled *UnsettledError
			if !errors.As(err, &unsettled) {
				t.Errorf("by its bytes alone the list settled: %v", err)
			}
		})
	}
}

// TestCheckSeesADealThatJumpsAhead: the last sweep finds nothing new, but the first page has another order than before.
// More may have been missed, so the list is swept again.
func TestCheckSeesADealThatJumpsAhead(t *testing.T) {
	for name, jump := range map[string]func(d *deal, now time.Time){
		"with the same content":   func(d *deal, now time.Time) { d.updated = now },
		"with another content":    func(d *deal, now time.Time) { d.updated = now; d.rev++ },
		"in place, newly written": func(d *deal, now time.Time) { d.rev++ },
	} {
		t.Run(name, inVirtualTime(func(t *testing.T) {
			m := newMarket().fill(bondPriced, 35, time.Minute)
			m.varies = true
			m.before = func(r *http.Request) {
				switch n := len(m.requests); n {
				case 4: // within the walk: what the sweeps have pages of
					m.now = m.now.Add(time.Minute)
					for id := range int64(20) {
						m.touch(bondPriced, 1000+id)
					}
				case 9, 10: // token, walk of 4, sweep of 3 with new deals: one without begins; its first page has been read
					m.now = m.now.Add(time.Minute)
					if n == 10 {
						jump(m.deals[bondPriced][1019], m.now)
					}
				}
			}
			s, spool, err := m.snapshot(t, bondPriced)
			if err != nil {
				t.Fatal(err)
			}
			if s.Sweeps < 3 {
				t.Errorf("got %+v, want a third sweep: %v", s, m.requests)
			}
			m.compare(t, bondPriced, spool)
		}))
	}
}

// TestListThatIsNotInOrderOfUpdate: links of such a list would skip later entries, so they are not followed. The list
// is walked until nothing is new, and no link is kept for a sync.
func TestListThatIsNotInOrderOfUpdate(t *testing.T) {
	m := newMarket().fill(bondPriced, 8, time.Minute)
	base := m.base + bondPriced.Path()
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		if r.URL.Query().Has("updatedSince") {
			t.Errorf("a link was followed: %s", r.URL)
		}
		var records []string
		for _, id := range []int64{3, 0, 7, 1, 5, 2, 6, 4} {
			records = append(records, m.record(bondPriced, m.deals[bondPriced][1000+id]))
		}
		half, next := records[:4], fmt.Sprintf(`,"next":{"href":"%s?seeker=4"}`, base)
		if r.URL.Query().Has("seeker") {
			half, next = records[4:], ""
		}
		fmt.Fprintf(w, `{"_embedded":{"pricedDeals":[%s]},"_links":{"first":{"href":"%s"}%s}}`, strings.Join(half, ","), base, next)
		return true
	}
	s, _, err := m.snapshot(t, bondPriced)
	if err != nil || s.Deals != 8 || s.UpdatedSince != "" || s.Sweeps != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestSpoolComparesContent(t *testing.T) {
	asked := 0
	s := newSpoolBy(t, bondPriced, func(payload []byte) (lake.Digest, error) {
		asked++
		return sha256.Sum256(bytes.ToLower(payload)), nil
	})
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for i, test := range []struct {
		payload string
		fresh   bool
		keeps   string
		asked   int
	}{
		{"abc", true, "abc", 0},
		{"abc", false, "abc", 0}, // equal bytes are not compared further
		{"ABC", false, "abc", 2},
		{"abcd", true, "abcd", 4},
		{"ABC", true, "ABC", 6}, // back again is a change
		{"abc", false, "ABC", 8},
	} {
		since := fmt.Sprintf("/l?updatedSince=2026-03-01T10:00:0%dZ", i)
		fresh, err := s.Put(api.RecordID{ID: 7, HasID: true, UpdatedSince: since}, []byte(test.payload), at.Add(time.Duration(i)*time.Hour))
		got, readErr := s.Payload(7, nil)
		if err != nil || readErr != nil || fresh != test.fresh || string(got) != test.keeps || asked != test.asked {
			t.Errorf("%d: fresh %v, kept %s, %d payloads hashed, %v, %v", i, fresh, got, asked, err, readErr)
		}
		if e, _ := s.Entry(7); fresh != e.ObservedAt.Equal(at.Add(time.Duration(i)*time.Hour)) || fresh != (e.UpdatedSince == since) {
			t.Errorf("%d: fresh %v, but observed at %s under %s", i, fresh, e.ObservedAt, e.UpdatedSince)
		}
	}
	if _, err := s.Put(api.RecordID{ID: 8, HasID: true}, []byte("abc"), at); err != nil || asked != 8 {
		t.Errorf("another deal was compared: %v", err)
	}
}

// TestRejectsSettle: an unreadable record whose links vary is new once.
func TestRejectsSettle(t *testing.T) {
	s := newSpool(t, bondPriced)
	put := func(id int64, hasID bool, reason api.RejectReason, raw string, want bool) {
		t.Helper()
		fresh, err := s.PutReject(Rejected{Raw: []byte(raw), Reject: &api.Reject{Reason: reason}, ID: id, HasID: hasID})
		if err != nil || fresh != want {
			t.Errorf("%s: fresh %v, %v", raw, fresh, err)
		}
	}
	put(7, true, api.RejectInvalidUTF8, "a", true)
	put(7, true, api.RejectInvalidUTF8, "b", false)
	put(7, true, api.RejectDuplicateMember, "c", true)
	put(8, true, api.RejectInvalidUTF8, "b", true)
	put(0, false, api.RejectNoID, "d", true)
	put(0, false, api.RejectNoID, "e", true)
	put(0, false, api.RejectNoID, "d", false)
	var raws []string
	for _, r := range s.Rejects() {
		raws = append(raws, string(r.Raw))
	}
	if want := []string{"d", "e", "b", "c", "b"}; !slices.Equal(raws, want) {
		t.Errorf("kept %v, want %v: the latest of each deal and reason", raws, want)
	}
	if s.rejectBytes != 5 {
		t.Errorf("%d bytes counted, want 5", s.rejectBytes)
	}
}

// TestPutFailsWhereTheFileCannotBeRead: contents cannot be compared, so Put fails.
func TestPutFailsWhereTheFileCannotBeRead(t *testing.T) {
	s, err := NewSpool(t.TempDir(), bondPriced, recordSum)
	if err != nil {
		t.Fatal(err)
	}
	head := api.RecordID{ID: 7, HasID: true}
	if _, err := s.Put(head, []byte("abc"), time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Payload(7, nil); err != nil { // it is in the file now
		t.Fatal(err)
	}
	if err := os.Truncate(s.file.Name(), 1); err != nil {
		t.Fatal(err)
	}
	if fresh, err := s.Put(head, []byte("ABC"), time.Now()); err == nil || fresh || !strings.Contains(err.Error(), s.file.Name()) {
		t.Errorf("got %v, %v", fresh, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestNamelessRecordThatIsRespelt puts a record without a readable id among the deals of lists of several pages. The
// server spells it differently in each answer. The lists still become complete, and the record is rejected.
func TestNamelessRecordThatIsRespelt(t *testing.T) {
	for _, feed := range []api.Feed{bondPriced, bondExpected, loanExpected} {
		t.Run(feed.String(), func(t *testing.T) {
			m := newMarket().fill(feed, 25, time.Minute)
			m.now = m.now.Add(time.Minute)
			answers := 0
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
					return false
				}
				answers++
				recorder := httptest.NewRecorder()
				m.get(recorder, r, strings.TrimPrefix(r.URL.Path, "/flow"))
				nameless := fmt.Sprintf(`[{"%s":"none","_links":{"self":{"href":"%s/nowhere?answer=%d"}}},`, feed.IDKey(), m.base, answers)
				fmt.Fprint(w, strings.Replace(recorder.Body.String(), "[", nameless, 1))
				return true
			}
			s, spool, err := m.snapshot(t, feed)
			if err != nil {
				t.Fatal(err)
			}
			if s.Deals != 25 || s.Sweeps != 1 || len(spool.Rejects()) == 0 {
				t.Errorf("got %+v, want 25 deals after a walk and a sweep, and the record", s)
			}
			for _, r := range spool.Rejects() {
				if r.HasID || !strings.Contains(string(r.Raw), `"none"`) {
					t.Errorf("%s was set aside", r.Raw)
				}
			}
			m.compare(t, feed, spool)
		})
	}
}

// TestListOfNamelessRecords sweeps a list of several pages without any deal, too: a deal may have moved to the front.
func TestListOfNamelessRecords(t *testing.T) {
	m := newMarket().fill(bondPriced, 25, time.Minute)
	m.now = m.now.Add(time.Minute)
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		recorder := httptest.NewRecorder()
		m.get(recorder, r, strings.TrimPrefix(r.URL.Path, "/flow"))
		fmt.Fprint(w, strings.ReplaceAll(recorder.Body.String(), `{"dealId":`, `{"noId":`))
		return true
	}
	s, spool, err := m.snapshot(t, bondPriced)
	if err != nil {
		t.Fatal(err)
	}
	if s.Deals != 0 || s.Sweeps != 1 || len(spool.Rejects()) != 25 {
		t.Errorf("got %+v, want no deal, 25 records, a walk and a sweep", s)
	}
}

// TestSweepThatIsNotInOrderOfUpdate reads a list whose sweep is not in order of update. The kept link is not used
// again, the list is walked, and no link is kept for a sync.
func TestSweepThatIsNotInOrderOfUpdate(t *testing.T) {
	m := newMarket().fill(bondPriced, 12, time.Minute)
	m.now = m.now.Add(time.Minute)
	var rounds []string
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		if query := r.URL.Query(); !query.Has("seeker") {
			rounds = append(rounds, map[bool]string{true: "sweep", false: "walk"}[query.Has("updatedSince")])
		}
		if rounds[len(rounds)-1] == "walk" && len(rounds) == 1 {
			return false
		}
		var records []string
		for _, id := range []int64{1003, 1011, 1000} {
			records = append(records, m.record(bondPriced, m.deals[bondPriced][id]))
		}
		fmt.Fprintf(w, `{"_embedded":{"pricedDeals":[%s]},"_links":{"first":{"href":"%s"}}}`, strings.Join(records, ","), m.base+bondPriced.Path())
		return true
	}
	s, _, err := m.snapshot(t, bondPriced)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(rounds, " "); s.UpdatedSince != "" || got != "walk sweep" {
		t.Errorf("kept %q after %s, want nothing after a walk and a sweep", s.UpdatedSince, got)
	}
	m.requests, rounds = nil, []string{"walk"}
	changes, _, err := m.changes(t, bondPriced, bondPriced.Path()+"?updatedSince=2026-03-02T09:00:00Z")
	if err != nil || changes.UpdatedSince != "" {
		t.Errorf("changes: kept %q, %v, want nothing", changes.UpdatedSince, err)
	}
}

// TestOrderIsOfOnePage reads a list whose second page begins with a newer entry than the first one ended with. The list
// may have changed between the two, so it still counts as in order of update.
func TestOrderIsOfOnePage(t *testing.T) {
	m := newMarket().fill(bondPriced, 12, time.Minute)
	m.now = m.now.Add(time.Minute)
	m.instead = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || r.URL.Query().Has("updatedSince") {
			return false
		}
		ids, next := []int64{1011, 1010, 1003}, fmt.Sprintf(`,"next":{"href":"%s%s?seeker=x"}`, m.base, bondPriced.Path())
		if r.URL.Query().Has("seeker") {
			ids, next = []int64{1009, 1008, 1007, 1006, 1005, 1004, 1002, 1001, 1000}, ""
		}
		var records []string
		for _, id := range ids {
			records = append(records, m.record(bondPriced, m.deals[bondPriced][id]))
		}
		fmt.Fprintf(w, `{"_embedded":{"pricedDeals":[%s]},"_links":{"first":{"href":"%s%s"}%s}}`, strings.Join(records, ","), m.base, bondPriced.Path(), next)
		return true
	}
	s, _, err := m.snapshot(t, bondPriced)
	if err != nil || s.UpdatedSince == "" || m.seen("updatedSince") == 0 || s.Deals != 12 {
		t.Errorf("got %+v, %v, want its links followed", s, err)
	}
}
