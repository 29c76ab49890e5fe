package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// maxDifferences is the largest number of lines that Compare writes.
const maxDifferences = 20

// keyColumns order rows and identify them in differences. A row has those of its table.
var keyColumns = []string{"service", "market", "kind", "snapshot_date", "deal_id", "version", "tranche_ordinal", "ordinal"}

// Compare describes how two sets of rows differ: one line for each row that is missing or unexpected, and for each
// column that differs; "" if they are equal. The order of the rows does not matter. Integers of all widths are equal if
// their values are. A missing column differs from one that is nil.
func Compare(want, got []Row) string {
	want, got = sorted(want), sorted(got)
	var lines []string
	for len(want) > 0 || len(got) > 0 {
		switch {
		case len(got) == 0 || len(want) > 0 && compareKeys(want[0], got[0]) < 0:
			lines = append(lines, "missing row "+describe(want[0]))
			want = want[1:]
		case len(want) == 0 || compareKeys(want[0], got[0]) > 0:
			lines = append(lines, "extra row "+describe(got[0]))
			got = got[1:]
		default:
			lines = append(lines, differences(want[0], got[0])...)
			want, got = want[1:], got[1:]
		}
	}
	if more := len(lines) - maxDifferences; more > 0 {
		lines = append(lines[:maxDifferences], fmt.Sprintf("… and %d more differences", more))
	}
	return strings.Join(lines, "\n")
}

// differences compares two rows of one key, column by column.
func differences(want, got Row) []string {
	columns := map[string]bool{}
	for _, row := range []Row{want, got} {
		for name := range row {
			columns[name] = true
		}
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		if w, g := show(want, name), show(got, name); w != g {
			lines = append(lines, fmt.Sprintf("row %s: %s: want %s, got %s", keyOf(want), name, w, g))
		}
	}
	return lines
}

// show returns a column's value as a text that no other value has.
func show(row Row, name string) string {
	value, ok := row[name]
	if !ok {
		return "no such column"
	}
	switch v := plain(value).(type) {
	case nil, int64, bool:
		return fmt.Sprint(v)
	case string:
		return fmt.Sprintf("%q", v)
	default:
		return fmt.Sprintf("%T(%v)", v, v)
	}
}

// plain widens integers to int64.
func plain(value any) any {
	switch v := value.(type) {
	case nil, int64, string:
		return v
	}
	if v := reflect.ValueOf(value); v.IsValid() && v.CanInt() {
		return v.Int()
	}
	return value
}

func sorted(rows []Row) []Row { return slices.SortedStableFunc(slices.Values(rows), compareKeys) }

func compareKeys(a, b Row) int {
	for _, name := range keyColumns {
		if order := compareValues(a[name], b[name]); order != 0 {
			return order
		}
	}
	return 0
}

// compareValues orders integers as numbers, texts as texts, and anything else by its text.
func compareValues(a, b any) int {
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok {
			return strings.Compare(s, t)
		}
	}
	a, b = plain(a), plain(b)
	m, ok1 := a.(int64)
	n, ok2 := b.(int64)
	if ok1 && ok2 {
		return cmp.Compare(m, n)
	}
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

func keyOf(row Row) string {
	var parts []string
	for _, name := range keyColumns {
		if value, ok := row[name]; ok {
			parts = append(parts, fmt.Sprintf("%s=%v", name, value))
		}
	}
	return strings.Join(parts, " ")
}

// describe returns a complete row as text: its key, then its other columns that are not nil.
func describe(row Row) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(row)) {
		if row[name] != nil && !slices.Contains(keyColumns, name) {
			parts = append(parts, name+"="+show(row, name))
		}
	}
	return keyOf(row) + " {" + strings.Join(parts, " ") + "}"
}
