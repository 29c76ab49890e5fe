package sim

import (
	"slices"

	"dealflow/schemas/api"
)

// correct changes a priced bond's record to what it is before its pending steps.
func correct(record *api.BondPricedDeal, d *deal, c recordWriter, line bondLine) {
	late := func(kind stepKind) bool { return d.pending(kind) }
	if late(stepStats) {
		record.Stats = api.Opt[api.BondStats]{}
	}
	if late(stepISIN) {
		record.ISINCode = api.Opt[string]{}
	}
	if late(stepFIGI) {
		record.FIGICode = api.Opt[string]{}
	}
	if late(stepBloomberg) {
		record.BloombergCode = api.Opt[string]{}
	}
	if late(stepRating) {
		record.Rating.Moodys = api.Some("(P)Baa3")
	}
	if late(stepBank) {
		record.Banks = slices.Insert(record.Banks, 0, api.BondBank{Name: bank(int(d.id)), Status: "Bookrunner"})
	}
	if late(stepNominal) {
		record.Nominal = c.money(line.amount*10, line.cur)
		if total, there := record.Total.Get(); there { // entered with a zero too many, there too
			total.Nominal = c.money(line.amount*10, line.cur)
			record.Total = api.Some(total)
		}
	}
	if late(stepUSD) {
		record.Nominal.Converted.USD = "0"
	}
	if late(stepMaturity) {
		record.Maturity = api.Some(date(d.born.AddDate(1, 0, 0)))
	}
	if late(stepFlags) {
		record.LeagueTableEligible, record.Green = !record.LeagueTableEligible, !record.Green
	}
	if late(stepTerms) {
		record.Yield = api.Some("3.999999")
	}
	if late(stepMessage) {
		record.Message = api.Opt[string]{}
	}
	if d.happened(stepFlip) && !d.happened(stepFlop) {
		record.Cpn = api.Some("TBC")
	}
}
