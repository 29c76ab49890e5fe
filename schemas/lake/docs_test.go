package lake_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

const docsDir = "../../docs/generated/tables"

// TestDocsTables compares docs/generated/tables with the columns; with -update it writes them.
func TestDocsTables(t *testing.T) {
	pages := map[string]string{"README.md": tablesIndex()}
	for _, table := range lake.Tables() {
		pages[table.Name+".md"] = tablePage(table)
	}
	for name, want := range pages {
		testkit.Golden(t, filepath.Join(docsDir, name), []byte(want))
	}
	entries, err := os.ReadDir(docsDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if _, known := pages[entry.Name()]; !known {
			t.Errorf("docs/generated/tables/%s is the page of no table; delete it", entry.Name())
		}
	}
}

func tablesIndex() string {
	var b strings.Builder
	b.WriteString(testkit.Generated + "# Tables\n\nThe tables, one page each, made from the columns in `schemas/lake`. Each row belongs to one\n[version](../../reference/glossary.md) of a deal. [Helper columns](../helper-columns.md) are numbers that parsers read\nin texts.\n\n| table | rows | columns |\n|---|---|---|\n")
	for _, table := range lake.Tables() {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %d |\n", table.Name, table.Name, table.Doc, len(table.HistoryColumns()))
	}
	return b.String()
}

func tablePage(table *lake.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, testkit.Generated+"# %s\n\n%s Made from the columns in `schemas/lake/%s.go`.\n\n", table.Name, table.Doc, table.Name)
	row := "One row per deal and version."
	if table.Rows != "" {
		row = fmt.Sprintf("One row per entry of `%s`.", table.Rows)
	}
	var keys []string
	for _, key := range table.KeyColumns() {
		keys = append(keys, "`"+key.Name+"`")
	}
	fmt.Fprintf(&b, "%s Feeds: %s. Key: %s. Snapshots have `snapshot_date` as their last column.", row, feedsOf(table), strings.Join(keys, ", "))
	if table.Since > 1 {
		fmt.Fprintf(&b, " Since schema version %d.", table.Since)
	}
	b.WriteString("\n\n")
	b.WriteString("| no. | column | type | from | markets | meaning |\n|---:|---|---|---|---|---|\n")
	for _, column := range table.SnapshotColumns() {
		from := "key"
		switch {
		case column.IsHelper():
			from = "parsed"
			switch {
			case column.IsComposite():
				from = "`" + strings.Join(lake.RatingColumns(column.Parse.From), "`, `") + "`, joined"
			case column.Parse.From != "":
				from = "`" + column.Parse.From + "`, parsed"
			}
		case column.Pointer != "":
			from = "`" + column.Pointer + "`" + parts[column.Part]
		}
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s | %s | %s |\n", column.Number, column.Name, column.Type.SQL(), from, marketsOf(table, &column), meaning(&column))
	}
	return b.String()
}

// parts are the texts for the part of a value that a column contains.
var parts = map[lake.Part]string{lake.Key: " (its key)", lake.HrefID: " (the number at its end)"}

func feedsOf(table *lake.Table) string {
	var names []string
	for _, feed := range api.Feeds() {
		if feed.Service == table.Service && feed.Kind == table.Kind {
			names = append(names, "`"+feed.String()+"`")
		}
	}
	return strings.Join(names, ", ")
}

func marketsOf(table *lake.Table, column *lake.Column) string {
	var in, out []string
	for _, market := range api.Markets(table.Service) {
		if column.In(market) {
			in = append(in, string(market))
		} else {
			out = append(out, string(market))
		}
	}
	if len(out) == 0 {
		return "all"
	}
	return strings.Join(in, ", ")
}

// meaning returns the column's sentence, its unit and its allowed values.
func meaning(column *lake.Column) string {
	text := column.Doc
	if column.Unit != "" {
		text += " Unit: " + column.Unit + "."
	}
	if column.Parse.Sign != "" {
		text += " Positive: " + column.Parse.Sign + "."
	}
	for _, market := range []api.Market{"", api.IG, api.HY, api.EM, api.LL, api.CF, api.AF} {
		if values := column.Allowed[market]; len(values) > 0 {
			text += fmt.Sprintf(" %s: %s.", cmp.Or(string(market), "Values"), strings.Join(values, ", "))
		}
	}
	for _, earlier := range column.Earlier {
		text += fmt.Sprintf(" %s up to schema version %d.", earlier.Type.SQL(), earlier.Until)
	}
	if column.Since > 1 {
		text += fmt.Sprintf(" Since schema version %d.", column.Since)
	}
	return strings.ReplaceAll(text, "|", `\|`)
}
