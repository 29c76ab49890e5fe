package extract

import (
	"fmt"
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
