package lake

import "dealflow/schemas/api"

func bondPricedBanks() *Table {
	return &Table{
		Name: "bond_priced_banks", Service: api.Bond, Kind: api.Priced,
		Rows:     "/banks/*",
		Identity: []string{"name", "status"},
		Doc:      "Banks of priced bond deals.",
		Columns: []Column{
			{Number: 11, Name: "name", Type: Text, Pointer: "/banks/*/name", Doc: "Name of the bank as the source spells it."},
			{Number: 12, Name: "status", Type: Text, Pointer: "/banks/*/status", Doc: "Role of the bank, free text. A bank with two roles has two entries."},
		},
	}
}
