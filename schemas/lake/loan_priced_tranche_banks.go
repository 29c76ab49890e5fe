package lake

import "dealflow/schemas/api"

func loanPricedTrancheBanks() *Table {
	return &Table{
		Name: "loan_priced_tranche_banks", Service: api.Loan, Kind: api.Priced,
		Rows:     "/tranches/*/banks/*",
		Identity: []string{TrancheIdentity, "name"},
		Doc:      "Banks of tranches of priced loan deals.",
		Columns: []Column{
			{Number: 11, Name: "name", Type: Text, Pointer: "/tranches/*/banks/*/name", Doc: "Name of the bank as the source spells it."},
			{Number: 12, Name: "type_mla", Type: Bool, Pointer: "/tranches/*/banks/*/type/mla", Doc: "Whether the bank is a mandated lead arranger."},
			{Number: 13, Name: "type_bookrunner", Type: Bool, Pointer: "/tranches/*/banks/*/type/bookrunner", Doc: "Whether the bank is a bookrunner."},
			{Number: 14, Name: "type_participant", Type: Bool, Pointer: "/tranches/*/banks/*/type/participant", Doc: "Whether the bank is a participant."},
		},
	}
}
