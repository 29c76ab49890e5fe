package pipeline_test

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dealflow/internal/pipeline"
	"dealflow/schemas/lake"
	"dealflow/serve"
)

// respelt is a book whose server spells some records anew in each answer.
type respelt struct {
	*book
	answers atomic.Int64
}

// List implements serve.Source.
func (r *respelt) List(ctx context.Context, q serve.Query) (serve.Page, error) {
	page, err := r.book.List(ctx, q)
	for i := range page.Records {
		page.Records[i].Body = bytes.ReplaceAll(page.Records[i].Body, []byte("SPELT"), fmt.Append(nil, r.answers.Add(1)))
	}
	return page, err
}

// TestNamelessRecordThatIsRespelt has a record without a readable id in lists of several pages, which the server spells
// anew in each answer. Runs and syncs go on with the other deals; nothing is removed, as any deal may be that record;
// and it is kept with its bytes, as received. When it is gone, removals are found again.
func TestNamelessRecordThatIsRespelt(t *testing.T) {
	t.Parallel()
	_, b := newBook(t)
	w := worldOf(t, b.clock, &respelt{book: b})
	w.pages = 4
	both := feeds(priced, expected)
	b.writeAll(priced, 1, 9, `"message":"A"`)
	b.writeAll(expected, 1, 9, "")
	w.night(t, 0, both)

	w.clock.Set(epoch.AddDate(0, 0, 1).Add(20 * time.Hour))
	b.writeBody(priced, 100, `{"dealId":"none","_links":{"self":{"href":"/nowhere?answer=SPELT"}}}`)
	b.writeBody(expected, 100, `{"id":null,"_links":{"self":{"href":"/nowhere?answer=SPELT"}}}`)
	b.strike(priced, 3)
	b.strike(expected, 3)
	b.write(priced, 4, `"message":"B"`)
	w.evening(1)
	result := w.mustRun(t, both)
	if f := feedRun(t, result, priced); f.Changed != 1 || f.Removed != 0 || f.Quarantined == 0 || f.Deals != 9 {
		t.Errorf("priced: %d changed, %d removed, %d in quarantine, %d deals; want 1, 0, some, 9", f.Changed, f.Removed, f.Quarantined, f.Deals)
	}
	if f := feedRun(t, result, expected); f.Removed != 0 || f.Quarantined == 0 || f.Deals != 9 {
		t.Errorf("expected: %d removed, %d in quarantine, %d deals; want 0, some, 9", f.Removed, f.Quarantined, f.Deals)
	}

	wantNameless := func(run string) {
		t.Helper()
		for reason, raw := range w.quarantined(t, expected, run) {
			if reason != "no_usable_id -" || !strings.Contains(raw, `/nowhere?answer=`) {
				t.Errorf("put aside as %s: %s", reason, raw)
			}
		}
	}
	wantNameless(result.RunID)

	w.clock.Set(epoch.AddDate(0, 0, 2).Add(9 * time.Hour))
	b.write(priced, 5, `"message":"C"`)
	cfg := w.config(t)
	both(&cfg)
	synced, err := pipeline.Sync(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if f := feedRun(t, synced, priced); f.Changed != 1 || f.Removed != 0 {
		t.Errorf("sync: %d changed, %d removed; want 1, 0", f.Changed, f.Removed)
	}
	wantNameless(synced.RunID)

	b.strike(priced, 100)
	b.strike(expected, 100)
	last := w.night(t, 3, both)
	for _, f := range []lake.FeedRun{feedRun(t, last, priced), feedRun(t, last, expected)} {
		if f.Removed != 1 || f.Quarantined != 0 || f.Deals != 8 {
			t.Errorf("%s: %d removed, %d in quarantine, %d deals; want 1, 0, 8", f.Feed, f.Removed, f.Quarantined, f.Deals)
		}
	}
	w.ask(t, func(db *stdsql.DB) {
		wantLines(t, db, versions(priced, 3, 5), "3 1 added -", "3 2 removed gone", "4 1 added -", "4 2 changed -", "5 1 added -", "5 2 changed -")
		wantAgreement(t, db, priced, expected)
	})
}
