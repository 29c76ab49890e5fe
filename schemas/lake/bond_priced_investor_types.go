package lake

import "dealflow/schemas/api"

func bondPricedInvestorTypes() *Table {
	return &Table{
		Name: "bond_priced_investor_types", Service: api.Bond, Kind: api.Priced,
		Rows: "/stats/investorType/*", Map: true,
		Identity: []string{"investor_type"},
		Doc:      "Allocation of priced bond deals by type of investor.",
		Columns: []Column{
			{Number: 11, Name: "investor_type", Type: Text, Pointer: "/stats/investorType/*", Part: Key, Doc: "Type of investor, free text: the key in the source's map."},
			{Number: 12, Name: "value", Type: Money, Earlier: []EarlierType{{Until: 2, Type: Price}}, Pointer: "/stats/investorType/*", Unit: "as stated, usually percent", Doc: "Share of the allocation as stated, usually in percent."},
		},
	}
}
