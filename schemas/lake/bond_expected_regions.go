package lake

import "dealflow/schemas/api"

func bondExpectedRegions() *Table {
	return &Table{
		Name: "bond_expected_regions", Service: api.Bond, Kind: api.Expected,
		Rows:     "/regions/*",
		Identity: []string{"region"},
		Doc:      "Regions of expected bond deals.",
		Columns: []Column{
			{Number: 11, Name: "region", Type: Text, Pointer: "/regions/*", Allowed: map[api.Market][]string{
				api.IG: {"Americas"},
				api.HY: {"Americas"},
				api.EM: {"Latam", "CEEMEA", "Asia(NJ)"},
			}, Doc: "Region of the expected deal."},
		},
	}
}
