package text

import (
	"maps"
	"slices"

	"dealflow/schemas/lake"
)

// Beside is what stands beside a text and helps to read it. The zero value means that nothing does.
type Beside struct {
	Currency []byte // as the currency column has it; nil for none
	Day      int64  // a day since 1970-01-01
	Dated    bool   // Day is set
}

// Func reads a text that Normalise has returned into r, which must be the zero value.
type Func func(text []byte, beside Beside, r *Reading)

var parsers = map[lake.Parser]Func{
	lake.ParseSpread:      parseSpread,
	lake.ParseEvolution:   parseEvolution,
	lake.ParseYield:       parseYield,
	lake.ParseCoupon:      parseCoupon,
	lake.ParseNIP:         parseNIP,
	lake.ParseStructure:   parseStructure,
	lake.ParseVolume:      parseVolume,
	lake.ParseBooks:       parseBooks,
	lake.ParseMargin:      parseMargin,
	lake.ParseOID:         parseOID,
	lake.ParseMaturity:    parseMaturity,
	lake.ParseLeverage:    parseLeverage,
	lake.ParsePricingTime: parsePricingTime,
}

// Parser finds the function of a parser; nil for an unknown one.
func Parser(name lake.Parser) Func { return parsers[name] }

// Parsers lists the names of all parsers. The caller owns the slice.
func Parsers() []lake.Parser {
	return slices.Sorted(maps.Keys(parsers))
}
