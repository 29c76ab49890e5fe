package text_test

import (
	"testing"

	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// fuzz reads any text with one of a family of parsers. Its seeds are the cases of all parsers.
func fuzz(f *testing.F, family ...lake.Parser) {
	f.Helper()
	for _, parser := range text.Parsers() {
		for _, c := range casesOf(f, parser) {
			siblings := siblingsOf(c.sibling)
			for i := range family {
				if !c.isComment() {
					f.Add(uint8(i), []byte(c.text), string(siblings.Currency), siblings.Day, siblings.Dated)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, raw []byte, currency string, day int64, dated bool) {
		siblings := text.Siblings{Currency: []byte(currency), Day: day % 3_000_000, Dated: dated}
		checkReading(t, family[int(which)%len(family)], raw, siblings)
	})
}

func FuzzSpreads(f *testing.F) {
	fuzz(f, lake.ParseSpread, lake.ParseEvolution, lake.ParseMargin, lake.ParseNIP)
}

func FuzzPercentages(f *testing.F) {
	fuzz(f, lake.ParseYield, lake.ParseCoupon, lake.ParseOID, lake.ParseLeverage)
}

func FuzzSizes(f *testing.F) { fuzz(f, lake.ParseVolume, lake.ParseBooks) }

func FuzzTimes(f *testing.F) {
	fuzz(f, lake.ParseStructure, lake.ParseMaturity, lake.ParsePricingTime)
}

func FuzzRatings(f *testing.F) {
	fuzz(f, lake.ParseMoodys, lake.ParseStandardAndPoors, lake.ParseFitch)
}
