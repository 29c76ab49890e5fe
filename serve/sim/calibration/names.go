package calibration

import "dealflow/schemas/api"

// NameHeads are the first parts of invented names. Source: invented.
var NameHeads = []string{"Vel", "Kor", "Tam", "Bri", "Osk", "Lum", "Fen", "Gar", "Nyx", "Quo", "Zel", "Dro", "Mur", "Hask", "Pell", "Ryd", "Sor", "Thra", "Ulv", "Wex", "Yar", "Cith", "Eld", "Ib"}

// NameMiddles are the middle parts of invented names. Source: invented.
var NameMiddles = []string{"a", "e", "i", "o", "u", "ar", "en", "il", "or", "um", "ath", "eck"}

// NameTails are the last parts of invented names. Source: invented.
var NameTails = []string{"gro", "dyne", "mora", "vex", "lund", "stok", "quil", "thon", "brack", "nova", "zeth", "pund", "wick", "phor", "drim", "xane"}

// Bank is a bank and the region in which it is at home; "" for a bank of all regions.
type Bank struct{ Name, Region string }

// Banks are the invented banks of all markets, the largest first. Source: invented.
var Banks = []Bank{
	{"Marrowgate Bank", ""},
	{"Quillhaven Securities", ""},
	{"Banque Sablonnière", ""},
	{"Umbra Capital Markets", ""},
	{"Thornquist", ""},
	{"Velvetine Bank", ""},
	{"Ironmere", ""},
	{"Kestrelmoor", ""},
	{"Gullrock", "North America"},
	{"Zwölfstein Bank", "Western Europe"},
	{"Daigo-Hisui Securities", "Asia Pacific"},
	{"Whitlocke, Dunmore & Ash", "North America"},
	{"Crédit Rivepaille", "Western Europe"},
	{"Jadewick Bank", "Asia Pacific"},
	{"Cassa di Fiumeverde", "Western Europe"},
	{"Orchard & Tarn", "North America"},
	{"Nordvåg Markets", "Western Europe"},
	{"Bank of Pellucid Bay", "Asia Pacific"},
	{"Banco Almendrales", "LATAM"},
	{"Fennimarch", "North America"},
	{"Pindarics", "Asia Pacific"},
	{"Al Nawras Fictional Bank", "CEEMEA"},
	{"Banca Pietralunga", "Western Europe"},
	{"Cinderford", "North America"},
	{"Kōyama Trust", "Asia Pacific"},
	{"Sarnath & Coe", "Asia Pacific"},
	{"Bankhaus Rübenau", "Western Europe"},
	{"Banco do Rio Claro Fictício", "LATAM"},
	{"Eastmarsh Securities", "Asia Pacific"},
	{"Mbali Unity Bank", "CEEMEA"},
	{"Hollowell Partners", "North America"},
	{"Serrano Quint", "LATAM"},
	{"Ostrava & Vane", "CEEMEA"},
	{"Haldor Fjell Bank", "Western Europe"},
	{"Peregrine Isle", "Asia Pacific"},
	{"Amberglass", "North America"},
	{"Lindenthorpe", "Western Europe"},
	{"Caldicott Vey", "Western Europe"},
	{"Tamarisk Trust", "Asia Pacific"},
	{"Raven's Reach Bank", "North America"},
	{"Østerlide Bank", "Western Europe"},
	{"Quarrion Bank", "Asia Pacific"},
	{"Tolvaddon", "Western Europe"},
	{"Skerryvore Bank", "Western Europe"},
	{"Drumlin Bank", "North America"},
}

// The sizes of banks. Assumptions, chosen so that the first ten banks have about half of all bookrunner roles, as in
// public league tables of bonds, and that each region has banks of its own among them.
const (
	BankOffset = 3    // the weight of bank i, counted from 0, is 1 / (i + BankOffset)
	BankHome   = 4.0  // factor on the weight of a bank in its own region
	BankAway   = 0.35 // factor on the weight of a bank of another region
)

// SharedSyndicates is the share of the tranches of a deal that have the banks of the deal; the others have one more or
// one less. Assumption.
const SharedSyndicates = 0.7

// Sector is a sector of borrowers: words in the names of its companies, and its subsectors.
type Sector struct {
	Name              string
	Words, Subsectors []string
}

// Sectors are the sectors of borrowers that are neither banks nor public. Source: assumption.
var Sectors = []Sector{
	{"Energy", []string{" Energy", " Power"}, []string{"Midstream", "Wind – offshore", "Solar"}},
	{"Oil & Gas", []string{" Petroleum", " Resources"}, []string{"Exploration & production", "Refining", "Oilfield services"}},
	{"Chemicals", []string{" Chemicals", " Materials"}, []string{"Specialty", "Industrial gases", "Fertilisers"}},
	{"Telecommunications", []string{" Telecom", " Networks"}, []string{"Towers", "Mobile", "Cable"}},
	{"Technology", []string{" Systems", " Software"}, []string{"Software", "Semiconductors", "IT services"}},
	{"Healthcare", []string{" Health", " Care"}, []string{"Pharma", "Biotech (R&D)", "Hospitals"}},
	{"Real Estate", []string{" Properties", " Estates"}, []string{"Offices", "Logistics parks", "Housing"}},
	{"Transportation", []string{" Infrastructure", " Logistics"}, []string{"Toll roads", "Rail", "Airports"}},
	{"Shipping", []string{" Lines", " Maritime"}, []string{"Tankers", "Container ships", "Dry bulk"}},
	{"Utilities", []string{" Utilities", " Grid"}, []string{"Water", "Power grids", "Waste"}},
	{"Consumer Goods", []string{" Brands", " Home"}, []string{"Retail/e-commerce", "Luxury", "Durables"}},
	{"Food & Beverage", []string{" Foods", " Breweries"}, []string{"Packaged food", "Drinks", "Agriculture"}},
	{"Mining/Metals", []string{" Mining", " Steel"}, []string{"Precious metals", "Steel", "Copper"}},
	{"Media", []string{" Media", " Studios"}, []string{"Broadcasting", "Publishing", "Games"}},
	{"Aviation, Aerospace", []string{" Aviation", " Aerospace"}, []string{"Airlines", "Aircraft leasing", "Defence"}},
}

// The sectors of banks and insurers, and of states and agencies. Source: assumption.
var (
	Financials   = Sector{"Financial Institutions", nil, []string{"Banks", "Insurance", "Leasing"}}
	PublicSector = Sector{"Public Sector", nil, []string{"Central government", "Regional government", "Development banks"}}
)

// Country is a country, its currency, and the legal forms at the end of the names of its companies.
type Country struct {
	Name, Currency string
	Forms          []string
}

// Region is a region as the API names it, and its countries.
type Region struct {
	Name      string
	Countries []Country
}

var (
	europe = Region{"Western Europe", []Country{
		{"United Kingdom", "GBP", []string{"plc", "PLC", "Ltd"}}, {"France", "EUR", []string{"SA", "SAS"}}, {"Germany", "EUR", []string{"AG", "SE", "GmbH & Co. KG"}},
		{"Netherlands", "EUR", []string{"N.V.", "B.V."}}, {"Spain", "EUR", []string{"S.A.U.", "SA"}}, {"Italy", "EUR", []string{"S.p.A.", "S.r.l."}},
		{"Sweden", "SEK", []string{"AB (publ)", "AB"}}, {"Switzerland", "CHF", []string{"AG", "SA"}}, {"Norway", "NOK", []string{"ASA", "AS"}}, {"Luxembourg", "EUR", []string{"S.à r.l.", "S.C.A."}}}}
	america = Region{"North America", []Country{
		{"United States", "USD", []string{"Inc.", "Corp.", "LLC", "Holdings, Inc."}}, {"Canada", "CAD", []string{"Ltd.", "Inc."}}}}
	ceemea = Region{"CEEMEA", []Country{
		{"Türkiye", "", []string{"A.Ş.", "T.A.Ş."}}, {"Poland", "", []string{"SA", "sp. z o.o."}}, {"Nigeria", "", []string{"Plc"}},
		{"Saudi Arabia", "", []string{"Co."}}, {"Côte d'Ivoire", "", []string{"SA"}}, {"South Africa", "ZAR", []string{"Ltd"}}, {"Kenya", "KES", []string{"Plc"}}, {"Slovenia", "EUR", []string{"d.d."}}}}
	asia = Region{"Asia Pacific", []Country{
		{"China (PRC)", "CNH", []string{"Co., Ltd."}}, {"Korea, Republic of", "", []string{"Co Ltd"}}, {"Japan", "JPY", []string{"KK"}},
		{"India", "", []string{"Pvt Ltd", "Ltd"}}, {"Australia", "AUD", []string{"Pty Ltd"}}, {"Hong Kong", "HKD", []string{"Ltd"}}, {"Singapore", "SGD", []string{"Pte. Ltd."}}, {"Indonesia", "IDR", []string{"Tbk PT"}}}}
	latam = Region{"LATAM", []Country{
		{"Brazil", "BRL", []string{"S.A.", "Ltda."}}, {"México", "", []string{"S.A. de C.V.", "S.A.B. de C.V."}}, {"Chile", "", []string{"SpA"}}, {"Curaçao", "", []string{"N.V."}}}}
)

// HomeShares are the shares of the deals in a currency whose borrower is from a country of that currency, if the
// market has such countries: first for dollars, then for euros, then for others. Source: assumption; in euros, one in
// four or five deals is a "reverse Yankee" or the like.
var HomeShares = struct{ USD, EUR, Other float64 }{0.68, 0.78, 0.75}

// Regions are the regions of the borrowers of each market, for deals whose borrower is not at home. Source:
// assumption.
var Regions = map[api.Market][]Weighted[Region]{
	api.IG: bondRegions, api.HY: bondRegions,
	api.EM: {{30, latam}, {35, ceemea}, {35, asia}},
	api.LL: loanRegions, api.CF: loanRegions, api.AF: loanRegions,
}

var (
	bondRegions = []Weighted[Region]{{48, america}, {40, europe}, {9, asia}, {3, latam}}
	loanRegions = []Weighted[Region]{{40, america}, {33, europe}, {10, ceemea}, {12, asia}, {5, latam}}
)

// BorrowerKinds are the types of the borrowers of each market. Source: assumption.
var BorrowerKinds = map[api.Market][]Weighted[string]{
	api.IG: {{50, "Corporate"}, {32, "FIG"}, {10, "SSA"}, {5, "Agency"}, {3, "Insurance"}},
	api.HY: {{90, "Corporate"}, {10, "FIG"}},
	api.EM: {{55, "Corporate"}, {25, "FIG"}, {14, "Sovereign"}, {6, "Sub-sovereign"}},
	api.LL: loanBorrowers, api.CF: loanBorrowers,
	api.AF: {{50, "SPV"}, {50, "Corporate"}},
}

var loanBorrowers = []Weighted[string]{{88, "Corporate"}, {12, "Bank"}}
