package oracle_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"dealflow/internal/testkit/oracle"
	"dealflow/schemas/api"
)

const (
	testdata = "../../../testdata"
	// samplesBase is the base URL of the links in testdata/samples.
	samplesBase = "https://api.example.test"
)

func load(t testing.TB) *oracle.Oracle {
	t.Helper()
	md, err := os.ReadFile(filepath.Join(testdata, "tables.md"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := oracle.Parse(md)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// sample reads the deals of one sample page.
func sample(t testing.TB, feed api.Feed) []json.RawMessage {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(testdata, "samples", string(feed.Service), feed.Market.Lower(), string(feed.Kind)+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Embedded map[string][]json.RawMessage `json:"_embedded"`
	}
	if err := json.Unmarshal(page, &list); err != nil {
		t.Fatal(err)
	}
	return list.Embedded[feed.ListKey()]
}

// TestSamples compares the rows of all sample deals with the expected files: the same rows and columns, both in the
// same order.
func TestSamples(t *testing.T) {
	o := load(t)
	rows, deals := map[string][]oracle.Row{}, 0
	for _, feed := range api.Feeds() {
		for _, deal := range sample(t, feed) {
			deals++
			tables, err := o.Rows(feed, samplesBase, deal)
			if err != nil {
				t.Fatalf("%s: %v", feed, err)
			}
			for table, more := range tables {
				rows[table] = append(rows[table], more...)
			}
		}
	}
	if deals != 300 {
		t.Errorf("samples hold %d deals, want 300", deals)
	}

	files, err := filepath.Glob(filepath.Join(testdata, "samples", "expected", "*.ndjson"))
	if err != nil || len(files) != 17 || len(o.Tables()) != 17 {
		t.Fatalf("%d expected files, %d tables, %v: want 17 of each", len(files), len(o.Tables()), err)
	}
	for _, table := range o.Tables() {
		t.Run(table.Name, func(t *testing.T) {
			want := expected(t, table.Name)
			got := rows[table.Name]
			if len(want) == 0 || len(got) != len(want) {
				t.Errorf("%d rows, want %d", len(got), len(want))
			}
			if diff := oracle.Compare(want, got); diff != "" {
				t.Error(diff)
			}
			for i := range min(len(want), len(got)) {
				if diff := oracle.Compare(want[i:i+1], got[i:i+1]); diff != "" {
					t.Fatalf("row %d in order: %s", i+1, diff)
				}
			}
			names := []string{}
			for _, c := range table.Columns {
				names = append(names, c.Name)
			}
			checkColumns(t, table.Name, names)
		})
	}
}

func expectedLines(t *testing.T, table string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testdata, "samples", "expected", table+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(data), []byte("\n"))
}

// expected reads the expected rows of a table, with its integers as int64.
func expected(t *testing.T, table string) []oracle.Row {
	t.Helper()
	var rows []oracle.Row
	for _, line := range expectedLines(t, table) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var row oracle.Row
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
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
		rows = append(rows, row)
	}
	return rows
}

// checkColumns compares the order of a table's columns with the order of each expected row.
func checkColumns(t *testing.T, table string, want []string) {
	t.Helper()
	for _, line := range expectedLines(t, table) {
		d := json.NewDecoder(bytes.NewReader(line))
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
		i := 0
		for ; d.More(); i++ {
			name, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			if i >= len(want) || name != want[i] {
				t.Fatalf("column %d of the expected rows is %v, Tables has %v", i+1, name, want)
			}
			if _, err := d.Token(); err != nil {
				t.Fatal(err)
			}
		}
		if i != len(want) {
			t.Fatalf("the expected rows have %d columns, Tables has %d", i, len(want))
		}
	}
}
