package transform_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/oracle"
	"dealflow/schemas/api"
	"dealflow/transform"
)

// addSeeds adds the deals of all example files and some sample records to a fuzz test. The arguments are the feed's
// index in api.Feeds and the payload.
func addSeeds(f *testing.F) {
	f.Helper()
	number := map[api.Feed]uint8{}
	for i, feed := range api.Feeds() {
		number[feed] = uint8(i)
		for _, payload := range samplePage(f, feed)[:3] {
			f.Add(uint8(i), []byte(payload))
		}
	}
	for _, path := range exampleFiles(f) {
		e := readExample(f, path)
		for _, deal := range e.deals {
			f.Add(number[e.feed], deal)
		}
	}
	for _, broken := range []string{
		`{"dealId":1,"dealId":2,x}`, `{"dealId":1,x,"dealId":2}`, `{"dealId":1,"new":1,"new":2,x}`, `{"dealId":1,"new":1,"n\u0065w":2}`, `{"dealId":1,"deal\u0049d":2}`,
		`{"dealId":1,"new":{"a":1,"a":2},x}`, `{"dealId":1,"stats":{"geography":{"US":1,"U\u0053":2},x}}`, `{"dealId":1,"_links":{"self":{"a":1,"a":2}},}`,
		`{"dealId":1,"banks":[{"name":"A","name":"B"}]}`, `{"dealId":1,"borrower":{"name":"A"},"borrower":{}}`, `{"dealId":1} x`, `[{"a":1,"a":2}]`, `1 x`,
	} {
		f.Add(uint8(0), []byte(broken))
	}
}

// FuzzRead reads any bytes as a deal of any feed. The three readers agree on what a deal is, and a deal has the rows
// that the oracle computes.
func FuzzRead(f *testing.F) {
	addSeeds(f)
	rows := readOracle(f)
	base := mustBase(f, samplesBase)
	f.Fuzz(func(t *testing.T, number uint8, payload []byte) {
		feed := api.Feeds()[int(number)%len(api.Feeds())]
		original := bytes.Clone(payload)
		flattener := transform.NewFlattener(feed, base)
		id, err := flattener.Read(payload)
		if !bytes.Equal(payload, original) {
			t.Fatalf("Read changed the payload\n got %s\nwant %s", payload, original)
		}
		got := reasonOf(t, err)
		_, err = transform.NewCanonicalizer(base).Hash(payload)
		if want := reasonOf(t, err); got != want && (got != api.RejectNoID || want != "") {
			t.Fatalf("Read: %q, Hash: %q, want the same", got, want)
		}
		checkHead(t, feed, payload, id, got)
		want, err := rows.Rows(feed, samplesBase, payload)
		if (err == nil) != (got == "") {
			t.Fatalf("Read: %q, oracle: %v, want the same", got, err)
		}
		if err == nil {
			compareRows(t, feed, flattener, id, want)
		}
	})
}

// checkHead compares the id that a page's reader finds with Read's. That reader may miss faults further inside the
// record, and it limits the depth.
func checkHead(t *testing.T, feed api.Feed, payload []byte, id int64, reason api.RejectReason) {
	t.Helper()
	head, err := api.ReadRecordID(payload, feed)
	accepted := reasonOf(t, err) == ""
	deep := bytes.Count(payload, []byte("["))+bytes.Count(payload, []byte("{")) > 500
	switch {
	case accepted && reason == api.RejectNoID, reason == "" && !accepted && !deep, reason == "" && accepted && head.ID != id:
		t.Fatalf("Read: %q id %d, ReadHead: %v id %d, want the same", reason, id, err, head.ID)
	}
}

func reasonOf(t *testing.T, err error) api.RejectReason {
	t.Helper()
	var reject *api.Reject
	if err != nil && !errors.As(err, &reject) {
		t.Fatalf("got error %v, want an *api.Reject", err)
	}
	if reject == nil {
		return ""
	}
	return reject.Reason
}

func readOracle(t testing.TB) *oracle.Oracle {
	t.Helper()
	document, err := os.ReadFile("../testdata/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	o, err := oracle.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// compareRows compares the documented columns of the rows that the flattener has staged with the oracle's.
func compareRows(t *testing.T, feed api.Feed, f *transform.Flattener, id int64, want map[string][]oracle.Row) {
	t.Helper()
	batches := transform.NewHistoryBatches(memory.DefaultAllocator, feed)
	defer batches.Release()
	batches.Append(f, id, 1)
	for i := range batches.Tables() {
		batch := batches.Take(i)
		var got []oracle.Row
		for _, text := range testkit.Rows(batch.Record, "version") {
			got = append(got, decodeRow(t, text))
		}
		batch.Record.Release()
		withoutHelpers(batch.Table, got)
		if len(got) != len(want[batch.Table.Name]) {
			t.Fatalf("%s: got %d rows, want %d", batch.Table.Name, len(got), len(want[batch.Table.Name]))
		}
		for r, row := range want[batch.Table.Name] {
			if diff := oracle.Compare([]oracle.Row{row}, got[r:r+1]); diff != "" {
				t.Fatalf("%s: row %d: %s", batch.Table.Name, r+1, diff)
			}
		}
	}
}

func decodeRow(t testing.TB, text string) oracle.Row {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	row := oracle.Row{}
	if err := dec.Decode(&row); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for name, value := range row {
		if number, ok := value.(json.Number); ok {
			n, err := number.Int64()
			if err != nil {
				t.Fatal(err)
			}
			row[name] = n
		}
	}
	return row
}

// FuzzCanonical checks that the canonical form is valid JSON, is its own canonical form, and does not depend on white
// space.
func FuzzCanonical(f *testing.F) {
	addSeeds(f)
	for _, vector := range readVectors(f).Vectors {
		f.Add(uint8(0), []byte(vector.Input))
	}
	f.Fuzz(func(t *testing.T, _ uint8, payload []byte) {
		c := transform.NewCanonicalizer(api.Base{})
		form, err := c.Form(payload)
		if err != nil {
			return
		}
		first := bytes.Clone(form)
		if !json.Valid(first) {
			t.Fatalf("no JSON: %s", first)
		}
		second, err := c.Form(first)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("form of the form: got %s %v, want %s", second, err, first)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, payload, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		if spaced, err := c.Form(indented.Bytes()); err != nil || !bytes.Equal(first, spaced) {
			t.Fatalf("with white space: got %s %v, want %s", spaced, err, first)
		}
	})
}
