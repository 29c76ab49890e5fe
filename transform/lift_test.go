package transform_test

import (
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/internal/testkit"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// TestLifterBase lifts rows without a link column: each link is relative to the base of its own version. The column's Since
// is changed, so the test is not parallel.
func TestLifterBase(t *testing.T) {
	table, _ := lake.TableByName("bond_priced_deals")
	link := slices.IndexFunc(table.Columns, func(c lake.Column) bool { return c.Name == "self_href" })
	table.Columns[link].Since = lake.SchemaVersion
	t.Cleanup(func() { table.Columns[link].Since = 0 })
	feed, payload := mustFeed(t, "bond/ig/priced"), []byte(`{"dealId":1,"market":"IG","_links":{"self":{"href":"HTTP://one.example/v3/deal/1"}}}`)
	lifter := transform.NewLifter(testkit.Allocator(t), feed)
	defer lifter.Release()
	lifter.Remember(1, 1, mustBase(t, "http://one.example"), payload)
	lifter.Remember(1, 2, mustBase(t, "http://two.example"), payload)
	lifter.Remember(1, 3, api.Base{}, payload)
	older := lake.ColumnsAt(table.HistoryColumns(), lake.SchemaVersion-1)
	b := array.NewRecordBuilder(testkit.Allocator(t), lake.ArrowSchema(older))
	defer b.Release()
	for version := range int32(3) {
		for i := range older {
			switch older[i].Name {
			case "market":
				b.Field(i).(*array.StringBuilder).Append("IG")
			case "deal_id":
				b.Field(i).(*array.Int64Builder).Append(1)
			case "version":
				b.Field(i).(*array.Int32Builder).Append(version + 1)
			default:
				b.Field(i).AppendNull()
			}
		}
	}
	record := b.NewRecord()
	defer record.Release()
	lifted := lifter.Lift(table, record)
	defer lifted.Release()
	for row, want := range []string{"/v3/deal/1", "HTTP://one.example/v3/deal/1", "HTTP://one.example/v3/deal/1"} {
		if got := lifted.Column(len(table.KeyColumns()) + link).ValueStr(row); got != want {
			t.Errorf("version %d: got %s, want %s", row+1, got, want)
		}
	}
}

// TestPayloadRows wants the rows of a table that came after the first schema version, and of no other. The table's Since is
// changed, so the test is not parallel.
func TestPayloadRows(t *testing.T) {
	banks, _ := lake.TableByName("bond_priced_banks")
	steps, _ := lake.TableByName("bond_priced_price_evolution")
	banks.Since = lake.SchemaVersion
	t.Cleanup(func() { banks.Since = 0 })
	lifter := transform.NewLifter(testkit.Allocator(t), mustFeed(t, "bond/ig/priced"))
	defer lifter.Release()
	lifter.Remember(7, 1, api.Base{}, []byte(`{"dealId":7,"banks":[{"name":"one"},{"name":"two"}],"priceEvolution":[{"value":"MS+90"}]}`))
	lifter.Remember(8, 1, api.Base{}, []byte(`{"dealId":8,"banks":[]}`))
	lifter.Remember(8, 2, api.Base{}, []byte(`no payload`))
	rows := func(table *lake.Table) (all []string) {
		for _, record := range lifter.PayloadRows(table) {
			for row := range int(record.NumRows()) {
				line := ""
				for _, column := range record.Columns() {
					line += column.ValueStr(row) + " "
				}
				all = append(all, line)
			}
		}
		return all
	}
	want := []string{"IG 7 1 1 one (null) ", "IG 7 1 2 two (null) "}
	if got := rows(banks); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	lifter.Remember(9, 1, api.Base{}, []byte(`{"dealId":9,"banks":[{"name":"three"}]}`))
	if got := rows(banks); !slices.Equal(got, append(want, "IG 9 1 1 three (null) ")) {
		t.Errorf("after one more: got %q", got)
	}
	if got := rows(steps); len(got) > 0 {
		t.Errorf("a table of the first schema version: got %q, want none", got)
	}
	if record := lifter.PayloadRows(banks)[0]; !arrow.TypeEqual(arrow.StructOf(record.Schema().Fields()...), arrow.StructOf(lake.BatchSchema(banks.HistoryColumns()).Fields()...)) {
		t.Errorf("got schema %s", record.Schema())
	}
}
