package sim

import (
	"strings"

	"dealflow/schemas/api"
)

// issuer is a borrower: who it is does not change from deal to deal.
type issuer struct {
	name, region, kind, country, sector, subsector, ticker string
	bankish                                                bool
	quality                                                int // notch: 0 is AAA, 20 is C
}

// poolSize is the number of borrowers of a market; they come back.
const poolSize = 3000

// makeIssuer is one borrower of a market's pool.
func makeIssuer(world uint64, market api.Market, index int) issuer {
	d := stream(world, tagIssuer, marketTag(market), uint64(index))
	place := pickWeighted(d, placesOf(market))
	country := pick(d, place.countries...)
	it := issuer{region: place.region, country: country.name}
	kind := pickWeighted(d, kindsOf(market))
	it.kind, it.bankish = kind, kind == "FIG" || kind == "Bank" || kind == "Insurance"
	it.sector = pick(d, sectors...)
	if it.bankish {
		it.sector = "Financial Institutions"
	}
	it.subsector = pick(d, subsectors...)
	stem := coin(d)
	it.name = nameOf(d, stem, country, kind)
	it.ticker = strings.ToUpper(stem[:min(len(stem), d.between(3, 5))])
	it.quality = qualityOf(d, market)
	return it
}

// official says whether a borrower is a state or belongs to one.
func (i issuer) official() bool {
	return i.kind == "SSA" || i.kind == "Agency" || i.kind == "Sovereign" || i.kind == "Sub-sovereign"
}

// coin makes a word that is no company's.
func coin(d *dice) string {
	word := pick(d, nameHeads...) + pick(d, nameMiddles...) + pick(d, nameTails...)
	return word
}

func nameOf(d *dice, stem string, country country, kind string) string {
	var name string
	switch kind {
	case "Sovereign", "SSA", "Sub-sovereign", "Agency":
		name = pick(d, "Republic of "+stem, "Province of "+stem, stem+" Development Agency", "City of "+stem)
	case "FIG", "Bank", "Insurance":
		name = stem + pick(d, " Bank", " Banking Group", " Insurance", " Re", " Finance & Leasing") + " " + pick(d, country.forms...)
	default:
		name = stem + pick(d, "", "", " Holdings", " Energy", " Chemicals", " Telecom", " & Sons", " Infrastructure", " (No. 2)") + " " + pick(d, country.forms...)
	}
	roll := d.Float64()
	switch {
	case roll < 0.06:
		return strings.ToUpper(name)
	case roll < 0.11:
		return pick(d, "Société ", "Grupo São ", "Østre ", "Türkiye ", "Žižkov ", "Ångström ") + name
	case roll < 0.12:
		return pick(d, "虚構電力"+stem, "Вымысел "+stem, "가상전자 "+stem)
	case roll < 0.13:
		return "\"" + stem + "\" " + pick(d, country.forms...)
	}
	return name
}

// qualityOf draws a borrower's notch so that each market mostly holds what it is for.
func qualityOf(d *dice, market api.Market) int {
	low, high := 0, 20
	switch market {
	case api.IG:
		low, high = 0, 10
	case api.HY, api.LL:
		low, high = 9, 18
	case api.EM, api.CF, api.AF:
		low, high = 2, 16
	}
	return d.between(low, high)
}

// sponsorName is an invented sponsor.
func sponsorName(d *dice) string {
	return pick(d, nameHeads...) + pick(d, nameTails...) + pick(d, " Partners", " Capital", " Équité", " Private Equity", " & Co.")
}

// bank is one of the invented banks of the market.
func bank(index int) string { return banks[index%len(banks)] }

var nameHeads = []string{"Vel", "Kor", "Tam", "Bri", "Osk", "Lum", "Fen", "Gar", "Nyx", "Quo", "Zel", "Dro", "Mur", "Hask", "Pell", "Ryd", "Sor", "Thra", "Ulv", "Wex", "Yar", "Cith", "Eld", "Ib"}

var nameMiddles = []string{"a", "e", "i", "o", "u", "ar", "en", "il", "or", "um", "ath", "eck"}

var nameTails = []string{"gro", "dyne", "mora", "vex", "lund", "stok", "quil", "thon", "brack", "nova", "zeth", "pund", "wick", "phor", "drim", "xane"}

var banks = []string{
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

var sectors = []string{"Energy", "Oil & Gas", "Chemicals", "Telecommunications", "Technology", "Healthcare", "Real Estate", "Transportation", "Shipping", "Utilities", "Consumer Goods", "Food & Beverage", "Mining/Metals", "Media", "Aviation, Aerospace"}

var subsectors = []string{"Midstream", "Towers", "Water", "Pharma", "Biotech (R&D)", "Wind – offshore", "Packaging", "Software", "Retail/e-commerce", "Toll roads", "Specialty", "Leasing"}

// country is a country and how the names of its companies end.
type country struct {
	name  string
	forms []string
}

type place struct {
	region    string
	countries []country
}

var (
	europe = place{"Western Europe", []country{
		{"United Kingdom", []string{"plc", "PLC", "Ltd"}}, {"France", []string{"SA", "SAS"}}, {"Germany", []string{"AG", "SE", "GmbH & Co. KG"}},
		{"Netherlands", []string{"N.V.", "B.V."}}, {"Spain", []string{"S.A.U.", "SA"}}, {"Italy", []string{"S.p.A.", "S.r.l."}},
		{"Sweden", []string{"AB (publ)", "AB"}}, {"Luxembourg", []string{"S.à r.l.", "S.C.A."}}}}
	america = place{"North America", []country{
		{"United States", []string{"Inc.", "Corp.", "LLC", "Holdings, Inc."}}, {"Canada", []string{"Ltd.", "Inc."}}}}
	ceemea = place{"CEEMEA", []country{
		{"Türkiye", []string{"A.Ş.", "T.A.Ş."}}, {"Poland", []string{"SA", "sp. z o.o."}}, {"Nigeria", []string{"Plc"}},
		{"Saudi Arabia", []string{"Co."}}, {"Côte d'Ivoire", []string{"SA"}}, {"Slovenia", []string{"d.d."}}}}
	asia = place{"Asia Pacific", []country{
		{"China (PRC)", []string{"Co., Ltd."}}, {"Korea, Republic of", []string{"Co Ltd"}}, {"Japan", []string{"KK"}},
		{"India", []string{"Pvt Ltd", "Ltd"}}, {"Australia", []string{"Pty Ltd"}}, {"Indonesia", []string{"Tbk PT"}}}}
	latam = place{"LATAM", []country{
		{"Brazil", []string{"S.A.", "Ltda."}}, {"México", []string{"S.A. de C.V.", "S.A.B. de C.V."}}, {"Chile", []string{"SpA"}}, {"Curaçao", []string{"N.V."}}}}
)

func placesOf(market api.Market) []weighted[place] {
	switch market {
	case api.EM:
		return []weighted[place]{{30, latam}, {35, ceemea}, {35, asia}}
	case api.IG, api.HY:
		return []weighted[place]{{48, america}, {40, europe}, {9, asia}, {3, latam}}
	}
	return []weighted[place]{{40, america}, {33, europe}, {10, ceemea}, {12, asia}, {5, latam}}
}

func kindsOf(market api.Market) []weighted[string] {
	switch market {
	case api.IG:
		return []weighted[string]{{50, "Corporate"}, {32, "FIG"}, {10, "SSA"}, {5, "Agency"}, {3, "Insurance"}}
	case api.HY:
		return []weighted[string]{{90, "Corporate"}, {10, "FIG"}}
	case api.EM:
		return []weighted[string]{{55, "Corporate"}, {25, "FIG"}, {14, "Sovereign"}, {6, "Sub-sovereign"}}
	case api.AF:
		return []weighted[string]{{50, "SPV"}, {50, "Corporate"}}
	}
	return []weighted[string]{{88, "Corporate"}, {12, "Bank"}}
}
