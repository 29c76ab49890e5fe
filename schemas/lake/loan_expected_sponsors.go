package lake

import "dealflow/schemas/api"

func loanExpectedSponsors() *Table {
	return &Table{
		Name: "loan_expected_sponsors", Service: api.Loan, Kind: api.Expected,
		Rows:     "/borrower/sponsors/sponsors/*",
		Identity: []string{"name"},
		Doc:      "Sponsors of borrowers of expected loan deals.",
		Columns: []Column{
			{Number: 11, Name: "name", Type: Text, Pointer: "/borrower/sponsors/sponsors/*/name", Doc: "Name of the sponsor as the source spells it."},
		},
	}
}
