package sim

import (
	"strings"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// issuer is a borrower. It is the same in all its deals.
type issuer struct {
	name, region, kind, country, sector, subsector, ticker string
	bankish                                                bool
	quality                                                int // notches from the best: 0 is AAA, 20 is C
}

// poolSize is the number of borrowers of a market. A borrower can have many deals.
const poolSize = 3000

// makeIssuer returns a borrower of a market's pool.
func makeIssuer(world uint64, market api.Market, index int) issuer {
	d := stream(world, tagIssuer, marketTag(market), uint64(index))
	region := pickWeighted(d, calibration.Regions[market]...)
	country := pick(d, region.Countries...)
	it := issuer{region: region.Name, country: country.Name}
	kind := pickWeighted(d, calibration.BorrowerKinds[market]...)
	it.kind, it.bankish = kind, kind == "FIG" || kind == "Bank" || kind == "Insurance"
	it.sector = pick(d, calibration.Sectors...)
	if it.bankish {
		it.sector = "Financial Institutions"
	}
	it.subsector = pick(d, calibration.Subsectors...)
	stem := coin(d)
	it.name = nameOf(d, stem, country, kind)
	it.ticker = strings.ToUpper(stem[:min(len(stem), d.between(3, 5))])
	it.quality = qualityOf(d, market)
	return it
}

// official says whether a borrower is a state or is owned by one.
func (i issuer) official() bool {
	return i.kind == "SSA" || i.kind == "Agency" || i.kind == "Sovereign" || i.kind == "Sub-sovereign"
}

// coin returns an invented name.
func coin(d *dice) string {
	word := pick(d, calibration.NameHeads...) + pick(d, calibration.NameMiddles...) + pick(d, calibration.NameTails...)
	return word
}

func nameOf(d *dice, stem string, country calibration.Country, kind string) string {
	var name string
	switch kind {
	case "Sovereign", "SSA", "Sub-sovereign", "Agency":
		name = pick(d, "Republic of "+stem, "Province of "+stem, stem+" Development Agency", "City of "+stem)
	case "FIG", "Bank", "Insurance":
		name = stem + pick(d, " Bank", " Banking Group", " Insurance", " Re", " Finance & Leasing") + " " + pick(d, country.Forms...)
	default:
		name = stem + pick(d, "", "", " Holdings", " Energy", " Chemicals", " Telecom", " & Sons", " Infrastructure", " (No. 2)") + " " + pick(d, country.Forms...)
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
		return "\"" + stem + "\" " + pick(d, country.Forms...)
	}
	return name
}

// qualityOf draws a borrower's notch. Most are within the grades of the market.
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

// sponsorName returns the name of an invented sponsor.
func sponsorName(d *dice) string {
	return pick(d, calibration.NameHeads...) + pick(d, calibration.NameTails...) + pick(d, " Partners", " Capital", " Équité", " Private Equity", " & Co.")
}

// bank returns the name of an invented bank.
func bank(index int) string { return calibration.Banks[index%len(calibration.Banks)] }
