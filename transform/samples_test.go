package transform_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// samplesBase is the base URL of the links in testdata/samples.
const samplesBase = "https://api.example.test"

// TestSamples flattens the first page of each feed, as an independent implementation of the API
// writes it, and compares the documented columns of all tables with rows computed by an
// independent reading.
func TestSamples(t *testing.T) {
	got := map[string][]string{}
	for _, feed := range api.Feeds() {
		for table, rows := range flattenAll(t, feed, samplesBase, samplePage(t, feed)) {
			got[table] = append(got[table], rows...)
		}
	}
	for _, table := range lake.Tables() {
		t.Run(table.Name, func(t *testing.T) {
			data, err := os.ReadFile("../testdata/samples/expected/" + table.Name + ".ndjson")
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Collect(strings.Lines(string(data))) // none if no sample has the list
			if diff := cmp.Diff(decodeRows(t, want), withoutHelpers(table, decodeRows(t, got[table.Name]))); diff != "" {
				t.Errorf("rows differ (-want +got):\n%s", diff)
			}
		})
	}
}

// samplePage returns the payloads of a feed's sample page.
func samplePage(t testing.TB, feed api.Feed) []json.RawMessage {
	t.Helper()
	path := filepath.Join("../testdata/samples", string(feed.Service), feed.Market.Lower(), string(feed.Kind)+".json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var page struct {
		Embedded map[string][]json.RawMessage `json:"_embedded"`
	}
	if err := json.Unmarshal(data, &page); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return page.Embedded[feed.ListKey()]
}

// flattenAll returns the rows of all tables of a feed without their versions.
func flattenAll(t testing.TB, feed api.Feed, base string, payloads []json.RawMessage) map[string][]string {
	t.Helper()
	b, err := api.ParseBase(base)
	if err != nil {
		t.Fatal(err)
	}
	f := transform.NewFlattener(feed, b)
	batches := transform.NewHistoryBatches(testkit.Allocator(t), feed)
	defer batches.Release()
	for i, payload := range payloads {
		id, err := f.Read(payload)
		if err != nil {
			t.Fatalf("%s: record %d: %v", feed, i, err)
		}
		batches.Append(f, id, 1)
	}
	rows := map[string][]string{}
	for i := range batches.Tables() {
		batch := batches.Take(i)
		rows[batch.Table.Name] = testkit.Rows(batch.Record, "version")
		batch.Record.Release()
	}
	return rows
}

// decodeRows parses rows, so that the spelling of their JSON does not matter.
func decodeRows(t testing.TB, rows []string) []map[string]any {
	t.Helper()
	decoded := make([]map[string]any, len(rows))
	for i, row := range rows {
		dec := json.NewDecoder(bytes.NewReader([]byte(row)))
		dec.UseNumber()
		if err := dec.Decode(&decoded[i]); err != nil {
			t.Fatalf("row %d: %v\n%s", i, err, row)
		}
	}
	return decoded
}
