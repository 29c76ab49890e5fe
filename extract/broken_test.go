package extract

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"
)

// TestBrokenRecords: a record that is no JSON or no UTF-8 inside a page may have been damaged on the way, so the page is
// requested again. Broken twice in the same way, it is the API's own, and is quarantined.
func TestBrokenRecords(t *testing.T) {
	spoil := func(record, with string) string { return strings.Replace(record, `"rev":`, `"rev":`+with, 1) }
	for name, c := range map[string]struct {
		damage   func(answer int, record string) string // of deal 1005, in the nth page that shows it
		attempts int                                    // 0: the default
		pages    int                                    // requests for that page in one walk
		rejected int
	}{
		"on the way, once":  {damage: func(n int, r string) string { return spoil(r, strings.Repeat("\x00<", 1-min(n, 1))) }, pages: 2},
		"on the way, twice": {damage: func(n int, r string) string { return spoil(r, strings.Repeat("<", 2-min(n, 2))) }, pages: 3},
		"its UTF-8 on the way": {damage: func(n int, r string) string {
			return strings.Replace(r, "{", "{"+strings.Repeat("\"\xff\":1,", 1-min(n, 1)), 1)
		}, pages: 2},
		"at the API":                 {damage: func(_ int, r string) string { return spoil(r, "<") }, pages: 2, rejected: 1},
		"at the API, one attempt":    {damage: func(_ int, r string) string { return spoil(r, "<") }, attempts: 1, pages: 2, rejected: 1},
		"differently in each answer": {damage: func(n int, r string) string { return spoil(r, fmt.Sprint(n, "<")) }, pages: 3, rejected: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket().fill(loanExpected, 15, 0)
			shown := 0
			m.damage = func(id int64, record string) string {
				if id != 1005 {
					return record
				}
				shown++
				return c.damage(shown-1, record)
			}
			config := m.config()
			config.MaxAttempts = c.attempts
			j := newClient(t, config).job(loanExpected, "test")
			j.spool = newSpool(t, loanExpected)
			walk, err := j.scan(t.Context(), j.list())
			if err != nil {
				t.Fatal(err)
			}
			if shown != c.pages || j.spool.Len() != 15-c.rejected || len(j.spool.Rejects()) != c.rejected || walk.pages != 2 {
				t.Errorf("the page was sent %d times, %d deals, %d rejected, %d pages; want %d, %d, %d, 2",
					shown, j.spool.Len(), len(j.spool.Rejects()), walk.pages, c.pages, 15-c.rejected, c.rejected)
			}
			if got := j.tally.pages.Load(); got != 2 {
				t.Errorf("got %d pages counted, want 2", got)
			}
		})
	}
}

// TestBrokenByID: an answer by id that is no JSON may have been damaged on the way, so the deal is requested again. If it looks
// complete and is the same twice, it is the API's own: the deal exists, is quarantined, and the feed goes on.
func TestBrokenByID(t *testing.T) {
	const ends = `,"note":"said "no""}`
	for name, c := range map[string]struct {
		body     func(answer int) string
		asked    int
		rejected int
		fails    bool
	}{
		"id before the fault": {func(int) string { return `{"bondPricedDealId":7` + ends }, 2, 1, false},
		"id after the fault":  {func(int) string { return `{"note":"said "no"","bondPricedDealId":7}` }, 2, 1, false},
		"on the way":          {func(n int) string { return []string{`{"bondPricedDealId":7` + ends, ""}[n] }, 2, 0, false},
		"cut off":             {func(int) string { return `{"bondPricedDealId":7,"note":"sa` }, 3, 0, true},
		"other each time":     {func(n int) string { return fmt.Sprintf(`{"bondPricedDealId":7,"n":%d`, n) + ends }, 3, 0, true},
		"another deal":        {func(int) string { return `{"bondPricedDealId":8` + ends }, 3, 0, true},
		"a page of a proxy":   {func(int) string { return htmlBody }, 3, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMarket().fill(bondPriced, 3, 0)
			asked := 0
			m.instead = func(w http.ResponseWriter, r *http.Request) bool {
				if path.Base(r.URL.Path) != "7" {
					return false
				}
				body := c.body(asked)
				if asked++; body == "" {
					body = m.record(bondPriced, &deal{id: 7})
				}
				fmt.Fprint(w, strings.Replace(body, "bondPricedDealId", bondPriced.IDKey(), 1))
				return true
			}
			config := m.config()
			config.MaxAttempts = 3
			spool := newSpool(t, bondPriced)
			confirmed, err := newClient(t, config).Confirm(t.Context(), bondPriced, Question{IDs: []int64{7}, Shown: shown(1000)}, spool)
			if (err != nil) != c.fails || asked != c.asked || len(spool.Rejects()) != c.rejected {
				t.Fatalf("asked %d times, %d rejected, %v; want %d, %d, an error: %t", asked, len(spool.Rejects()), err, c.asked, c.rejected, c.fails)
			}
			if !c.fails && confirmed.Answers[7].Says != Present {
				t.Errorf("the deal is %q, want that it exists", confirmed.Answers[7].Says)
			}
			for _, q := range spool.Rejects() {
				if q.ID != 7 || !q.HasID {
					t.Errorf("rejected is deal %d (%t), want 7", q.ID, q.HasID)
				}
			}
		})
	}
}
