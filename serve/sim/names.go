package sim

import (
	"math"
	"strings"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// issuer is a borrower. It is the same in all its deals.
type issuer struct {
	name, region, kind, country, sector, subsector, second, ticker string
	bankish                                                        bool
	quality                                                        int // notches from the best: 0 is AAA, 20 is C
	agencies                                                       agencyRatings
}

// firm names a borrower of a market: a place in calibration.Regions, and a number among the borrowers of that country.
type firm struct{ region, country, number uint16 }

// poolSize is about the number of borrowers of a market. A borrower can have many deals.
const poolSize = 3000

// drawFirm draws the borrower of a deal in a currency. Most are at home in the currency.
func drawFirm(d *dice, market api.Market, code string) firm {
	regions := calibration.Regions[market]
	home, foreign := homesOf[market][code], calibration.HomeShares.Other
	switch code {
	case "USD":
		foreign = calibration.HomeShares.USD
	case "EUR":
		foreign = calibration.HomeShares.EUR
	}
	at, share := d.Float64(), d.Float64()
	f := firm{}
	if d.chance(foreign) && len(home) > 0 {
		f = home[int(at*float64(len(home)))]
	} else {
		for range 4 {
			f.region = pickWeighted(d, regionIndexes[market]...)
			f.country = uint16(d.IntN(len(regions[f.region].Value.Countries)))
			if regions[f.region].Value.Countries[f.country].Currency != code {
				break
			}
		}
	}
	region := regions[f.region]
	borrowers := max(poolSize*region.Weight/100/float64(len(region.Value.Countries)), 12)
	f.number = uint16(borrowers * share * share) // the square makes some borrowers frequent
	return f
}

// homesOf are the countries of each currency, and regionIndexes the weights of regions, by market.
var (
	homesOf       = map[api.Market]map[string][]firm{}
	regionIndexes = map[api.Market][]calibration.Weighted[uint16]{}
)

func init() {
	for market, regions := range calibration.Regions {
		homesOf[market] = map[string][]firm{}
		for i, region := range regions {
			regionIndexes[market] = append(regionIndexes[market], choice(region.Weight, uint16(i)))
			for j, country := range region.Value.Countries {
				if country.Currency != "" {
					homesOf[market][country.Currency] = append(homesOf[market][country.Currency], firm{region: uint16(i), country: uint16(j)})
				}
			}
		}
	}
}

// makeIssuer returns a borrower of a market.
func makeIssuer(world uint64, market api.Market, f firm) issuer {
	d := stream(world, tagIssuer, marketTag(market), uint64(f.region)<<32|uint64(f.country)<<16|uint64(f.number))
	region := calibration.Regions[market][f.region].Value
	country := region.Countries[f.country]
	it := issuer{region: region.Name, country: country.Name}
	kind := pickWeighted(d, calibration.BorrowerKinds[market]...)
	it.kind, it.bankish = kind, kind == "FIG" || kind == "Bank" || kind == "Insurance"
	sector := pick(d, calibration.Sectors...)
	switch {
	case it.bankish:
		sector = calibration.Financials
	case it.official():
		sector = calibration.PublicSector
	}
	it.sector, it.subsector, it.second = sector.Name, pick(d, sector.Subsectors...), pick(d, sector.Subsectors...)
	stem := coin(d)
	it.name = nameOf(d, stem, country, kind, sector)
	it.ticker = strings.ToUpper(stem[:min(len(stem), d.between(3, 5))])
	it.quality = qualityOf(d, market, it.official())
	it.agencies = rate(d, market, it.quality)
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

func nameOf(d *dice, stem string, country calibration.Country, kind string, sector calibration.Sector) string {
	var name string
	switch kind {
	case "Sovereign", "SSA", "Sub-sovereign", "Agency":
		name = pick(d, "Republic of "+stem, "Province of "+stem, stem+" Development Agency", "City of "+stem)
	case "FIG", "Bank", "Insurance":
		name = stem + pick(d, " Bank", " Banking Group", " Insurance", " Re", " Finance & Leasing") + " " + pick(d, country.Forms...)
	default:
		middle, form := pick(d, "", "", " Holdings", pick(d, sector.Words...), pick(d, sector.Words...), pick(d, sector.Words...), " & Sons", " (No. 2)"), pick(d, country.Forms...)
		if strings.HasPrefix(form, "Holdings") {
			middle = strings.TrimSuffix(middle, " Holdings")
		}
		name = stem + middle + " " + form
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

// qualityOf draws a borrower's notch. Most are in the middle of the grades of the market.
func qualityOf(d *dice, market api.Market, official bool) int {
	q := calibration.BorrowerQualities[market]
	if official && market == api.IG {
		q = calibration.OfficialQualities
	}
	return min(max(int(math.Round(q.Mean+q.Sigma*d.NormFloat64())), q.Best), q.Worst)
}

// sponsorName returns the name of an invented sponsor.
func sponsorName(d *dice) string {
	return pick(d, calibration.NameHeads...) + pick(d, calibration.NameTails...) + pick(d, " Partners", " Capital", " Équité", " Private Equity", " & Co.")
}
