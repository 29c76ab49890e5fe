package lake

import "dealflow/schemas/api"

func bondExpectedTranches() *Table {
	return &Table{
		Name: "bond_expected_tranches", Service: api.Bond, Kind: api.Expected,
		Rows:     "/_embedded/tranches/*",
		Identity: []string{TrancheIdentity},
		Doc:      "Tranches of expected bond deals.",
		Columns: []Column{
			{Number: 11, Name: "name", Type: Text, Pointer: "/_embedded/tranches/*/name", Doc: "Name of the tranche; neither unique nor stable."},
			{Number: 12, Name: "changed", Type: Timestamp, Pointer: "/_embedded/tranches/*/changed", Doc: "When the source last changed the tranche."},
			{Number: 13, Name: "status", Type: Text, Pointer: "/_embedded/tranches/*/status", Allowed: everywhere("EXPECTED", "TO_BE_INCREASED", "INCREASED", "PRICED"), Doc: "Status of the tranche."},
			{Number: 14, Name: "currency", Type: Text, Pointer: "/_embedded/tranches/*/currency", Doc: "Currency code of the amounts, as written."},
			{Number: 15, Name: "volume", Type: Text, Pointer: "/_embedded/tranches/*/volume", Doc: "Size, free text such as EUR500m."},
			{Number: 16, Name: "structure", Type: Text, Pointer: "/_embedded/tranches/*/structure", Doc: "Structure, free text such as 8NC3."},
			{Number: 17, Name: "price_evolution", Type: Text, Pointer: "/_embedded/tranches/*/priceEvolution", Doc: "Latest price talk, free text."},
			{Number: 18, Name: "timing", Type: Text, Pointer: "/_embedded/tranches/*/timing", Doc: "Timing, free text."},
			{Number: 19, Name: "figi_code", Type: Text, Distinct: true, Pointer: "/_embedded/tranches/*/figiCode", Doc: "FIGI."},
			{Number: 20, Name: "books", Type: Text, Pointer: "/_embedded/tranches/*/books", Markets: igAndHY, Doc: "State of the order book, free text."},
			{Number: 21, Name: "ratings_moodys", Type: Text, Pointer: "/_embedded/tranches/*/ratings/moodys", Markets: emOnly, Doc: "Expected rating by Moody's scale, as written."},
			{Number: 22, Name: "ratings_standard_and_poors", Type: Text, Pointer: "/_embedded/tranches/*/ratings/standardAndPoors", Markets: emOnly, Doc: "Expected rating by Standard & Poor's scale, as written."},
			{Number: 23, Name: "ratings_fitch", Type: Text, Pointer: "/_embedded/tranches/*/ratings/fitch", Markets: emOnly, Doc: "Expected rating by Fitch scale, as written."},
			{Number: 24, Name: "priced_deal_href", Type: Text, Distinct: true, Pointer: "/_embedded/tranches/*/_links/pricedDeal/href", Part: Href, Doc: "Link to the deal that priced, relative to the API's base URL."},
			{Number: 25, Name: "priced_deal_id", Type: Int64, Pointer: "/_embedded/tranches/*/_links/pricedDeal/href", Part: HrefID, Doc: "deal_id of the deal that priced: the number at the end of the link's path."},
		},
		Helpers: helperColumns(
			helpers(1, ParseVolume, "volume", "currency", volumeParts),
			helpers(2, ParseStructure, "structure", "", structureParts),
			helpers(3, ParseEvolution, "price_evolution", "currency", evolutionParts),
			helpers(4, ParseBooks, "books", "currency", booksParts),
			ratings(5, "ratings", ""),
		),
	}
}
