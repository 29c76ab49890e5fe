package lake

import "dealflow/schemas/api"

func bondPricedGeographies() *Table {
	return &Table{
		Name: "bond_priced_geographies", Service: api.Bond, Kind: api.Priced,
		Rows: "/stats/geography/*", Map: true,
		Identity: []string{"geography"},
		Doc:      "Allocation of priced bond deals by geography.",
		Columns: []Column{
			{Number: 11, Name: "geography", Type: Text, Pointer: "/stats/geography/*", Part: Key, Doc: "Geography of investors, free text: the key in the source's map."},
			{Number: 12, Name: "value", Type: Money, Earlier: []EarlierType{{Until: 2, Type: Price}}, Pointer: "/stats/geography/*", Unit: "as stated, usually percent", Doc: "Share of the allocation as stated, usually in percent."},
		},
	}
}
