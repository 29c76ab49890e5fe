package pull_test

import (
	stdsql "database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/klauspost/compress/zstd"

	"dealflow/internal/testkit/world"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestQuarantine mixes unreadable records with good ones for one night. The good ones are committed; a known deal keeps
// its last version and recovers. In the second case the market has moved to another base URL by then, so the links of
// the kept payloads are not relative to the present one.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	for _, moved := range []bool{false, true} {
		t.Run(fmt.Sprintf("moved=%t", moved), func(t *testing.T) {
			w, b := world.NewBook(t)
			both := world.Feeds(world.Priced, world.Expected)
			b.WriteAll(world.Priced, 1, 6, `"message":"A"`)
			b.WriteAll(world.Expected, 1, 2, "")
			w.Night(t, 0, both)
			if moved {
				move(t, w)
			}

			w.Evening(1)
			bad := map[string]string{ // by reason and id
				"duplicate_member 2": `{"dealId":2,"a":{"b":[{"c":1,"c":2}]}}`,
				"duplicate_member 3": `{"dealId":3,"dealId":3}`,
				"invalid_utf8 4":     "{\"dealId\":4,\"message\":\"\xff\xfe\"}",
				"duplicate_member 7": `{"dealId":7,"x":{"y":0,"y":0}}`, // never seen before
				"no_usable_id -":     `{"dealId":"5","message":"text"}`,
				"not_an_object -":    `["dealId",6]`,
			}
			nameless := int64(100)
			for reason, body := range bad {
				var id int64
				if _, err := fmt.Sscanf(reason, "%s %d", new(string), &id); err != nil {
					nameless++
					id = nameless
				}
				b.WriteBody(world.Priced, id, body)
			}
			b.Write(world.Priced, 1, `"message":"changed"`)
			b.Strike(world.Priced, 6) // removed: a record without an id changes nothing for it
			b.Write(world.Priced, 8, "")
			result := w.MustRun(t, both)
			world.WantCounts(t, result, world.Priced, [6]int64{1, 1, 1, 0, 4, int64(len(bad))})
			if got := world.FeedRun(t, result, world.Priced).Deals; got != 6 {
				t.Errorf("deals: got %d, want 6", got)
			}
			if got := quarantined(t, w, world.Priced, result.RunID); !maps.Equal(got, bad) {
				t.Errorf("quarantine:\n got %q\nwant %q", got, bad)
			}
			w.Ask(t, func(db *stdsql.DB) {
				const want = "SELECT deal_id, version, message, self_href FROM "
				rows := []string{
					"1 2 changed /v3/bond/ig/priced-deal/1", "2 1 A /v3/bond/ig/priced-deal/2", "3 1 A /v3/bond/ig/priced-deal/3",
					"4 1 A /v3/bond/ig/priced-deal/4", "5 1 A /v3/bond/ig/priced-deal/5", "8 1 - /v3/bond/ig/priced-deal/8",
				}
				world.WantLines(t, db, want+"snapshots.bond_priced_deals WHERE snapshot_date = '2026-01-06' ORDER BY ALL", rows...)
				world.WantLines(t, db, want+"bond_priced_deals ORDER BY ALL", rows...)
				world.WantAgreement(t, db, world.Priced, world.Expected)
			})

			b.Strike(world.Priced, 101, 102)
			b.WriteAll(world.Priced, 2, 4, `"message":"A"`)
			b.Write(world.Priced, 7, "")
			recovered := w.Night(t, 2, both)
			world.WantCounts(t, recovered, world.Priced, [6]int64{1, 0, 0, 0, 6, 0})
			w.Ask(t, func(db *stdsql.DB) {
				world.WantLines(t, db, world.Versions(world.Priced, 2, 7),
					"2 1 added -", "3 1 added -", "4 1 added -", "5 1 added -", "6 1 added -", "6 2 removed gone", "7 1 added -")
				world.WantLines(t, db, "SELECT run_id, quarantined FROM runs WHERE quarantined > 0", fmt.Sprintf("%s %d", result.RunID, len(bad)))
				world.WantAgreement(t, db, world.Priced, world.Expected)
			})
		})
	}
}

// TestSeveralRecordsOfADeal: a list shows deals twice. A record that can be read is kept, whatever comes before or after it,
// and those that cannot are in quarantine. Of two that can be read, the first on the page is the newer.
func TestSeveralRecordsOfADeal(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	priced := world.Feeds(world.Priced)
	b.WriteAll(world.Priced, 1, 4, `"message":"A"`)
	w.Night(t, 0, priced)

	w.Evening(1)
	bad := map[string]string{}
	write := func(entry, id int64, unreadable bool) {
		body := b.Body(world.Priced, id, fmt.Sprintf(`"message":"entry %d"`, entry))
		if unreadable {
			body = fmt.Sprintf(`{"dealId":%d,"x":{"a":1,"a":2}}`, id)
			bad[fmt.Sprintf("duplicate_member %d", id)] = body
		}
		b.WriteBody(world.Priced, entry, body) // before all others
	}
	write(1, 1, false)
	write(101, 1, true)
	write(2, 2, true)
	write(102, 2, false)
	write(5, 5, false)
	write(105, 5, true)
	write(6, 6, true)
	write(106, 6, false)
	write(7, 7, false)
	write(107, 7, false)
	result := w.MustRun(t, priced)
	world.WantCounts(t, result, world.Priced, [6]int64{3, 2, 0, 0, 2, 4})
	if got := quarantined(t, w, world.Priced, result.RunID); !maps.Equal(got, bad) {
		t.Errorf("quarantine:\n got %q\nwant %q", got, bad)
	}
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, "SELECT deal_id, version, message FROM snapshots.bond_priced_deals WHERE snapshot_date = '2026-01-06' ORDER BY ALL",
			"1 2 entry 1", "2 2 entry 102", "3 1 A", "4 1 A", "5 1 entry 5", "6 1 entry 106", "7 1 entry 107")
		world.WantAgreement(t, db, world.Priced)
	})
	world.WantSound(t, w.Store)
}

// TestOldBytesAfterAMove: the market moves to another base URL, but goes on to write links of the old one. Deals that
// took no part in the first night after that return later, with the bytes that they had before. Their links are other content
// now, as those of all other deals.
func TestOldBytesAfterAMove(t *testing.T) {
	t.Parallel()
	w, b := world.NewBook(t)
	priced := world.Feeds(world.Priced)
	old := w.URL
	write := func(id int64, space string) {
		b.WriteBody(world.Priced, id, fmt.Sprintf(`{"dealId":%d,%s"_links":{"self":{"href":"%s/v3/bond/ig/priced-deal/%d"}}}`, id, space, old, id))
	}
	for id := int64(1); id <= 4; id++ {
		write(id, "")
	}
	w.Night(t, 0, priced)
	b.Strike(world.Priced, 4)
	w.Night(t, 1, priced)
	move(t, w)
	b.WriteBody(world.Priced, 2, `{"dealId":2,"x":{"y":0,"y":0}}`)
	w.Night(t, 2, priced)
	write(2, "")
	write(4, "")
	w.Night(t, 3, priced)
	for id := int64(1); id <= 4; id++ {
		write(id, " ") // equal content
	}
	w.Night(t, 4, priced)
	w.Ask(t, func(db *stdsql.DB) {
		world.WantLines(t, db, world.Versions(world.Priced, 1, 4), "1 1 added -", "1 2 changed -", "2 1 added -", "2 2 changed -", "3 1 added -", "3 2 changed -",
			"4 1 added -", "4 2 removed gone", "4 3 reappeared -")
		world.WantAgreement(t, db, world.Priced)
	})
	world.WantSound(t, w.Store)
}

// move moves the market to another base URL.
func move(t *testing.T, w *world.World) {
	t.Helper()
	old, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	// The request's Host stays that of the new address, which the market puts before its links.
	w.Serve(t, &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = old.Scheme, old.Host
	}})
}

// quarantined returns the records of a feed in quarantine: bytes by reason and id.
func quarantined(t *testing.T, w *world.World, feed api.Feed, runID string) map[string]string {
	t.Helper()
	packed, err := w.Store.Get(t.Context(), lake.QuarantineKey(feed, runID, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	dec, err := zstd.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	found := map[string]string{}
	for lines := json.NewDecoder(dec); ; {
		var line struct {
			Feed, Reason, Raw string
			RunID             string       `json:"run_id"`
			DealID            *int64       `json:"deal_id"`
			RawBase64         string       `json:"raw_base64"`
			ObservedAt        lake.Instant `json:"observed_at"`
		}
		if err := lines.Decode(&line); err == io.EOF {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		if line.Feed != feed.String() || line.RunID != runID || !line.ObservedAt.Equal(w.Clock.Now()) {
			t.Errorf("quarantine line says feed %s, run %s, observed at %s", line.Feed, line.RunID, line.ObservedAt)
		}
		id := "-"
		if line.DealID != nil {
			id = fmt.Sprint(*line.DealID)
		}
		raw, err := base64.StdEncoding.DecodeString(line.RawBase64)
		if err != nil {
			t.Fatal(err)
		}
		found[line.Reason+" "+id] = line.Raw + string(raw)
	}
}
