package lake_test

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// section is a chapter of testdata/tables.md.
type section struct {
	name  string
	text  string // its lines outside tables, joined by spaces
	cells [][3]string
}

var cellLine = regexp.MustCompile(`^\| (.+?) \| (.+?) \| ?(.*?) ?\|$`)

// readDocument reads testdata/tables.md, the binding list of columns.
func readDocument(t *testing.T) []section {
	t.Helper()
	data, err := os.ReadFile("../../testdata/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	var sections []section
	for line := range strings.SplitSeq(string(data), "\n") {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			name, _, _ = strings.Cut(name, " ")
			sections = append(sections, section{name: name})
			continue
		}
		if len(sections) == 0 {
			continue
		}
		s := &sections[len(sections)-1]
		switch m := cellLine.FindStringSubmatch(line); {
		case m == nil && !strings.HasPrefix(line, "|"):
			s.text = strings.TrimSpace(s.text + " " + line)
		case m != nil && m[1] != "column":
			s.cells = append(s.cells, [3]string{m[1], m[2], m[3]})
		}
	}
	return sections
}

func sectionOf(t *testing.T, name string) section {
	t.Helper()
	sections := readDocument(t)
	i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("testdata/tables.md has no section %s", name)
	}
	return sections[i]
}

// typeNames are the names of types in testdata/tables.md.
var typeNames = map[lake.Type]string{
	lake.Text: "UTF8", lake.Int32: "INT32", lake.Int64: "INT64", lake.Bool: "BOOLEAN", lake.Date: "DATE",
	lake.Timestamp: "TIMESTAMP(µs, UTC)", lake.Money: "DECIMAL(24,6)", lake.Rate: "DECIMAL(20,10)",
	lake.Price: "DECIMAL(12,6)", lake.Hash: "BINARY(32)",
}

// heading is the line under a flattened table's name.
var heading = regexp.MustCompile("^one row per (?:deal|entry of `([^`]+)`( \\(a map: entries sorted by key\\))?(?: in each `([^`]+)`)?); key (.+)$")

// TestTables compares the flattened tables with testdata/tables.md: tables and columns in its order, with type and
// source.
func TestTables(t *testing.T) {
	var flattened []section
	for _, s := range readDocument(t) {
		if heading.MatchString(s.text) {
			flattened = append(flattened, s)
		}
	}
	tables := lake.Tables()
	if len(flattened) != len(tables) {
		t.Fatalf("got %d tables declared and %d documented, want as many", len(tables), len(flattened))
	}
	for i, table := range tables {
		t.Run(table.Name, func(t *testing.T) {
			s := flattened[i]
			m := heading.FindStringSubmatch(s.text)
			if table.Name != s.name || table.Map != (m[2] != "") || table.Doc == "" {
				t.Errorf("got table %s, map %t, doc %q; want %s, map %t, and a doc", table.Name, table.Map, table.Doc, s.name, m[2] != "")
			}
			if prefix := fmt.Sprintf("%s_%s_", table.Service, table.Kind); !strings.HasPrefix(table.Name, prefix) {
				t.Errorf("got service and kind %s", prefix)
			}
			rows := listPointer(m[3]) + listPointer(m[1])
			if table.Rows != rows {
				t.Errorf("got rows %q, want %q", table.Rows, rows)
			}
			if got := strings.Join(names(table.KeyColumns()), ", "); got != m[4] {
				t.Errorf("got key %s, want %s", got, m[4])
			}
			if len(table.Columns) != len(s.cells) {
				t.Fatalf("got columns %v, want %v", names(table.Columns), s.cells)
			}
			for c, want := range s.cells {
				got := table.Columns[c]
				pointer, part := source(rows, want[2])
				if got.Name != want[0] || typeNames[got.Type] != want[1] || got.Pointer != pointer || got.Part != part {
					t.Errorf("column %d: got %s %s from %q part %d, want %s %s from %q part %d",
						c, got.Name, typeNames[got.Type], got.Pointer, got.Part, want[0], want[1], pointer, part)
				}
			}
			if found, ok := lake.TableByName(table.Name); !ok || found != table {
				t.Errorf("TableByName finds another table")
			}
		})
	}
}

// listPointer returns the pointer of the entries of a list, which testdata/tables.md writes with dots.
func listPointer(list string) string {
	if list == "" {
		return ""
	}
	return "/" + strings.ReplaceAll(list, ".", "/") + "/*"
}

// source parses the "from" of testdata/tables.md, relative to the pointer of the table's rows.
func source(rows, from string) (pointer string, part lake.Part) {
	switch from {
	case "the entry", "the value":
		return rows, lake.Value
	case "the key":
		return rows, lake.Key
	}
	path, isID := strings.CutSuffix(from, " (number at the end of its path)")
	pointer = rows + "/" + strings.ReplaceAll(path, ".", "/")
	switch {
	case isID:
		return pointer, lake.HrefID
	case strings.HasSuffix(path, ".href"):
		return pointer, lake.Href
	}
	return pointer, lake.Value
}

func names(columns []lake.Column) []string {
	var all []string
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return all
}

// TestDealVersionColumns compares history.deal_versions with testdata/tables.md.
func TestDealVersionColumns(t *testing.T) {
	var want []string
	for _, cells := range sectionOf(t, "history.deal_versions").cells {
		for name := range strings.SplitSeq(cells[0], ", ") {
			want = append(want, name+" "+cells[1])
		}
	}
	var got []string
	for _, c := range lake.DealVersionColumns() {
		got = append(got, c.Name+" "+typeNames[c.Type])
	}
	if !slices.Equal(got, want) {
		t.Errorf("got columns\n%q, want\n%q", got, want)
	}
}

var inBrackets = regexp.MustCompile(` \([^)]*\)`)

// TestRunColumns compares the tables runs and feed_runs with testdata/tables.md, and their rows with their columns.
func TestRunColumns(t *testing.T) {
	commit, feed := &lake.Commit{}, &lake.FeedRun{Feed: api.Feeds()[0]}
	for _, tt := range []struct {
		table   string
		columns []lake.Column
		row     map[string]any
	}{
		{"runs", lake.RunColumns(), lake.RunRow(commit)},
		{"feed_runs", lake.FeedRunColumns(), lake.FeedRunRow(commit, feed)},
	} {
		text := inBrackets.ReplaceAllString(sectionOf(t, tt.table).text, "")
		want := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
		if tt.table == "feed_runs" {
			// Columns that testdata/tables.md does not list: serving the lake needs the address, and users query the
			// others.
			want = append(want, "base_url", "out_of_entitlement", "sync_missed", "extract_ms", "write_ms")
		}
		if got := names(tt.columns); !slices.Equal(got, want) {
			t.Errorf("%s: got columns %q, want %q", tt.table, got, want)
		}
		for _, c := range tt.columns {
			if _, ok := tt.row[c.Name]; !ok || c.Doc == "" {
				t.Errorf("%s.%s: got doc %q and in the row %t, want both", tt.table, c.Name, c.Doc, ok)
			}
		}
		if len(tt.row) != len(tt.columns) {
			t.Errorf("%s: got %d values in a row, want %d", tt.table, len(tt.row), len(tt.columns))
		}
	}
}

// stored returns all tables that data files contain, with all their columns.
func stored() map[string][]lake.Column {
	all := map[string][]lake.Column{lake.DealVersions: lake.DealVersionColumns()}
	for _, table := range lake.Tables() {
		all[table.Name] = table.SnapshotColumns()
	}
	return all
}

// TestColumns checks the properties that every column of a data file must have.
func TestColumns(t *testing.T) {
	for table, columns := range stored() {
		byNumber, byName := map[int32]bool{}, map[string]bool{}
		for _, c := range columns {
			if c.Number < 1 || byNumber[c.Number] || byName[c.Name] {
				t.Errorf("%s.%s: number %d or the name is taken", table, c.Name, c.Number)
			}
			byNumber[c.Number], byName[c.Name] = true, true
			if !strings.HasSuffix(c.Doc, ".") {
				t.Errorf("%s.%s: got doc %q, want a sentence", table, c.Name, c.Doc)
			}
			if _, _, isDecimal := c.Type.Decimal(); isDecimal && c.Unit == "" {
				t.Errorf("%s.%s: a decimal without a unit", table, c.Name)
			}
			if c.Since > lake.SchemaVersion {
				t.Errorf("%s.%s: got since %d, want at most %d", table, c.Name, c.Since, lake.SchemaVersion)
			}
			if c.Name != strings.ToLower(c.Name) {
				t.Errorf("%s.%s: want a name in lower case", table, c.Name)
			}
		}
	}
	for _, table := range lake.Tables() {
		for i, c := range table.Columns {
			if want := int32(11 + i); c.Number != want || c.NotNull {
				t.Errorf("%s.%s: got number %d, not null %t; want %d and nullable", table.Name, c.Name, c.Number, c.NotNull, want)
			}
		}
		for _, c := range table.KeyColumns() {
			if c.Number > 10 || !c.NotNull {
				t.Errorf("%s.%s: got number %d, not null %t; want a number below 11 and not null", table.Name, c.Name, c.Number, c.NotNull)
			}
		}
	}
}

// TestColumnNumbers compares every number with that in the files written so far. Lines may only be added.
func TestColumnNumbers(t *testing.T) {
	var lines []string
	for table, columns := range stored() {
		columns = slices.SortedFunc(slices.Values(columns), func(a, b lake.Column) int { return cmp.Compare(a.Number, b.Number) })
		for _, c := range columns {
			lines = append(lines, fmt.Sprintf("%s %03d %s %s", table, c.Number, c.Name, typeNames[c.Type]))
		}
	}
	slices.Sort(lines)
	testkit.Golden(t, "../../testdata/column_numbers.txt", []byte(strings.Join(lines, "\n")+"\n"))
}

// TestTablesSince checks that each table that was added later says so: verify and replay rely on it.
func TestTablesSince(t *testing.T) {
	first := 0
	for _, table := range lake.Tables() {
		if table.Since <= 1 {
			first++
		}
		if table.Since > lake.SchemaVersion {
			t.Errorf("%s: got since %d, want at most %d", table.Name, table.Since, lake.SchemaVersion)
		}
	}
	if first != 17 {
		t.Errorf("got %d tables of the first schema version, want 17: a table that is added has Since", first)
	}
}

// TestArrowSchema checks that schemas carry name, type, nullability and Parquet field id.
func TestArrowSchema(t *testing.T) {
	for table, columns := range stored() {
		schema := lake.ArrowSchema(columns)
		if schema.NumFields() != len(columns) {
			t.Fatalf("%s: got %d fields, want %d", table, schema.NumFields(), len(columns))
		}
		for i, c := range columns {
			field := schema.Field(i)
			id, _ := field.Metadata.GetValue("PARQUET:field_id")
			if field.Name != c.Name || field.Nullable == c.NotNull || id != strconv.Itoa(int(c.Number)) || !arrow.TypeEqual(field.Type, c.Type.Arrow()) {
				t.Errorf("%s: got field %v, want column %+v", table, field, c)
			}
		}
	}
}

// TestBatchSchema checks that a text column has a dictionary exactly if it has one in the file, and that everything
// else is as in the file.
func TestBatchSchema(t *testing.T) {
	for table, columns := range stored() {
		batch, plain := lake.BatchSchema(columns), lake.ArrowSchema(columns).Fields()
		for i, c := range columns {
			want := plain[i]
			if c.Type == lake.Text && !c.Distinct {
				want.Type = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
			}
			if got := batch.Field(i); !got.Equal(want) {
				t.Errorf("%s: got field %v, want %v", table, got, want)
			}
		}
	}
}

// TestTypes fixes the Arrow and SQL types.
func TestTypes(t *testing.T) {
	for typ, want := range map[lake.Type][2]string{
		lake.Text: {"utf8", "VARCHAR"}, lake.Int32: {"int32", "INTEGER"}, lake.Int64: {"int64", "BIGINT"},
		lake.Bool: {"bool", "BOOLEAN"}, lake.Date: {"date32", "DATE"}, lake.Timestamp: {"timestamp[us, tz=UTC]", "TIMESTAMPTZ"},
		lake.Money: {"decimal(24, 6)", "DECIMAL(24,6)"}, lake.Rate: {"decimal(20, 10)", "DECIMAL(20,10)"},
		lake.Price: {"decimal(12, 6)", "DECIMAL(12,6)"}, lake.Hash: {"fixed_size_binary[32]", "BLOB"},
	} {
		if got := [2]string{typ.Arrow().String(), typ.SQL()}; got != want {
			t.Errorf("type %s: got %q, want %q", typeNames[typ], got, want)
		}
	}
}

// TestMarketsAndValues checks that limits to markets name markets of the table's service, and that
// lists of allowed values belong to texts.
func TestMarketsAndValues(t *testing.T) {
	for _, table := range lake.Tables() {
		for _, c := range table.Columns {
			markets := slices.Clone(c.Markets)
			for market, values := range c.Allowed {
				if market != "" {
					markets = append(markets, market)
				}
				if len(values) == 0 || c.Type != lake.Text {
					t.Errorf("%s.%s: got %d allowed values of type %s", table.Name, c.Name, len(values), typeNames[c.Type])
				}
			}
			for _, market := range markets {
				if !slices.Contains(api.Markets(table.Service), market) {
					t.Errorf("%s.%s: got market %s, want one of %v", table.Name, c.Name, market, api.Markets(table.Service))
				}
			}
		}
	}
}

// TestFeedTables checks which tables a feed has, and that the deals' own table is the first.
func TestFeedTables(t *testing.T) {
	count := 0
	for _, feed := range api.Feeds() {
		tables := lake.FeedTables(feed)
		if want := fmt.Sprintf("%s_%s_deals", feed.Service, feed.Kind); len(tables) == 0 || tables[0].Name != want || tables[0].Depth() != 0 {
			t.Errorf("%s: want %s first", feed, want)
		}
		count += len(tables)
	}
	if want := 3 * len(lake.Tables()); count != want {
		t.Errorf("got %d tables over all feeds, want each of %d three times", count, want/3)
	}
	if _, ok := lake.TableByName("deals"); ok {
		t.Error("TableByName finds a table that is not there")
	}
}

// TestEarlierTypes checks what readers of older files rely on: a column's earlier types are narrower decimals of the
// same scale, in order of version. Columns of keys and of deal_versions have none: maintenance copies them unchanged.
func TestEarlierTypes(t *testing.T) {
	for _, column := range lake.DealVersionColumns() {
		if column.Earlier != nil {
			t.Errorf("deal_versions.%s: got an earlier type, want none", column.Name)
		}
	}
	for _, table := range lake.Tables() {
		for _, column := range table.KeyColumns() {
			if column.Earlier != nil {
				t.Errorf("%s.%s: got an earlier type, want none", table.Name, column.Name)
			}
		}
		for _, column := range table.ValueColumns() {
			until := max(column.Since, 1) - 1
			types := []lake.Type{}
			for _, earlier := range column.Earlier {
				if earlier.Until <= until || earlier.Until >= lake.SchemaVersion || column.TypeAt(earlier.Until) != earlier.Type {
					t.Errorf("%s.%s: got %s up to version %d, want versions that rise, from %d to %d", table.Name, column.Name, earlier.Type.SQL(), earlier.Until, until+1, lake.SchemaVersion-1)
				}
				until = earlier.Until
				types = append(types, earlier.Type)
			}
			for i, before := range types {
				precision, scale, ok := before.Decimal()
				morePrecise, sameScale, ok2 := append(types, column.Type)[i+1].Decimal()
				if !ok || !ok2 || precision >= morePrecise || scale != sameScale {
					t.Errorf("%s.%s: got %s before a type that is no wider decimal of its scale", table.Name, column.Name, before.SQL())
				}
			}
		}
	}
}
