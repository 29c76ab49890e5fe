package answer_test

import (
	stdsql "database/sql"
	"errors"
	"strings"
	"testing"

	_ "github.com/marcboeker/go-duckdb/v2"

	"dealflow/sql/answer"
)

// open opens a database whose connection runs in UTC.
func open(t *testing.T) *stdsql.DB {
	t.Helper()
	db, err := stdsql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "SET TimeZone = 'UTC'"); err != nil {
		t.Fatal(err)
	}
	return db
}

// TestNestedValues writes instants, days and intervals inside lists, arrays, structs and maps as at top level, and
// intervals as DuckDB writes them.
func TestNestedValues(t *testing.T) {
	db := open(t)
	const at, want = "TIMESTAMPTZ '2026-03-02 22:00:00.5Z'", `"2026-03-02T22:00:00.5Z"`
	for _, test := range []struct{ value, want string }{
		{"[" + at + ", NULL]", "[" + want + ",null]"},
		{"array_value(" + at + ", " + at + ")", "[" + want + "," + want + "]"},
		{"[[DATE '2026-03-02']]", `[["2026-03-02"]]`},
		{"[TIMESTAMP '2026-03-02 22:00:00']", `["2026-03-02T22:00:00"]`},
		{"{'a': " + at + ", 'b \"(, c': [{'d': " + at + "}], 'e': DATE '2026-03-02', 'f': 1.50::DECIMAL(6, 2)}",
			`{"a":` + want + `,"b \"(, c":[{"d":` + want + `}],"e":"2026-03-02","f":1.50}`},
		{"MAP {" + at + ": {'a': " + at + "}}", `{` + want + `:{"a":` + want + `}}`},
		{"MAP {DATE '2026-03-02': MAP {1.50::DECIMAL(6, 2): [" + at + "]}}", `{"2026-03-02":{"1.50":[` + want + `]}}`},
		{"[INTERVAL 1 DAY]", `["1 day"]`},
		{"[TIMESTAMPTZ 'infinity', '-infinity']", `["infinity","-infinity"]`},
		{"[TIMESTAMP 'infinity', '-infinity']", `["infinity","-infinity"]`},
		{"[DATE 'infinity', '-infinity', '9999-12-31']", `["infinity","-infinity","9999-12-31"]`},
		{"['nan'::DOUBLE, 'inf', '-inf', 1.5, 1e21, 0.1]", `["NaN","Infinity","-Infinity",1.5,1e+21,0.1]`},
		{"['nan'::FLOAT, 'inf', 0.1]", `["NaN","Infinity",0.1]`},
	} {
		var got strings.Builder
		rows, err := answer.Query(t.Context(), db, "SELECT "+test.value+" AS v")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(rows.WriteNDJSON(&got), rows.Close()); err != nil {
			t.Fatal(err)
		}
		if want := `{"v":` + test.want + "}\n"; got.String() != want {
			t.Errorf("%s: got %s, want %s", test.value, got.String(), want)
		}
	}
	for _, value := range []string{
		"INTERVAL 1 DAY", "INTERVAL 36 HOUR", "INTERVAL '-1 day 2 hours'", "INTERVAL '14 months 3 days 04:05:06.0709'", "INTERVAL 0 DAY",
		"INTERVAL '-90 seconds'", "INTERVAL '-1 month'", "INTERVAL '-14 months'", "INTERVAL '300 hours'", "INTERVAL '-1 microsecond'",
	} {
		rows, err := answer.Query(t.Context(), db, "SELECT "+value+", ("+value+")::VARCHAR")
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		if cells := rows.Texts(); cells[0] != cells[1] {
			t.Errorf("%s: got %s, want %s", value, cells[0], cells[1])
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRowsAsText writes values that need care in CSV and in JSON lines: NULL and the empty text, what must be quoted, and
// binary values. CSV is what PostgreSQL's COPY … (FORMAT csv, HEADER) reads.
func TestRowsAsText(t *testing.T) {
	db := open(t)
	const question = `SELECT * FROM (VALUES
		(1, NULL, '\x00\xff'::BLOB, 1.50::DECIMAL(6,2), TIMESTAMPTZ '2026-03-02 22:00:00.000001Z'),
		(2, '', NULL, NULL, NULL),
		(3, 'a "b", c' || chr(10) || 'd', ''::BLOB, -0.01, DATE '2026-03-02'),
		(4, '\.', NULL, 0, NULL),
		(5, ' x ', NULL, 0, NULL)) t(id, "a ""name""", bytes, amount, seen) ORDER BY id`
	write := map[string]func(*answer.Rows, *strings.Builder) error{
		"csv":    func(r *answer.Rows, out *strings.Builder) error { return r.WriteCSV(out) },
		"ndjson": func(r *answer.Rows, out *strings.Builder) error { return r.WriteNDJSON(out) },
	}
	for format, want := range map[string]string{
		"csv": `id,"a ""name""",bytes,amount,seen
1,,\x00ff,1.50,2026-03-02T22:00:00.000001Z
2,"",,,
3,"a ""b"", c
d",\x,-0.01,2026-03-02T00:00:00Z
4,"\.",,0.00,
5," x ",,0.00,
`,
		"ndjson": `{"id":1,"a \"name\"":null,"bytes":"AP8=","amount":1.50,"seen":"2026-03-02T22:00:00.000001Z"}
{"id":2,"a \"name\"":"","bytes":null,"amount":null,"seen":null}
{"id":3,"a \"name\"":"a \"b\", c\nd","bytes":"","amount":-0.01,"seen":"2026-03-02T00:00:00Z"}
{"id":4,"a \"name\"":"\\.","bytes":null,"amount":0.00,"seen":null}
{"id":5,"a \"name\"":" x ","bytes":null,"amount":0.00,"seen":null}
`,
	} {
		rows, err := answer.Query(t.Context(), db, question)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		if err := write[format](rows, &got); err != nil {
			t.Fatal(err)
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
		if got.String() != want {
			t.Errorf("%s: got\n%s\nwant\n%s", format, got.String(), want)
		}
	}
}
