package lake

import "dealflow/schemas/api"

func bondPricedPriceEvolution() *Table {
	return &Table{
		Name: "bond_priced_price_evolution", Service: api.Bond, Kind: api.Priced,
		Rows:     "/priceEvolution/*",
		Identity: []string{"date", "value"},
		Doc:      "Price talk of priced bond deals, one row per step.",
		Columns: []Column{
			{Number: 11, Name: "date", Type: Timestamp, Pointer: "/priceEvolution/*/date", Doc: "When this price talk was given."},
			{Number: 12, Name: "value", Type: Text, Pointer: "/priceEvolution/*/value", Doc: "The price talk, free text."},
		},
		Helpers: helperColumns(
			readWithDeal(helpers(1, ParseEvolution, "value", "", evolutionParts), "currency"),
		),
	}
}
