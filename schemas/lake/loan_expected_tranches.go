package lake

import "dealflow/schemas/api"

func loanExpectedTranches() *Table {
	return &Table{
		Name: "loan_expected_tranches", Service: api.Loan, Kind: api.Expected,
		Rows:     "/tranches/*",
		Identity: []string{TrancheIdentity},
		Doc:      "Tranches of expected loan deals.",
		Columns: []Column{
			{Number: 11, Name: "name", Type: Text, Pointer: "/tranches/*/name", Doc: "Name of the tranche."},
			{Number: 12, Name: "status", Type: Text, Pointer: "/tranches/*/status", Doc: "Status of the tranche, free text."},
			{Number: 13, Name: "type", Type: Text, Pointer: "/tranches/*/type", Doc: "Type, free text."},
			{Number: 14, Name: "short_type", Type: Text, Pointer: "/tranches/*/shortType", Doc: "Short form of the type, free text."},
			{Number: 15, Name: "currency", Type: Text, Pointer: "/tranches/*/currency", Doc: "Currency code of the amounts, as written."},
			{Number: 16, Name: "volume", Type: Text, Pointer: "/tranches/*/volume", Doc: "Size, free text such as EUR500m."},
			{Number: 17, Name: "maturity", Type: Text, Pointer: "/tranches/*/maturity", Doc: "Maturity, free text: a date, a month or a tenor."},
			{Number: 18, Name: "margin", Type: Text, Pointer: "/tranches/*/margin", Doc: "Margin, free text such as E+400-425."},
			{Number: 19, Name: "oid", Type: Text, Pointer: "/tranches/*/oid", Doc: "Original issue discount as a price, free text."},
			{Number: 20, Name: "timing", Type: Text, Pointer: "/tranches/*/timing", Doc: "Timing, free text."},
			{Number: 21, Name: "figi_code", Type: Text, Distinct: true, Pointer: "/tranches/*/figiCode", Doc: "FIGI."},
			{Number: 22, Name: "changed", Type: Timestamp, Pointer: "/tranches/*/changed", Doc: "When the source last changed the tranche."},
			{Number: 23, Name: "nominal_amount", Type: Money, Pointer: "/tranches/*/nominal/amount", Unit: "units of the currency, scale as stated", Doc: "Nominal amount of this record."},
			{Number: 24, Name: "nominal_usd", Type: Money, Pointer: "/tranches/*/nominal/converted/usd", Unit: "USD", Doc: "Nominal amount of this record, converted to USD by the source."},
		},
		Helpers: helperColumns(
			helpers(1, ParseVolume, "volume", "currency", volumeParts),
			helpers(2, ParseMaturity, "maturity", "", maturityParts),
			helpers(3, ParseMargin, "margin", "currency", marginParts),
			helpers(4, ParseOID, "oid", "", oidParts),
		),
	}
}
