package lake

import "dealflow/schemas/api"

func bondExpectedDealHistory() *Table {
	return &Table{
		Name: "bond_expected_deal_history", Service: api.Bond, Kind: api.Expected,
		Rows:     "/dealHistory/*",
		Identity: []string{"changed"},
		Doc:      "News about expected bond deals, one row per entry.",
		Columns: []Column{
			{Number: 11, Name: "changed", Type: Timestamp, Pointer: "/dealHistory/*/changed", Doc: "When the entry was written."},
			{Number: 12, Name: "headline", Type: Text, Distinct: true, Pointer: "/dealHistory/*/headline", Doc: "Headline of the entry, free text."},
			{Number: 13, Name: "message", Type: Text, Distinct: true, Pointer: "/dealHistory/*/message", Doc: "Message of the entry, free text."},
		},
	}
}
