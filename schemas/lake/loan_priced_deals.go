package lake

import "dealflow/schemas/api"

func loanPricedDeals() *Table {
	return &Table{
		Name: "loan_priced_deals", Service: api.Loan, Kind: api.Priced,
		Doc: "Priced or signed loan deals.",
		Columns: []Column{
			{Number: 11, Name: "priced_date", Type: Date, Pointer: "/pricedDate", Doc: "Day on which the loan priced or signed."},
			{Number: 12, Name: "headline", Type: Text, Distinct: true, Pointer: "/headline", Doc: "The newest headline, free text."},
			{Number: 13, Name: "message", Type: Text, Distinct: true, Pointer: "/message", Doc: "The newest message, free text."},
			{Number: 14, Name: "borrower_name", Type: Text, Pointer: "/borrower/name", Doc: "Name of the borrower or issuer as the source spells it."},
			{Number: 15, Name: "borrower_region", Type: Text, Pointer: "/borrower/region", Allowed: everywhere(loanRegions...), Doc: "Region of the borrower."},
			{Number: 16, Name: "borrower_country", Type: Text, Pointer: "/borrower/country", Doc: "Country of the borrower, free text."},
			{Number: 17, Name: "borrower_type", Type: Text, Pointer: "/borrower/type", Doc: "Type of the borrower, free text."},
			{Number: 18, Name: "borrower_sector", Type: Text, Pointer: "/borrower/sector", Doc: "Sector of the borrower, free text."},
			{Number: 19, Name: "borrower_subsector", Type: Text, Pointer: "/borrower/subsector", Doc: "Subsector of the borrower, free text."},
			{Number: 20, Name: "borrower_secondary_subsector", Type: Text, Pointer: "/borrower/secondarySubsector", Doc: "Second subsector of the borrower, free text."},
			{Number: 21, Name: "borrower_asset_category", Type: Text, Pointer: "/borrower/assetCategory", Doc: "Asset category (asset finance), free text."},
			{Number: 22, Name: "borrower_leveraged_multiple", Type: Text, Pointer: "/borrower/leveragedMultiple", Doc: "Leverage multiple, free text such as 5.2x or 4.5x/6.0x."},
			{Number: 23, Name: "borrower_ratings_moodys", Type: Text, Pointer: "/borrower/ratings/moodys", Doc: "Borrower's rating by Moody's scale, as written."},
			{Number: 24, Name: "borrower_ratings_standard_and_poors", Type: Text, Pointer: "/borrower/ratings/standardAndPoors", Doc: "Borrower's rating by Standard & Poor's scale, as written."},
			{Number: 25, Name: "borrower_ratings_fitch", Type: Text, Pointer: "/borrower/ratings/fitch", Doc: "Borrower's rating by Fitch scale, as written."},
			{Number: 26, Name: "borrower_grade", Type: Text, Pointer: "/borrower/grade", Doc: "Grade of the borrower, free text."},
			{Number: 27, Name: "borrower_sponsor_backed", Type: Bool, Pointer: "/borrower/sponsors/sponsorBacked", Doc: "Whether a financial sponsor backs the borrower."},
			{Number: 28, Name: "borrower_ticker", Type: Text, Pointer: "/borrower/ticker", Doc: "Ticker of the borrower."},
			{Number: 29, Name: "use_of_proceeds_mergers_and_acquisitions", Type: Bool, Pointer: "/useOfProceeds/mergersAndAcquisitions", Doc: "Whether proceeds pay for mergers or acquisitions."},
			{Number: 30, Name: "use_of_proceeds_pre_post_ipo", Type: Bool, Pointer: "/useOfProceeds/prePostIpo", Doc: "Whether proceeds are for use before or after an initial public offering."},
			{Number: 31, Name: "use_of_proceeds_refi", Type: Bool, Pointer: "/useOfProceeds/refi", Doc: "Whether proceeds refinance debt."},
			{Number: 32, Name: "use_of_proceeds_gcp", Type: Bool, Pointer: "/useOfProceeds/gcp", Doc: "Whether proceeds are for general corporate purposes."},
			{Number: 33, Name: "use_of_proceeds_other", Type: Bool, Pointer: "/useOfProceeds/other", Doc: "Whether proceeds have another use."},
			{Number: 34, Name: "use_of_proceeds_lbo", Type: Bool, Pointer: "/useOfProceeds/lbo", Doc: "Whether proceeds pay for a leveraged buy-out."},
			{Number: 35, Name: "use_of_proceeds_sbo", Type: Bool, Pointer: "/useOfProceeds/sbo", Doc: "Whether proceeds pay for a secondary buy-out."},
			{Number: 36, Name: "use_of_proceeds_dividend_recap", Type: Bool, Pointer: "/useOfProceeds/dividendRecap", Doc: "Whether proceeds pay a dividend."},
			{Number: 37, Name: "deal_total_usd", Type: Money, Pointer: "/dealTotal/converted/usd", Unit: "USD", Doc: "Total of the deal, converted to USD by the source."},
			{Number: 38, Name: "self_href", Type: Text, Distinct: true, Pointer: "/_links/self/href", Part: Href, Doc: "Link to this deal, relative to the API's base URL. A link to another address is complete."},
		},
		Helpers: helperColumns(
			helpers(1, ParseLeverage, "borrower_leveraged_multiple", "", leverageParts),
			ratings(2, "borrower_ratings", "borrower_grade"),
		),
	}
}
