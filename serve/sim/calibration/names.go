package calibration

import "dealflow/schemas/api"

// NameHeads are the first parts of invented names.
var NameHeads = []string{"Vel", "Kor", "Tam", "Bri", "Osk", "Lum", "Fen", "Gar", "Nyx", "Quo", "Zel", "Dro", "Mur", "Hask", "Pell", "Ryd", "Sor", "Thra", "Ulv", "Wex", "Yar", "Cith", "Eld", "Ib"}

// NameMiddles are the middle parts of invented names.
var NameMiddles = []string{"a", "e", "i", "o", "u", "ar", "en", "il", "or", "um", "ath", "eck"}

// NameTails are the last parts of invented names.
var NameTails = []string{"gro", "dyne", "mora", "vex", "lund", "stok", "quil", "thon", "brack", "nova", "zeth", "pund", "wick", "phor", "drim", "xane"}

// Banks are the invented banks of all markets.
var Banks = []string{
	"Marrowgate Bank", "Cassa di Fiumeverde", "Banque Sablonnière", "Quillhaven Securities", "Nordvåg Markets",
	"Ostrava & Vane", "Thornquist", "Bank of Pellucid Bay", "Haldor Fjell Bank", "Umbra Capital Markets",
	"Crédit Rivepaille", "Banco Almendrales", "Zwölfstein Bank", "Fennimarch", "Orchard & Tarn",
	"Kestrelmoor", "Tamarisk Trust", "Daigo-Hisui Securities", "Pindarics", "Lindenthorpe",
	"Velvetine Bank", "Gullrock", "Banca Pietralunga", "Sarnath & Coe", "Ironmere",
	"Østerlide Bank", "Caldicott Vey", "Mbali Unity Bank", "Raven's Reach Bank", "Jadewick Bank",
	"Serrano Quint", "Whitlocke, Dunmore & Ash", "Bankhaus Rübenau", "Kōyama Trust", "Cinderford",
	"Al Nawras Fictional Bank", "Peregrine Isle", "Tolvaddon", "Eastmarsh Securities", "Quarrion Bank",
	"Banco do Rio Claro Fictício", "Hollowell Partners", "Skerryvore Bank", "Drumlin Bank", "Amberglass",
}

// Leads are the banks that messages name as leads.
var Leads = Banks[:24]

// Sectors are the sectors of borrowers that are no banks.
var Sectors = []string{"Energy", "Oil & Gas", "Chemicals", "Telecommunications", "Technology", "Healthcare", "Real Estate", "Transportation", "Shipping", "Utilities", "Consumer Goods", "Food & Beverage", "Mining/Metals", "Media", "Aviation, Aerospace"}

// Subsectors are the subsectors of borrowers.
var Subsectors = []string{"Midstream", "Towers", "Water", "Pharma", "Biotech (R&D)", "Wind – offshore", "Packaging", "Software", "Retail/e-commerce", "Toll roads", "Specialty", "Leasing"}

// Country is a country and the legal forms at the end of the names of its companies.
type Country struct {
	Name  string
	Forms []string
}

// Region is a region as the API names it, and its countries.
type Region struct {
	Name      string
	Countries []Country
}

var (
	europe = Region{"Western Europe", []Country{
		{"United Kingdom", []string{"plc", "PLC", "Ltd"}}, {"France", []string{"SA", "SAS"}}, {"Germany", []string{"AG", "SE", "GmbH & Co. KG"}},
		{"Netherlands", []string{"N.V.", "B.V."}}, {"Spain", []string{"S.A.U.", "SA"}}, {"Italy", []string{"S.p.A.", "S.r.l."}},
		{"Sweden", []string{"AB (publ)", "AB"}}, {"Luxembourg", []string{"S.à r.l.", "S.C.A."}}}}
	america = Region{"North America", []Country{
		{"United States", []string{"Inc.", "Corp.", "LLC", "Holdings, Inc."}}, {"Canada", []string{"Ltd.", "Inc."}}}}
	ceemea = Region{"CEEMEA", []Country{
		{"Türkiye", []string{"A.Ş.", "T.A.Ş."}}, {"Poland", []string{"SA", "sp. z o.o."}}, {"Nigeria", []string{"Plc"}},
		{"Saudi Arabia", []string{"Co."}}, {"Côte d'Ivoire", []string{"SA"}}, {"Slovenia", []string{"d.d."}}}}
	asia = Region{"Asia Pacific", []Country{
		{"China (PRC)", []string{"Co., Ltd."}}, {"Korea, Republic of", []string{"Co Ltd"}}, {"Japan", []string{"KK"}},
		{"India", []string{"Pvt Ltd", "Ltd"}}, {"Australia", []string{"Pty Ltd"}}, {"Indonesia", []string{"Tbk PT"}}}}
	latam = Region{"LATAM", []Country{
		{"Brazil", []string{"S.A.", "Ltda."}}, {"México", []string{"S.A. de C.V.", "S.A.B. de C.V."}}, {"Chile", []string{"SpA"}}, {"Curaçao", []string{"N.V."}}}}
)

// Regions are the regions of the borrowers of each market.
var Regions = map[api.Market][]Weighted[Region]{
	api.IG: bondRegions, api.HY: bondRegions,
	api.EM: {{30, latam}, {35, ceemea}, {35, asia}},
	api.LL: loanRegions, api.CF: loanRegions, api.AF: loanRegions,
}

var (
	bondRegions = []Weighted[Region]{{48, america}, {40, europe}, {9, asia}, {3, latam}}
	loanRegions = []Weighted[Region]{{40, america}, {33, europe}, {10, ceemea}, {12, asia}, {5, latam}}
)

// BorrowerKinds are the types of the borrowers of each market.
var BorrowerKinds = map[api.Market][]Weighted[string]{
	api.IG: {{50, "Corporate"}, {32, "FIG"}, {10, "SSA"}, {5, "Agency"}, {3, "Insurance"}},
	api.HY: {{90, "Corporate"}, {10, "FIG"}},
	api.EM: {{55, "Corporate"}, {25, "FIG"}, {14, "Sovereign"}, {6, "Sub-sovereign"}},
	api.LL: loanBorrowers, api.CF: loanBorrowers,
	api.AF: {{50, "SPV"}, {50, "Corporate"}},
}

var loanBorrowers = []Weighted[string]{{88, "Corporate"}, {12, "Bank"}}
