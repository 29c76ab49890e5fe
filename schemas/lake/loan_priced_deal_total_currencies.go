package lake

import "dealflow/schemas/api"

func loanPricedDealTotalCurrencies() *Table {
	return &Table{
		Name: "loan_priced_deal_total_currencies", Service: api.Loan, Kind: api.Priced,
		Rows:     "/dealTotal/currencies/*",
		Identity: []string{"currency"},
		Doc:      "Totals of priced loan deals by currency.",
		Columns: []Column{
			{Number: 11, Name: "amount", Type: Money, Pointer: "/dealTotal/currencies/*/amount", Unit: "units of the currency, scale as stated", Doc: "Amount in the entry's currency."},
			{Number: 12, Name: "currency", Type: Text, Pointer: "/dealTotal/currencies/*/currency", Doc: "Currency code of the amounts, as written."},
		},
	}
}
