package oracle_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"dealflow/internal/testkit/oracle"
	"dealflow/schemas/api"
)

var (
	bondPriced   = api.Feed{Service: api.Bond, Market: api.IG, Kind: api.Priced}
	bondExpected = api.Feed{Service: api.Bond, Market: api.EM, Kind: api.Expected}
	loanPriced   = api.Feed{Service: api.Loan, Market: api.LL, Kind: api.Priced}
)

// quoted is a Go string as JSON.
func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// one flattens a deal and returns the rows of one table.
func one(t *testing.T, feed api.Feed, table, payload string) []oracle.Row {
	t.Helper()
	tables, err := load(t).Rows(feed, samplesBase, []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	rows, ok := tables[table]
	if !ok {
		t.Fatalf("no table %s in %v", table, tables)
	}
	return rows
}

// TestValues writes one JSON value into a column of each type.
func TestValues(t *testing.T) {
	tests := []struct {
		member string // with %s for the value
		column string
		values map[string]any // JSON text → column
	}{
		{`"fpr":%s`, "fpr", map[string]any{ // DECIMAL(12,6)
			`100`: "100.000000", `99.5`: "99.500000", `1E2`: "100.000000", `1e+2`: "100.000000", `12.5e-1`: "1.250000",
			`0.0000005`: "0.000001", `-0.0000005`: "-0.000001", `0.00000049999999999999999999`: "0.000000",
			`-0`: "0.000000", `-0.0000001`: "0.000000", `0e99`: "0.000000",
			`999999.9999994`: "999999.999999", `999999.9999995`: nil, `-999999.9999995`: nil, `1000000`: nil,
			`1e400000000`: nil, `-1e400000000`: nil, `1e-400000000`: "0.000000", `0e400000000`: "0.000000",
			`1e99999999999999999999`: nil, `1e-99999999999999999999`: "0.000000",
			`1` + strings.Repeat("0", 5000) + `e-5000`:   "1.000000",
			`0.` + strings.Repeat("0", 5000) + `15e5001`: "1.500000",
			`0.0000014` + strings.Repeat("9", 5000):      "0.000001",
			`0.` + strings.Repeat("3", 100_000):          "0.333333",
			`"99.5"`:                                     nil,
			`true`:                                       nil, `null`: nil, `{}`: nil, `[]`: nil,
		}},
		{`"fxRate":{"usd":%s}`, "fx_rate_usd", map[string]any{ // DECIMAL(20,10)
			`1`: "1.0000000000", `9999999999.99999999994`: "9999999999.9999999999", `9999999999.99999999995`: nil,
		}},
		{`"nominal":{"amount":%s}`, "nominal_amount", map[string]any{ // DECIMAL(24,6)
			`1.475E9`: "1475000000.000000", `123456789.123456789`: "123456789.123457",
			`999999999999999999.999999`: "999999999999999999.999999", `1e18`: nil,
		}},
		{`"stats":{"finalAccounts":%s}`, "stats_final_accounts", map[string]any{ // INT32
			`7`: int64(7), `7.0`: int64(7), `1e2`: int64(100), `70e-1`: int64(7), `7.5`: nil, `-0`: int64(0), `-0.0`: int64(0),
			`2147483647`: int64(2147483647), `2147483648`: nil, `-2147483648`: int64(-2147483648), `-2147483649`: nil,
			`1e400000000`: nil, `1e-400000000`: nil, `"7"`: nil, `false`: nil, `null`: nil,
		}},
		{`"perpetual":%s`, "perpetual", map[string]any{`true`: true, `false`: false, `"true"`: nil, `1`: nil, `null`: nil}},
		{`"cpn":%s`, "cpn", map[string]any{
			`"6.25%"`: "6.25%", `""`: "", `"a\u0000b"`: "a\uFFFDb", `6.25`: nil, `null`: nil, `["x"]`: nil, `"\ud83d\ude00"`: "😀",
			`"\ud83d"`: "\ufffd", `"\ude00\ud83d"`: "\ufffd\ufffd", `"\ud83d\u0041"`: "\ufffdA", `"\ud83d\ud83d\ude00"`: "\ufffd😀",
		}},
		{`"maturity":%s`, "maturity", map[string]any{
			`"2030-01-01"`: "2030-01-01", `"2024-02-29"`: "2024-02-29", `"2023-02-29"`: nil, `"2030-1-01"`: nil, `"2030-13-01"`: nil,
			`"0000-12-31"`: nil, `"0001-01-01"`: "0001-01-01", `"9999-12-31"`: "9999-12-31",
			`"2030-01-01T00:00:00Z"`: nil, `" 2030-01-01"`: nil, `""`: nil, `20300101`: nil, `null`: nil, `"٢٠٣٠-٠١-٠١"`: nil,
		}},
		{`"borrower":%s`, "borrower_name", map[string]any{
			`{"name":"A"}`: "A", `{"Name":"A"}`: nil, `[{"name":"A"}]`: nil, `"A"`: nil, `null`: nil,
		}},
	}
	for _, tt := range tests {
		for text, want := range tt.values {
			deal := `{"dealId":1,` + fmt.Sprintf(tt.member, text) + `}`
			if got := one(t, bondPriced, "bond_priced_deals", deal)[0][tt.column]; got != want {
				t.Errorf("%s = %.60s: want %v, got %v", tt.column, text, want, got)
			}
		}
	}
}

func TestTimestamps(t *testing.T) {
	for text, want := range map[string]any{
		"2026-03-02T04:23:57Z":              "2026-03-02T04:23:57.000000Z",
		"2026-03-02T04:23:57.1Z":            "2026-03-02T04:23:57.100000Z",
		"2026-03-02T04:23:57.1234569Z":      "2026-03-02T04:23:57.123456Z",
		"1969-12-31T23:59:59.9999999Z":      "1969-12-31T23:59:59.999999Z",
		"2026-03-02T00:30:00+05:30":         "2026-03-01T19:00:00.000000Z",
		"2026-12-31T23:30:00.5-01:00":       "2027-01-01T00:30:00.500000Z",
		"2026-03-02T04:23:57.1234569-00:00": "2026-03-02T04:23:57.123456Z",
		"2026-03-02T04:23:57":               nil,
		"2026-03-02 04:23:57Z":              nil,
		"2026-03-02T4:23:57Z":               nil,
		"2026-03-02T04:23Z":                 nil,
		"2026-03-02T04:23:57.Z":             nil,
		"2026-03-02T04:23:57,5Z":            nil,
		"2026-03-02T24:00:00Z":              nil,
		"2026-03-02T04:23:60Z":              nil,
		"2026-02-30T04:23:57Z":              nil,
		"2026-03-02T04:23:57+0100":          nil,
		"2026-03-02T04:23:57+24:00":         nil,
		"2026-03-02":                        nil,
		"0001-01-01T00:00:00Z":              "0001-01-01T00:00:00.000000Z",
		"0001-01-01T00:00:00+00:01":         nil,
		"0000-12-31T23:59:59-00:01":         nil,
		"9999-12-31T23:59:59.9999999Z":      "9999-12-31T23:59:59.999999Z",
		"9999-12-31T23:59:59-00:01":         nil,
		"":                                  nil,
	} {
		row := one(t, bondExpected, "bond_expected_deals", `{"id":1,"created":`+quoted(text)+`}`)[0]
		if got := row["created"]; got != want {
			t.Errorf("%q: want %v, got %v", text, want, got)
		}
	}
}

func TestHrefs(t *testing.T) {
	o := load(t)
	tests := []struct {
		base, href string
		want, id   any
	}{
		{"https://api.example.test", "https://api.example.test/v3/bond/ig/priced-deal/12", "/v3/bond/ig/priced-deal/12", int64(12)},
		{"https://api.example.test/", "/v3/bond/ig/priced-deal/12", "/v3/bond/ig/priced-deal/12", int64(12)},
		{"https://api.example.test", "HTTPS://API.example.test:443/v3/x/007?a=1#b", "/v3/x/007?a=1#b", int64(7)},
		{"https://api.example.test", "//api.example.test/v3/x/1", "/v3/x/1", int64(1)},
		{"https://api.example.test/api", "https://api.example.test/api/v3/x/12", "/v3/x/12", int64(12)},
		{"https://api.example.test/api", "/api/v3/x/12", "/v3/x/12", int64(12)},
		{"https://api.example.test/api", "/v3/x/12", "/v3/x/12", int64(12)},
		{"https://api.example.test/api", "https://api.example.test/v3/x", "https://api.example.test/v3/x", nil},
		{"https://api.example.test/api", "https://api.example.test/apiv3/x", "https://api.example.test/apiv3/x", nil},
		{"https://api.example.test", "http://api.example.test/v3/x/12", "http://api.example.test/v3/x/12", int64(12)},
		{"https://api.example.test", "https://api.example.test:8443/v3/x", "https://api.example.test:8443/v3/x", nil},
		{"https://api.example.test", "https://api.example.test@evil.test/v3/x", "https://api.example.test@evil.test/v3/x", nil},
		{"https://api.example.test", "https://api.example.test.evil.test/v3", "https://api.example.test.evil.test/v3", nil},
		{"https://api.example.test", "https://12", "https://12", nil},
		{"https://api.example.test", "//12", "//12", nil},
		{"https://api.example.test", "https://api.example.test", "https://api.example.test", nil},
		{"https://api.example.test", "/v3/x/12/", "/v3/x/12/", nil},
		{"https://api.example.test", "/v3/x/a12", "/v3/x/a12", nil},
		{"https://api.example.test", "/v3/x?id=/12", "/v3/x?id=/12", nil},
		{"https://api.example.test", "/v3/x/9223372036854775807", "/v3/x/9223372036854775807", int64(9223372036854775807)},
		{"https://api.example.test", "/v3/x/9223372036854775808", "/v3/x/9223372036854775808", nil},
		{"https://api.example.test", "", "", nil},
		{"https://api.example.test", "%zz://\x00", "%zz://\uFFFD", nil},
	}
	for _, tt := range tests {
		deal := `{"dealId":1,"_links":{"original":{"href":` + quoted(tt.href) + `}}}`
		tables, err := o.Rows(bondPriced, tt.base, []byte(deal))
		if err != nil {
			t.Fatal(err)
		}
		row := tables["bond_priced_deals"][0]
		if row["original_href"] != tt.want || row["original_deal_id"] != tt.id {
			t.Errorf("%q under %q: want %q %v, got %q %v", tt.href, tt.base, tt.want, tt.id, row["original_href"], row["original_deal_id"])
		}
	}
	for _, links := range []string{`null`, `[]`, `{"original":"/v3/x/1"}`, `{"original":[{"href":"/v3/x/1"}]}`, `{"original":{"href":1}}`} {
		row := one(t, bondPriced, "bond_priced_deals", `{"dealId":1,"_links":`+links+`}`)[0]
		if row["original_href"] != nil || row["original_deal_id"] != nil {
			t.Errorf("links %s: want no link, got %v %v", links, row["original_href"], row["original_deal_id"])
		}
	}
}

// TestLists gives odd lists and maps, and the rows that they must become.
func TestLists(t *testing.T) {
	row := func(feed api.Feed, more oracle.Row) oracle.Row {
		more["market"], more["deal_id"] = string(feed.Market), int64(1)
		return more
	}
	n := func(i int) int64 { return int64(i) }
	tests := []struct {
		feed    api.Feed
		table   string
		members string
		want    []oracle.Row
	}{
		{bondPriced, "bond_priced_banks", `"banks":[{"name":"A"},null,7,{"name":"A","status":"S"},[]]`, []oracle.Row{
			row(bondPriced, oracle.Row{"ordinal": n(1), "name": "A", "status": nil}),
			row(bondPriced, oracle.Row{"ordinal": n(2), "name": nil, "status": nil}),
			row(bondPriced, oracle.Row{"ordinal": n(3), "name": nil, "status": nil}),
			row(bondPriced, oracle.Row{"ordinal": n(4), "name": "A", "status": "S"}),
			row(bondPriced, oracle.Row{"ordinal": n(5), "name": nil, "status": nil}),
		}},
		{bondPriced, "bond_priced_banks", `"banks":{"name":"A"}`, nil},
		{bondPriced, "bond_priced_banks", `"banks":null`, nil},
		{bondPriced, "bond_priced_geographies", `"stats":{"geography":{"é":1,"z":null,"Z":"2","":1e9,"￿":3,"😀":2.0000005}}`, []oracle.Row{
			row(bondPriced, oracle.Row{"ordinal": n(1), "geography": "", "value": "1000000000.000000"}),
			row(bondPriced, oracle.Row{"ordinal": n(2), "geography": "Z", "value": nil}),
			row(bondPriced, oracle.Row{"ordinal": n(3), "geography": "z", "value": nil}),
			row(bondPriced, oracle.Row{"ordinal": n(4), "geography": "é", "value": "1.000000"}),
			row(bondPriced, oracle.Row{"ordinal": n(5), "geography": "￿", "value": "3.000000"}),
			row(bondPriced, oracle.Row{"ordinal": n(6), "geography": "😀", "value": "2.000001"}),
		}},
		{bondPriced, "bond_priced_investor_types", `"stats":{"investorType":[1,2]}`, nil},
		{bondExpected, "bond_expected_regions", `"regions":["Latam",null,{"region":"x"},"Latam"]`, []oracle.Row{
			row(bondExpected, oracle.Row{"ordinal": n(1), "region": "Latam"}),
			row(bondExpected, oracle.Row{"ordinal": n(2), "region": nil}),
			row(bondExpected, oracle.Row{"ordinal": n(3), "region": nil}),
			row(bondExpected, oracle.Row{"ordinal": n(4), "region": "Latam"}),
		}},
		{loanPriced, "loan_priced_tranche_banks", `"tranches":[null,{"banks":[]},{"banks":[null,{"name":"B","type":{"mla":true}}]},{"banks":{}},{"banks":[{"type":1}]}]`, []oracle.Row{
			row(loanPriced, oracle.Row{"tranche_ordinal": n(3), "ordinal": n(1), "name": nil, "type_mla": nil, "type_bookrunner": nil, "type_participant": nil}),
			row(loanPriced, oracle.Row{"tranche_ordinal": n(3), "ordinal": n(2), "name": "B", "type_mla": true, "type_bookrunner": nil, "type_participant": nil}),
			row(loanPriced, oracle.Row{"tranche_ordinal": n(5), "ordinal": n(1), "name": nil, "type_mla": nil, "type_bookrunner": nil, "type_participant": nil}),
		}},
		{loanPriced, "loan_priced_sponsors", `"borrower":{"sponsors":{"sponsors":[{"name":"S"}]}}`, []oracle.Row{
			row(loanPriced, oracle.Row{"ordinal": n(1), "name": "S"}),
		}},
	}
	for _, tt := range tests {
		deal := `{"` + tt.feed.IDKey() + `":1,` + tt.members + `}`
		if diff := oracle.Compare(tt.want, one(t, tt.feed, tt.table, deal)); diff != "" {
			t.Errorf("%s of %s:\n%s", tt.table, deal, diff)
		}
	}
}

func TestQuarantine(t *testing.T) {
	o := load(t)
	for payload, want := range map[string]string{
		``:                                "valid JSON",
		`{"dealId":1`:                     "valid JSON",
		`{"dealId":1}{}`:                  "valid JSON",
		`{"dealId":01}`:                   "valid JSON",
		`{"dealId":1,}`:                   "valid JSON",
		strings.Repeat("[", 5_000_000):    "valid JSON",
		`null`:                            "no JSON object",
		`[{"dealId":1}]`:                  "no JSON object",
		`"x"`:                             "no JSON object",
		"{\"dealId\":1,\"cpn\":\"\xff\"}": "UTF-8",
		`{"dealId":1,"dealId":1}`:         "repeats",
		`{"dealId":1,"x":{"a":[{"b":1,"\u0062":1}]}}`: "repeats",
		`{}`:                             "usable id",
		`{"dealId":null}`:                "usable id",
		`{"dealId":"1"}`:                 "usable id",
		`{"dealId":1.5}`:                 "usable id",
		`{"id":1}`:                       "usable id",
		`{"dealId":1e400000000}`:         "usable id",
		`{"dealId":9223372036854775808}`: "usable id",
	} {
		rows, err := o.Rows(bondPriced, samplesBase, []byte(payload))
		if err == nil || !strings.Contains(err.Error(), want) || rows != nil {
			t.Errorf("%.60q: want an error with %q, got %v", payload, want, err)
		}
	}
	if _, err := o.Rows(api.Feed{Service: "fund", Kind: "priced"}, samplesBase, []byte(`{"dealId":1}`)); err == nil {
		t.Error("unknown feed: want an error")
	}
	for _, url := range []string{"", "/v3", "api.example.test", "https://", "https://u:p@api.example.test", "https://api.example.test?x"} {
		if _, err := o.Rows(bondPriced, url, []byte(`{"dealId":1}`)); err == nil {
			t.Errorf("base URL %q: want an error", url)
		}
	}
}

func TestEveryTableOfTheFeed(t *testing.T) {
	o := load(t)
	for _, feed := range api.Feeds() {
		tables, err := o.Rows(feed, samplesBase, []byte(`{"`+feed.IDKey()+`":7.0,"market":"other"}`))
		if err != nil {
			t.Fatal(err)
		}
		prefix := string(feed.Service) + "_" + string(feed.Kind) + "_"
		for _, table := range o.Tables() {
			rows, ok := tables[table.Name]
			if ok != strings.HasPrefix(table.Name, prefix) {
				t.Errorf("%s: table %s there: %v", feed, table.Name, ok)
			}
			if table.Name != prefix+"deals" {
				if len(rows) != 0 {
					t.Errorf("%s: want no rows in %s, got %v", feed, table.Name, rows)
				}
				continue
			}
			want := oracle.Row{}
			for _, c := range table.Columns {
				want[c.Name] = nil
			}
			want["market"], want["deal_id"] = string(feed.Market), int64(7)
			if ok {
				if diff := oracle.Compare([]oracle.Row{want}, rows); diff != "" {
					t.Errorf("%s: %s", feed, diff)
				}
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	const (
		heading = "## bond_priced_banks\n"
		key     = "one row per entry of `banks`; key market, deal_id, version, ordinal\n"
	)
	if _, err := oracle.Parse([]byte(heading + key + "| name | UTF8 | name |\n")); err != nil {
		t.Fatal(err)
	}
	for md, want := range map[string]string{
		"":                                   "no flattened table",
		heading:                              "no key",
		heading + key:                        "no key or no columns",
		heading + "one row per bank\n":       "line 2",
		heading + key + key:                  "line 3",
		heading + "| name | UTF8 | name |\n": "line 2",
		heading + key + "| name | UTF8 |\n":  "line 3",
		heading + key + "| name | FLOAT | name |\n":                           "unknown type",
		heading + key + "| name | DECIMAL(6,7) | name |\n":                    "DECIMAL(6,7)",
		heading + key + "| name | DECIMAL(39,0) | name |\n":                   "DECIMAL(39,0)",
		heading + key + "| ordinal | UTF8 | name |\n":                         "twice",
		heading + "one row per deal; key market, deal_id, version, ordinal\n": "want key",
	} {
		_, err := oracle.Parse([]byte(md))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want an error with %q, got %v", md, want, err)
		}
	}
}

func TestCompare(t *testing.T) {
	row := func(id, ordinal any, name any) oracle.Row {
		return oracle.Row{"market": "IG", "deal_id": id, "ordinal": ordinal, "name": name}
	}
	want := []oracle.Row{row(int64(2), int64(1), "a"), row(int64(10), int64(1), nil), row(int64(10), int64(2), "c")}
	tests := []struct {
		name string
		got  []oracle.Row
		diff string
	}{
		{"same", want, ""},
		{"other order, other widths", []oracle.Row{want[2], row(10, int32(1), nil), want[0]}, ""},
		{"missing", []oracle.Row{want[2], want[0]}, "missing row market=IG deal_id=10 ordinal=1 {}"},
		{"extra", []oracle.Row{want[0], want[1], want[2], row(2, 1, "a")}, `extra row market=IG deal_id=2 ordinal=1 {name="a"}`},
		{"null is no text", []oracle.Row{want[0], row(10, 1, "<nil>"), want[2]}, `row market=IG deal_id=10 ordinal=1: name: want <nil>, got "<nil>"`},
		{"number is no text", []oracle.Row{want[0], want[1], row(10, 2, 1.5)}, `row market=IG deal_id=10 ordinal=2: name: want "c", got float64(1.5)`},
		{"column missing", []oracle.Row{want[0], want[1], {"market": "IG", "deal_id": 10, "ordinal": 2}}, `row market=IG deal_id=10 ordinal=2: name: want "c", got no such column`},
	}
	for _, tt := range tests {
		if got := oracle.Compare(want, tt.got); got != tt.diff {
			t.Errorf("%s: want %q, got %q", tt.name, tt.diff, got)
		}
	}
	var many []oracle.Row
	for i := range 50 {
		many = append(many, row(i, 1, "x"))
	}
	if lines := strings.Split(oracle.Compare(many, nil), "\n"); len(lines) != 21 || lines[20] != "… and 30 more differences" {
		t.Errorf("want 20 differences and a count, got %d lines ending in %q", len(lines), lines[len(lines)-1])
	}
	if got := oracle.Compare(nil, []oracle.Row{}); got != "" {
		t.Errorf("nothing and nothing: got %q", got)
	}
}

// FuzzRows flattens any bytes as a deal: no panic, and the rows have the right keys.
func FuzzRows(f *testing.F) {
	o := load(f)
	for _, feed := range api.Feeds() {
		f.Add(0, []byte(sample(f, feed)[0]))
	}
	f.Add(1, []byte(`{"id":1,"regions":[null],"_embedded":{"tranches":[[]]}}`))
	f.Fuzz(func(t *testing.T, i int, payload []byte) {
		feeds := api.Feeds()
		feed := feeds[uint(i)%uint(len(feeds))]
		tables, err := o.Rows(feed, samplesBase, payload)
		if (err == nil) == (tables == nil) {
			t.Fatalf("want rows or an error, got %v and %v", tables, err)
		}
		for name, rows := range tables {
			for _, row := range rows {
				if row["market"] != string(feed.Market) || row["deal_id"] == nil {
					t.Errorf("%s: row without its key: %v", name, row)
				}
			}
		}
	})
}
