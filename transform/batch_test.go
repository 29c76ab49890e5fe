package transform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// readDeals reads payloads into batches, all as version 3.
func readDeals(t *testing.T, f *transform.Flattener, batches *transform.Batches, payloads ...string) {
	t.Helper()
	for _, payload := range payloads {
		id, err := f.Read([]byte(payload))
		if err != nil {
			t.Fatalf("%s: %v", payload, err)
		}
		batches.Append(f, id, 3)
	}
}

// takeRows takes a table's rows and returns them as text.
func takeRows(batches *transform.Batches, table int) (lake.Batch, string) {
	batch := batches.Take(table)
	defer batch.Record.Release()
	return batch, strings.Join(testkit.Rows(batch.Record), "\n")
}

const (
	pricedWithBanks = `{"dealId":5,"banks":[{"name":"A"},{"name":"B"}]}`
	pricedAlone     = `{"dealId":9}`
)

func TestSnapshotBatches(t *testing.T) {
	feed := mustFeed(t, "bond/hy/priced")
	f := transform.NewFlattener(feed, mustBase(t, samplesBase))
	batches, err := transform.NewSnapshotBatches(testkit.Allocator(t), feed, "2026-11-20")
	if err != nil {
		t.Fatal(err)
	}
	defer batches.Release()
	readDeals(t, f, batches, pricedWithBanks, pricedAlone)
	if got := [2]int{batches.Rows(0), batches.Rows(1)}; got != [2]int{2, 2} {
		t.Errorf("got %v deals and banks, want 2 of each", got)
	}
	if batches.Bytes(0) == 0 || batches.Bytes(1) == 0 || batches.Bytes(2) != 0 {
		t.Errorf("got %d, %d and %d bytes, want some, some and none", batches.Bytes(0), batches.Bytes(1), batches.Bytes(2))
	}
	banks, got := takeRows(batches, 1)
	want := `{"market":"HY","deal_id":5,"version":3,"ordinal":1,"name":"A","status":null,"snapshot_date":"2026-11-20"}
{"market":"HY","deal_id":5,"version":3,"ordinal":2,"name":"B","status":null,"snapshot_date":"2026-11-20"}`
	if got != want || banks.MinDealID != 5 || banks.MaxDealID != 5 {
		t.Errorf("got deals %d to %d\n%s\nwant deals 5 to 5\n%s", banks.MinDealID, banks.MaxDealID, got, want)
	}
	deals, _ := takeRows(batches, 0)
	if deals.Table.Name != "bond_priced_deals" || deals.MinDealID != 5 || deals.MaxDealID != 9 {
		t.Errorf("got %s of deals %d to %d, want bond_priced_deals of 5 to 9", deals.Table.Name, deals.MinDealID, deals.MaxDealID)
	}
}

// TestTake takes one table while the other tables keep their rows.
func TestTake(t *testing.T) {
	feed := mustFeed(t, "bond/ig/priced")
	f := transform.NewFlattener(feed, mustBase(t, samplesBase))
	batches := transform.NewHistoryBatches(testkit.Allocator(t), feed)
	defer batches.Release()
	readDeals(t, f, batches, pricedWithBanks)
	takeRows(batches, 1)
	readDeals(t, f, batches, pricedAlone)
	if got := [4]int{batches.Rows(0), batches.Rows(1), batches.Bytes(1), batches.Rows(2)}; got != [4]int{2, 0, 0, 0} {
		t.Errorf("got deals, banks, bytes of banks, price talk %v, want only 2 deals", got)
	}
	if banks, rows := takeRows(batches, 1); rows != "" || banks.MinDealID != 0 || banks.MaxDealID != 0 {
		t.Errorf("got deals %d to %d, rows %q; want nothing", banks.MinDealID, banks.MaxDealID, rows)
	}
	readDeals(t, f, batches, pricedWithBanks)
	if _, rows := takeRows(batches, 1); strings.Count(rows, "\n") != 1 {
		t.Errorf("got banks %s, want two", rows)
	}
}

func TestBatchSchemas(t *testing.T) {
	for _, feed := range api.Feeds() {
		history := transform.NewHistoryBatches(testkit.Allocator(t), feed)
		defer history.Release()
		snapshot, err := transform.NewSnapshotBatches(testkit.Allocator(t), feed, "2026-11-20")
		if err != nil {
			t.Fatal(err)
		}
		defer snapshot.Release()
		for i := range history.Tables() {
			table := history.Table(i)
			if want := lake.BatchSchema(table.HistoryColumns()); !history.Schema(i).Equal(want) {
				t.Errorf("%s: got history schema %s, want %s", table.Name, history.Schema(i), want)
			}
			if want := lake.BatchSchema(table.SnapshotColumns()); !snapshot.Schema(i).Equal(want) {
				t.Errorf("%s: got snapshot schema %s, want %s", table.Name, snapshot.Schema(i), want)
			}
		}
	}
	for _, date := range []string{"", "2026-11-1", "2026-02-30", "20261120"} {
		if _, err := transform.NewSnapshotBatches(testkit.Allocator(t), api.Feeds()[0], date); err == nil {
			t.Errorf("snapshot date %q: got no error", date)
		}
	}
}

// TestReject continues after a rejected record, which leaves no rows, no drift and no id.
func TestReject(t *testing.T) {
	feed := mustFeed(t, "bond/ig/priced")
	f := transform.NewFlattener(feed, mustBase(t, samplesBase))
	batches := transform.NewHistoryBatches(testkit.Allocator(t), feed)
	defer batches.Release()
	for _, payload := range []string{`{"dealId":1,"new":1,"banks":[{"name":"A"}],"cpn":5,"cpn":5}`, `{"dealId":2,"banks":[{}],`, `{"banks":[1]}`, `[]`, ``} {
		if id, err := f.Read([]byte(payload)); err == nil || id != 0 {
			t.Fatalf("%s: got deal %d %v, want a reject", payload, id, err)
		}
		batches.Append(f, 1, 1)
	}
	readDeals(t, f, batches, pricedWithBanks)
	if got := [2]int{batches.Rows(0), batches.Rows(1)}; got != [2]int{1, 2} {
		t.Errorf("got %v deals and banks, want 1 and 2", got)
	}
	for _, d := range f.TakeDrift() {
		if d.Kind != lake.DriftMissing || d.Count != 1 && d.Pointer != "/banks/*/status" {
			t.Errorf("got drift %v, want only what the last deal lacks", d)
		}
	}
}

// TestFault lets a parser fail on a text: the row has all of the source, and drift says which text it was.
func TestFault(t *testing.T) {
	feed := mustFeed(t, "bond/ig/expected")
	f := transform.NewFlattener(feed, mustBase(t, samplesBase)).WithFault("EUR2bn")
	batches := transform.NewHistoryBatches(testkit.Allocator(t), feed)
	defer batches.Release()
	readDeals(t, f, batches, `{"id":1,"_embedded":{"tranches":[{"currency":"EUR","volume":"EUR500m","books":"EUR2bn"},{"currency":"EUR","books":"EUR3bn"}]}}`)
	tranches := slices.IndexFunc(lake.FeedTables(feed), func(t *lake.Table) bool { return t.Name == "bond_expected_tranches" })
	_, rows := takeRows(batches, tranches)
	for _, want := range []string{`"books":"EUR2bn"`, `"books_status":"UNPARSED"`, `"volume_status":"OK"`, `"books_status":"OK"`} {
		if strings.Count(rows, want) != 1 {
			t.Errorf("got %s, want %s once", rows, want)
		}
	}
	want := lake.Drift{Pointer: "/_embedded/tranches/*/books", Kind: lake.DriftFault, Count: 1, Example: `"EUR2bn"`}
	if drift := f.TakeDrift(); !slices.Contains(drift, want) {
		t.Errorf("got drift %v, want %v", drift, want)
	}
}

func TestHasPricedDeal(t *testing.T) {
	for _, tt := range []struct {
		feed, payload string
		want          bool
	}{
		{"loan/ll/expected", `{"dealId":1,"_links":{"pricedDeal":{"href":"/v3/x/1"}}}`, true},
		{"loan/ll/expected", `{"dealId":1,"_links":{"pricedDeal":{"href":null},"self":{"href":"/v3/x/1"}}}`, false},
		{"bond/ig/expected", `{"id":1,"_embedded":{"tranches":[{"name":"A"},{"_links":{"pricedDeal":{"href":"/v3/x/1"}}}]}}`, true},
		{"bond/ig/expected", `{"id":1,"_embedded":{"tranches":[{"name":"A"}]}}`, false},
		{"bond/ig/expected", `{"id":1}`, false},
		{"bond/ig/priced", `{"dealId":1,"_links":{"pricedDeal":{"href":"/v3/x/1"}}}`, false},
	} {
		f := transform.NewFlattener(mustFeed(t, tt.feed), mustBase(t, samplesBase))
		if _, err := f.Read([]byte(tt.payload)); err != nil {
			t.Fatal(err)
		}
		if got := f.HasPricedDeal(); got != tt.want {
			t.Errorf("%s %s: got %t, want %t", tt.feed, tt.payload, got, tt.want)
		}
	}
}

// TestSetBase changes the base URL between two records.
func TestSetBase(t *testing.T) {
	feed := mustFeed(t, "bond/ig/priced")
	f := transform.NewFlattener(feed, mustBase(t, samplesBase))
	batches := transform.NewHistoryBatches(testkit.Allocator(t), feed)
	defer batches.Release()
	readDeals(t, f, batches, `{"dealId":1,"_links":{"self":{"href":"https://api.example.test/v3/x/1"}}}`)
	f.SetBase(mustBase(t, "https://mirror.example.test/deals"))
	readDeals(t, f, batches, `{"dealId":2,"_links":{"self":{"href":"https://mirror.example.test/deals/v3/x/1"}}}`)
	if _, rows := takeRows(batches, 0); strings.Count(rows, `"self_href":"/v3/x/1"`) != 2 {
		t.Errorf("got %s, want both links relative", rows)
	}
}

// TestDriftIsBounded reads more unknown fields than a report counts separately.
func TestDriftIsBounded(t *testing.T) {
	f := transform.NewFlattener(mustFeed(t, "bond/ig/priced"), mustBase(t, samplesBase))
	const fields = 3000
	for i := range fields {
		if _, err := f.Read(fmt.Appendf(nil, `{"dealId":1,"new%d":1,"borrower":{"new%d":2}}`, i, i)); err != nil {
			t.Fatal(err)
		}
	}
	drift := f.TakeDrift()
	var count int64
	for _, d := range drift {
		if d.Kind == lake.DriftUnknown {
			count += d.Count
		}
	}
	if len(drift) != 1002 || count != 2*fields {
		t.Errorf("got %d pairs that count %d, want 1002 that count %d", len(drift), count, 2*fields)
	}
	if !slices.IsSortedFunc(drift, lake.CompareDrift) {
		t.Error("drift is not in order")
	}
}

// TestDepth checks that the three readers agree on how deep a record may nest.
func TestDepth(t *testing.T) {
	for depth, ok := range map[int]bool{9_998: true, 9_999: true, 10_000: false, 10_001: false} {
		payload := []byte(`{"dealId":1,"x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`)
		_, err := transform.NewFlattener(api.Feeds()[0], api.Base{}).Read(payload)
		_, hashErr := transform.NewCanonicalizer(api.Base{}).Hash(payload)
		_, oracleErr := readOracle(t).Rows(api.Feeds()[0], samplesBase, payload)
		if (err == nil) != ok || (hashErr == nil) != ok || (oracleErr == nil) != ok {
			t.Errorf("depth %d: got %v, %v and %v, want read %t", depth, err, hashErr, oracleErr, ok)
		}
	}
}

func TestVersionBatches(t *testing.T) {
	batches := transform.NewVersionBatches(testkit.Allocator(t))
	defer batches.Release()
	known := time.Date(2026, 11, 20, 23, 14, 3, 123456000, time.FixedZone("", 3600))
	whole := transform.DealVersion{
		Feed: mustFeed(t, "loan/cf/expected"), DealID: 12, Version: 1, Change: lake.Added, KnownAt: known, ObservedAt: known.Add(-time.Second),
		RunID: "run", ContentHash: lake.Digest{1}, PayloadHash: lake.Digest{2}, SourceUpdatedAt: known.Add(-time.Hour),
		UpdatedSince: "/v3/x?updatedSince=1", Payload: []byte(`{"dealId":12}`),
	}
	removal := transform.DealVersion{
		Feed: whole.Feed, DealID: 7, Version: 2, Change: lake.Removed, Reason: lake.ReasonPriced, KnownAt: known, ObservedAt: known, RunID: "run",
		ContentHash: lake.Digest{1}, PayloadHash: lake.Digest{2}, // hashes of the last content: not written
	}
	batches.Append(&whole)
	batches.Append(&removal)
	if batches.Bytes() == 0 {
		t.Error("two rows have no bytes")
	}
	batch := batches.Take()
	defer batch.Record.Release()
	zeros := strings.Repeat("0", 62)
	want := []string{
		`{"service":"loan","market":"CF","kind":"expected","deal_id":12,"version":1,"change":"added","reason":null,` +
			`"known_at":"2026-11-20T22:14:03.123456Z","observed_at":"2026-11-20T22:14:02.123456Z","run_id":"run",` +
			`"content_hash":"01` + zeros + `","hash_version":1,"payload_hash":"02` + zeros + `","schema_version":9,` +
			`"source_updated_at":"2026-11-20T21:14:03.123456Z","updated_since_href":"/v3/x?updatedSince=1","payload":"{\"dealId\":12}"}`,
		`{"service":"loan","market":"CF","kind":"expected","deal_id":7,"version":2,"change":"removed","reason":"priced",` +
			`"known_at":"2026-11-20T22:14:03.123456Z","observed_at":"2026-11-20T22:14:03.123456Z","run_id":"run",` +
			`"content_hash":null,"hash_version":1,"payload_hash":null,"schema_version":9,` +
			`"source_updated_at":null,"updated_since_href":null,"payload":null}`,
	}
	if got := testkit.Rows(batch.Record); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := lake.ArrowSchema(lake.DealVersionColumns()); !batch.Record.Schema().Equal(want) {
		t.Errorf("got schema %s, want %s", batch.Record.Schema(), want)
	}
	if batch.Table != nil || batch.MinDealID != 7 || batch.MaxDealID != 12 || batch.Record.NumRows() != 2 || batches.Bytes() != 0 {
		t.Errorf("got deals %d to %d in %d rows, then %d bytes; want 7 to 12 in 2, then none", batch.MinDealID, batch.MaxDealID, batch.Record.NumRows(), batches.Bytes())
	}
}
