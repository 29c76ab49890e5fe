package lake

import "dealflow/schemas/api"

func loanExpectedDeals() *Table {
	return &Table{
		Name: "loan_expected_deals", Service: api.Loan, Kind: api.Expected,
		Doc: "Expected loan deals: the pipeline, and deals that have just priced.",
		Columns: []Column{
			{Number: 11, Name: "stage", Type: Text, Pointer: "/stage", Doc: "Stage of the deal, free text."},
			{Number: 12, Name: "created", Type: Timestamp, Pointer: "/created", Doc: "When the source created the deal."},
			{Number: 13, Name: "changed", Type: Timestamp, Pointer: "/changed", Doc: "When the source last changed the deal."},
			{Number: 14, Name: "headline", Type: Text, Distinct: true, Pointer: "/headline", Doc: "The newest headline, free text."},
			{Number: 15, Name: "message", Type: Text, Distinct: true, Pointer: "/message", Doc: "The newest message, free text."},
			{Number: 16, Name: "borrower_name", Type: Text, Pointer: "/borrower/name", Doc: "Name of the borrower or issuer as the source spells it."},
			{Number: 17, Name: "borrower_region", Type: Text, Pointer: "/borrower/region", Allowed: everywhere(loanRegions...), Doc: "Region of the borrower."},
			{Number: 18, Name: "borrower_country", Type: Text, Pointer: "/borrower/country", Doc: "Country of the borrower, free text."},
			{Number: 19, Name: "borrower_type", Type: Text, Pointer: "/borrower/type", Doc: "Type of the borrower, free text."},
			{Number: 20, Name: "borrower_sector", Type: Text, Pointer: "/borrower/sector", Doc: "Sector of the borrower, free text."},
			{Number: 21, Name: "borrower_subsector", Type: Text, Pointer: "/borrower/subsector", Doc: "Subsector of the borrower, free text."},
			{Number: 22, Name: "borrower_secondary_subsector", Type: Text, Pointer: "/borrower/secondarySubsector", Doc: "Second subsector of the borrower, free text."},
			{Number: 23, Name: "borrower_asset_category", Type: Text, Pointer: "/borrower/assetCategory", Doc: "Asset category (asset finance), free text."},
			{Number: 24, Name: "borrower_grade", Type: Text, Pointer: "/borrower/grade", Doc: "Grade of the borrower, free text."},
			{Number: 25, Name: "borrower_sponsor_backed", Type: Bool, Pointer: "/borrower/sponsors/sponsorBacked", Doc: "Whether a financial sponsor backs the borrower."},
			{Number: 26, Name: "borrower_ticker", Type: Text, Pointer: "/borrower/ticker", Doc: "Ticker of the borrower."},
			{Number: 27, Name: "use_of_proceeds_mergers_and_acquisitions", Type: Bool, Pointer: "/useOfProceeds/mergersAndAcquisitions", Doc: "Whether proceeds pay for mergers or acquisitions."},
			{Number: 28, Name: "use_of_proceeds_pre_post_ipo", Type: Bool, Pointer: "/useOfProceeds/prePostIpo", Doc: "Whether proceeds are for use before or after an initial public offering."},
			{Number: 29, Name: "use_of_proceeds_refi", Type: Bool, Pointer: "/useOfProceeds/refi", Doc: "Whether proceeds refinance debt."},
			{Number: 30, Name: "use_of_proceeds_gcp", Type: Bool, Pointer: "/useOfProceeds/gcp", Doc: "Whether proceeds are for general corporate purposes."},
			{Number: 31, Name: "use_of_proceeds_other", Type: Bool, Pointer: "/useOfProceeds/other", Doc: "Whether proceeds have another use."},
			{Number: 32, Name: "use_of_proceeds_lbo", Type: Bool, Pointer: "/useOfProceeds/lbo", Doc: "Whether proceeds pay for a leveraged buy-out."},
			{Number: 33, Name: "use_of_proceeds_sbo", Type: Bool, Pointer: "/useOfProceeds/sbo", Doc: "Whether proceeds pay for a secondary buy-out."},
			{Number: 34, Name: "use_of_proceeds_dividend_recap", Type: Bool, Pointer: "/useOfProceeds/dividendRecap", Doc: "Whether proceeds pay a dividend."},
			{Number: 35, Name: "self_href", Type: Text, Distinct: true, Pointer: "/_links/self/href", Part: Href, Doc: "Link to this deal, relative to the API's base URL. A link to another address is complete."},
			{Number: 36, Name: "priced_deal_href", Type: Text, Distinct: true, Pointer: "/_links/pricedDeal/href", Part: Href, Doc: "Link to the deal that priced, relative to the API's base URL."},
			{Number: 37, Name: "priced_deal_id", Type: Int64, Pointer: "/_links/pricedDeal/href", Part: HrefID, Doc: "deal_id of the deal that priced: the number at the end of the link's path."},
		},
	}
}
