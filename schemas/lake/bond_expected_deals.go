package lake

import "dealflow/schemas/api"

func bondExpectedDeals() *Table {
	return &Table{
		Name: "bond_expected_deals", Service: api.Bond, Kind: api.Expected,
		Doc: "Expected bond deals: the pipeline, and deals that have just priced.",
		Columns: []Column{
			{Number: 11, Name: "created", Type: Timestamp, Pointer: "/created", Doc: "When the source created the deal."},
			{Number: 12, Name: "changed", Type: Timestamp, Pointer: "/changed", Doc: "When the source last changed the deal."},
			{Number: 13, Name: "headline", Type: Text, Distinct: true, Pointer: "/headline", Doc: "The newest headline, free text."},
			{Number: 14, Name: "message", Type: Text, Distinct: true, Pointer: "/message", Doc: "The newest message, free text."},
			{Number: 15, Name: "borrower_name", Type: Text, Pointer: "/borrower/name", Doc: "Name of the borrower or issuer as the source spells it."},
			{Number: 16, Name: "borrower_region", Type: Text, Pointer: "/borrower/region", Doc: "Region of the borrower."},
			{Number: 17, Name: "borrower_type", Type: Text, Pointer: "/borrower/type", Doc: "Type of the borrower, free text."},
			{Number: 18, Name: "borrower_country", Type: Text, Pointer: "/borrower/country", Doc: "Country of the borrower, free text."},
			{Number: 19, Name: "borrower_sector", Type: Text, Pointer: "/borrower/sector", Doc: "Sector of the borrower, free text."},
			{Number: 20, Name: "borrower_subsector", Type: Text, Pointer: "/borrower/subsector", Doc: "Subsector of the borrower, free text."},
			{Number: 21, Name: "borrower_ticker", Type: Text, Pointer: "/borrower/ticker", Doc: "Ticker of the borrower."},
			{Number: 22, Name: "covered_bonds", Type: Bool, Pointer: "/coveredBonds", Markets: igAndHY, Doc: "Whether covered bonds are expected."},
			{Number: 23, Name: "self_href", Type: Text, Distinct: true, Pointer: "/_links/self/href", Part: Href, Doc: "Link to this deal, relative to the API's base URL. A link to another address is complete."},
		},
	}
}
