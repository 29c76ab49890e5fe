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

	lake.ParseMoodys:           parseMoodys,
	lake.ParseStandardAndPoors: parseStandardAndPoors,
	lake.ParseFitch:            parseFitch,
}

// Parser returns the function of a parser; nil for an unknown name.
func Parser(name lake.Parser) Func { return parsers[name] }

// Parsers returns the names of all parsers, sorted. The caller owns the slice.
func Parsers() []lake.Parser {
	return slices.Sorted(maps.Keys(parsers))
}
