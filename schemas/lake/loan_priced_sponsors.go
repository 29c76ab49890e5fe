package lake

import "dealflow/schemas/api"

func loanPricedSponsors() *Table {
	return &Table{
		Name: "loan_priced_sponsors", Service: api.Loan, Kind: api.Priced,
		Rows:     "/borrower/sponsors/sponsors/*",
		Identity: []string{"name"},
		Doc:      "Sponsors of borrowers of priced loan deals.",
		Columns: []Column{
			{Number: 11, Name: "name", Type: Text, Pointer: "/borrower/sponsors/sponsors/*/name", Doc: "Name of the sponsor as the source spells it."},
		},
	}
}
