package text

import (
	"maps"
	"slices"

	"dealflow/schemas/lake"
)

// Siblings contains the values of other columns that help to read a text. The zero value means none.
type Siblings struct {
	Currency []byte // as in the currency column; nil for none
	Day      int64  // days since 1970-01-01
	Dated    bool   // Day is set
}

// Func reads a text that Normalise has returned into r, which must be the zero value.
type Func func(text []byte, siblings Siblings, r *Reading)

// mostBytes is the length of the longest text that is read. The time to read a text grows faster than with the square of its length, and
// those of deals have about a hundred bytes.
const mostBytes = 1_000

var parsers = bounded(map[lake.Parser]Func{
	lake.ParseSpread:      inContext(grammar{read: parseSpread, others: aboutEverything &^ (aboutSteps | aboutSpread), steps: true, priced: true, kind: spreadAlone}),
	lake.ParseEvolution:   inContext(grammar{read: parseEvolution, others: aboutEverything &^ (aboutSteps | aboutSpread), steps: true, staged: true, kind: spreadAlone}),
	lake.ParseYield:       inContext(grammar{read: parseYield, others: aboutEverything &^ aboutYields, steps: true, priced: true}),
	lake.ParseCoupon:      inContext(grammar{read: parseCoupon, others: aboutEverything &^ (aboutYields | aboutSteps | aboutCoupon)}),
	lake.ParseNIP:         inContext(grammar{read: parseNIP, others: aboutEverything &^ (aboutMove | aboutYields | aboutSpread | aboutPremium), steps: true, kind: premiumSteps}),
	lake.ParseStructure:   parseStructure,
	lake.ParseVolume:      inContext(grammar{read: parseVolume, others: aboutEverything &^ (aboutSize | aboutYields | aboutFees | aboutLimit | aboutTranches), steps: true, sized: true}),
	lake.ParseBooks:       inContext(grammar{read: parseBooks, others: aboutEverything &^ (aboutOrders | aboutYields | aboutFees | aboutLimit | aboutTranches), steps: true, kind: orderSteps}),
	lake.ParseMargin:      ofOneTranche(inContext(grammar{read: parseMargin, others: aboutEverything &^ (aboutYield | aboutSpread | aboutTerms | aboutDue | aboutLimit), steps: true, kind: marginAlone})),
	lake.ParseOID:         ofOneTranche(inContext(grammar{read: parseOID, others: aboutEverything &^ (aboutPrice | aboutYield | aboutFees | aboutSpread | aboutTerms | aboutDue), steps: true, kind: priceSteps})),
	lake.ParseMaturity:    inContext(grammar{read: parseMaturity, others: aboutEverything &^ (aboutTenor | aboutLife | aboutDue | aboutYields | aboutMove)}),
	lake.ParseLeverage:    inContext(grammar{read: parseLeverage, others: aboutDebt | aboutTime | aboutCalendar | aboutOffer | aboutSize | aboutFees, steps: true, kind: debtSteps}),
	lake.ParsePricingTime: parsePricingTime,

	lake.ParseMoodys:           parseMoodys,
	lake.ParseStandardAndPoors: parseStandardAndPoors,
	lake.ParseFitch:            parseFitch,
})

// bounded returns functions that leave a text of more than mostBytes UNPARSED, and a text on which they fail: a fault of a parser must not lose a
// deal, or a night.
func bounded(all map[lake.Parser]Func) map[lake.Parser]Func {
	for name, read := range all {
		all[name] = func(text []byte, siblings Siblings, r *Reading) {
			if len(text) > mostBytes {
				r.Status = statusUnparsed
				return
			}
			defer func() {
				if recover() != nil {
					*r = Reading{Status: statusUnparsed, Failed: true}
				}
			}()
			read(text, siblings, r)
		}
	}
	return all
}

// Parser returns the function of a parser; nil for an unknown name.
func Parser(name lake.Parser) Func { return parsers[name] }

// Parsers returns the names of all parsers, sorted. The caller owns the slice.
func Parsers() []lake.Parser {
	return slices.Sorted(maps.Keys(parsers))
}
