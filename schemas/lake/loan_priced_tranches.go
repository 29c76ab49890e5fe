package lake

import "dealflow/schemas/api"

func loanPricedTranches() *Table {
	return &Table{
		Name: "loan_priced_tranches", Service: api.Loan, Kind: api.Priced,
		Rows:     "/tranches/*",
		Identity: []string{TrancheIdentity},
		Doc:      "Tranches of priced loan deals.",
		Columns: []Column{
			{Number: 11, Name: "tranche_id", Type: Int64, Distinct: true, Pointer: "/tranches/*/id", Doc: "The source's id of the tranche. No other list entry has an id of the source."},
			{Number: 12, Name: "name", Type: Text, Pointer: "/tranches/*/name", Doc: "Name of the tranche."},
			{Number: 13, Name: "status", Type: Text, Pointer: "/tranches/*/status", Doc: "Status of the tranche, free text."},
			{Number: 14, Name: "type", Type: Text, Pointer: "/tranches/*/type", Doc: "Type, free text."},
			{Number: 15, Name: "short_type", Type: Text, Pointer: "/tranches/*/shortType", Doc: "Short form of the type, free text."},
			{Number: 16, Name: "currency", Type: Text, Pointer: "/tranches/*/currency", Doc: "Currency code of the amounts, as written."},
			{Number: 17, Name: "maturity", Type: Text, Pointer: "/tranches/*/maturity", Doc: "Maturity, free text: a date, a month or a tenor."},
			{Number: 18, Name: "extension_options", Type: Text, Pointer: "/tranches/*/extensionOptions", Doc: "Extension options, free text such as 1+1."},
			{Number: 19, Name: "by", Type: Text, Pointer: "/tranches/*/by", Doc: "Meaning not documented by the source; stored as received. In SQL the name needs double quotes."},
			{Number: 20, Name: "margin", Type: Text, Pointer: "/tranches/*/margin", Doc: "Margin, free text such as E+400-425."},
			{Number: 21, Name: "oid", Type: Text, Pointer: "/tranches/*/oid", Doc: "Original issue discount as a price, free text."},
			{Number: 22, Name: "grade", Type: Text, Pointer: "/tranches/*/grade", Doc: "Grade of the tranche, free text."},
			{Number: 23, Name: "bloomberg_code", Type: Text, Distinct: true, Pointer: "/tranches/*/bloombergCode", Doc: "Bloomberg code."},
			{Number: 24, Name: "figi_code", Type: Text, Distinct: true, Pointer: "/tranches/*/figiCode", Doc: "FIGI."},
			{Number: 25, Name: "nominal_amount", Type: Money, Pointer: "/tranches/*/nominal/amount", Unit: "units of the currency, scale as stated", Doc: "Nominal amount of this record."},
			{Number: 26, Name: "nominal_usd", Type: Money, Pointer: "/tranches/*/nominal/converted/usd", Unit: "USD", Doc: "Nominal amount of this record, converted to USD by the source."},
			{Number: 27, Name: "fx_rate_usd", Type: Rate, Pointer: "/tranches/*/fxRate/usd", Unit: "rate", Doc: "Exchange rate between the currency and USD, as stated (direction not documented)."},
			{Number: 28, Name: "pricing_date", Type: Date, Pointer: "/tranches/*/pricingDate", Doc: "Day on which the tranche priced."},
			{Number: 29, Name: "pik_status", Type: Text, Pointer: "/tranches/*/pik/status", Doc: "Payment-in-kind status, free text."},
			{Number: 30, Name: "pik_value", Type: Int32, Pointer: "/tranches/*/pik/value", Doc: "Payment-in-kind value, as stated."},
			{Number: 31, Name: "all_in", Type: Bool, Pointer: "/tranches/*/allIn", Doc: "Whether the pricing is all-in."},
			{Number: 32, Name: "fixed_rate", Type: Bool, Pointer: "/tranches/*/fixedRate", Doc: "Whether the rate is fixed."},
			{Number: 33, Name: "covenant_light", Type: Bool, Pointer: "/tranches/*/covenantLight", Doc: "Whether the tranche is covenant-light."},
			{Number: 34, Name: "green_loan", Type: Bool, Pointer: "/tranches/*/greenLoan", Doc: "Whether the tranche is a green loan."},
			{Number: 35, Name: "sustainability_linked", Type: Bool, Pointer: "/tranches/*/sustainabilityLinked", Doc: "Whether the tranche has a sustainability-linked label."},
			{Number: 36, Name: "club", Type: Bool, Pointer: "/tranches/*/club", Doc: "Whether the loan is a club deal."},
			{Number: 37, Name: "rating_moodys", Type: Text, Pointer: "/tranches/*/rating/moodys", Doc: "Rating by Moody's scale, as written."},
			{Number: 38, Name: "rating_standard_and_poors", Type: Text, Pointer: "/tranches/*/rating/standardAndPoors", Doc: "Rating by Standard & Poor's scale, as written."},
			{Number: 39, Name: "rating_fitch", Type: Text, Pointer: "/tranches/*/rating/fitch", Doc: "Rating by Fitch scale, as written."},
			{Number: 40, Name: "tenor", Type: Int32, Pointer: "/tranches/*/tenor", Doc: "Tenor, as stated (unit not documented; analyses read 12 to 480 as months)."},
		},
		Helpers: helperColumns(
			helpers(1, ParseMaturity, "maturity", "", maturityParts),
			helpers(2, ParseMargin, "margin", "currency", marginParts),
			helpers(3, ParseOID, "oid", "", oidParts),
			ratings(4, "rating", "grade"),
		),
	}
}
