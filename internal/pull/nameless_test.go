package pull_test

import (
	"bytes"
	"context"
	stdsql "database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dealflow/internal/pull"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/lake"
	"dealflow/serve"
)

// respelt is a book whose server spells some records differently in each answer.
type respelt struct {
	*world.Book
	answers atomic.Int64
}

// List implements serve.Source.
func (r *respelt) List(ctx context.Context, q serve.Query) (serve.Page, error) {
	page, err := r.Book.List(ctx, q)
	for i := range page.Records {
		page.Records[i].Body = bytes.ReplaceAll(page.Records[i].Body, []byte("SPELT"), fmt.Append(nil, r.answers.Add(1)))
	}
	return page, err
}

// TestNamelessRecordThatIsRespelt puts a record without a readable id into lists of several pages. The server spells it
// differently in each answer. Runs and syncs continue with the other deals. The record changes nothing for deals that
// left the list: by id the API says that they are gone. The record is kept with its bytes as received.
func TestNamelessRecordThatIsRespelt(t *testing.T) {
	t.Parallel()
	books, b := world.NewBook(t)
	w := world.Of(t, books.Clock, &respelt{Book: b})
	w.Pages = 4
	both := world.Feeds(world.Priced, world.Expected)
	b.WriteAll(world.Priced, 1, 9, `"message":"A"`)
	b.WriteAll(world.Expected, 1, 9, "")
	w.Night(t, 0, both)

	w.Clock.Set(world.Epoch.AddDate(0, 0, 1).Add(20 * time.Hour))
	b.WriteBody(world.Priced, 100, `{"dealId":"none","_links":{"self":{"href":"/nowhere?answer=SPELT"}}}`)
	b.WriteBody(world.Expected, 100, `{"id":null,"_links":{"self":{"href":"/nowhere?answer=SPELT"}}}`)
	b.Strike(world.Priced, 3)
	b.Strike(world.Expected, 3)
	b.Write(world.Priced, 4, `"message":"B"`)
	w.Evening(1)
	result := w.MustRun(t, both)
	if f := world.FeedRun(t, result, world.Priced); f.Changed != 1 || f.Removed != 1 || f.Quarantined == 0 || f.Deals != 8 {
		t.Errorf("priced: %d changed, %d removed, %d in quarantine, %d deals; want 1, 1, some, 8", f.Changed, f.Removed, f.Quarantined, f.Deals)
	}
	if f := world.FeedRun(t, result, world.Expected); f.Removed != 1 || f.Quarantined == 0 || f.Deals != 8 {
		t.Errorf("expected: %d removed, %d in quarantine, %d deals; want 1, some, 8", f.Removed, f.Quarantined, f.Deals)
	}

	wantNameless := func(run string) {
		t.Helper()
		for reason, raw := range quarantined(t, w, world.Expected, run) {
			if reason != "no_usable_id -" || !strings.Contains(raw, `/nowhere?answer=`) {
				t.Errorf("put aside as %s: %s", reason, raw)
			}
		}
	}
	wantNameless(result.RunID)

	w.Clock.Set(world.Epoch.AddDate(0, 0, 2).Add(9 * time.Hour))
	b.Write(world.Priced, 5, `"message":"C"`)
	cfg := w.Config(t)
	both(&cfg)
	synced, err := pull.Sync(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if f := world.FeedRun(t, synced, world.Priced); f.Changed != 1 || f.Removed != 0 {
		t.Errorf("sync: %d changed, %d removed; want 1, 0", f.Changed, f.Removed)
	}
	wantNameless(synced.RunID)

	b.Strike(world.Priced, 100)
	b.Strike(world.Expected, 100)
	last := w.Night(t, 3, both)
	for _, f := range []lake.FeedRun{world.FeedRun(t, last, world.Priced), world.FeedRun(t, last, world.Expected)} {
		if f.Removed != 0 || f.Quarantined != 0 || f.Deals != 8 {
			t.Errorf("%s: %d removed, %d in quarantine, %d deals; want 0, 0, 8", f.Feed, f.Removed, f.Quarantined, f.Deals)
		}
	}
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, world.Versions(world.Priced, 3, 5), "3 1 added -", "3 2 removed gone", "4 1 added -", "4 2 changed -", "5 1 added -", "5 2 changed -")
		world.WantAgreement(t, db, world.Priced, world.Expected)
	})
}
