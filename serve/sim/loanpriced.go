package sim

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// renderLoanPriced returns a priced loan's record, made in the same way as renderBondPriced does.
func (m *Market) renderLoanPriced(d *deal) any {
	plan := d.loanPlan()
	c := recordWriter{stream(d.seed, tagFields), m.config.Quirks}
	t := recordWriter{stream(d.seed, tagText), m.config.Quirks}
	first := plan.tranches[0]
	undated := m.undated(d)
	said := d.loanTopic(plan).report(t.dice, stepPrice, first.quote(first.margin))
	record := api.LoanPricedDeal{
		DealID: d.id, Market: string(d.feed.Market), PricedDate: opt(c, certain(!undated), d.pricingDate()),
		Headline: t.text(0.9, said.headline), Message: t.text(messageThere(d), said.message),
		Borrower:      c.loanBorrower(plan.issuer, plan, d.feed.Market, true),
		UseOfProceeds: c.proceeds(plan),
		DealTotal:     opt(c, 0.9, c.dealTotal(plan)),
		Tranches:      []api.LoanPricedTranche{},
		Links:         c.links(api.RecordLinks{Self: api.Some(c.link(d.self())), UpdatedSince: api.Some(c.link(d.updatedSince()))}),
	}
	if none := c.chance(c.q.EmptyList / 5); none && !undated {
		return &record
	}
	banks := d.offer.syndicate(d.tap)
	for i, t := range plan.tranches {
		record.Tranches = append(record.Tranches, m.loanTranche(d, plan, t, i, banks))
	}
	if undated {
		record.Tranches[0].PricingDate = api.Some(d.pricingDate())
	}
	m.removeUnreleasedLoan(&record, d)
	return &record
}

// messageThere is 0 while the message is still to come.
func messageThere(d *deal) float64 {
	if d.pending(stepMessage) {
		return 0
	}
	return 1
}

func (m *Market) loanTranche(d *deal, plan loanPlan, t loanTranche, i int, banks []member) api.LoanPricedTranche {
	c := recordWriter{stream(d.seed, tagFields, uint64(i)+1), m.config.Quirks}
	tranche := api.LoanPricedTranche{
		ID: d.id*10 + int64(i), Name: c.say(t.name), Status: c.word(0.9, "Priced"),
		Type: c.word(0.97, t.kind.Long), ShortType: c.word(0.9, t.kind.Short), Currency: c.plain(0.97, t.cur.Code),
		Maturity: c.text(0.9, t.maturity(c.dice)), ExtensionOptions: c.text(extendable(d, t), pick(c.dice, "+1+1", "+1+1", "1+1", "None", "+1")),
		By: c.text(0.1, pick(c.dice, "Borrower", "Lender", "B")), Margin: c.text(0.95, pickWeighted(c.dice, choice(92, t.quote(t.margin)), choice(3, fmt.Sprintf("%dbp", t.margin)), choice(5, "Undisclosed"))),
		OID: c.text(quoted(d), t.oid), Grade: c.word(0.4, loanGrade(plan.issuer)),
		BloombergCode: c.plain(0.65, t.code), FIGICode: c.plain(0.6, t.figi),
		Nominal:              opt(c, 0.96, api.LoanNominalTranche{Amount: opt(c, 0.99, c.number(moneyText(t.amount))), Converted: c.converted(t.amount, t.cur)}),
		FxRate:               object(c, 0.9, api.FxRate{USD: api.Some(c.number(t.cur.rate()))}),
		PricingDate:          opt(c, 0.9, date(d.struck)),
		PIK:                  pickWeighted(c.dice, choice(95, api.LoanPIK{Status: "None"}), choice(5, api.LoanPIK{Status: "Cash/PIK toggle", Value: int32(c.between(1, 40) * 25)})),
		AllIn:                c.chance(0.1),
		FixedRate:            t.fixed,
		CovenantLight:        t.lite,
		GreenLoan:            t.green,
		SustainabilityLinked: t.linked,
		Club:                 plan.club,
		Rating:               c.loanRating(plan.issuer),
		Banks:                c.lenders(banks),
		Tenor:                opt(c, 0.9, int32(t.months)),
	}
	c.correctTranche(&tranche, d, t)
	return tranche
}

// correctTranche changes a tranche to what it is before its pending steps.
func (c recordWriter) correctTranche(tranche *api.LoanPricedTranche, d *deal, t loanTranche) {
	if d.happened(stepSign) {
		tranche.Status = api.Some("Signed")
	}
	if d.pending(stepFIGI) {
		tranche.FIGICode = api.Opt[string]{}
	}
	if d.pending(stepBloomberg) {
		tranche.BloombergCode = api.Opt[string]{}
	}
	if d.pending(stepRating) {
		tranche.Rating.Moodys = "(P)B1"
	}
	if d.pending(stepBank) {
		tranche.Banks = slices.Insert(tranche.Banks, 0, api.LoanBank{Name: bank(int(d.id))})
	}
	if d.pending(stepNominal) {
		thousandth := t.amount / 1000 // entered in the wrong unit
		tranche.Nominal = api.Some(api.LoanNominalTranche{Amount: api.Some(c.number(moneyText(thousandth))), Converted: c.converted(thousandth, t.cur)})
	}
	if d.pending(stepUSD) {
		if nominal, there := tranche.Nominal.Get(); there {
			nominal.Converted.USD = "0"
			tranche.Nominal = api.Some(nominal)
		}
	}
	if d.pending(stepMaturity) {
		tranche.Maturity = api.Some("TBC")
	}
	if d.pending(stepFlags) {
		tranche.Club, tranche.GreenLoan = !tranche.Club, !tranche.GreenLoan
	}
	if d.pending(stepTerms) {
		tranche.Margin = api.Some("Undisclosed")
	}
	if d.happened(stepFlip) && !d.happened(stepFlop) {
		tranche.OID = api.Some("9.95")
	}
}

// proceeds returns the use of a loan. Some records have no use, or refinancing as a second one.
func (c recordWriter) proceeds(plan loanPlan) api.LoanUseOfProceeds {
	purpose, nothing, also := calibration.Purposes[plan.purpose], c.chance(0.03), c.chance(0.1)
	is := func(names ...string) bool { return !nothing && slices.Contains(names, purpose) }
	return api.LoanUseOfProceeds{
		MergersAndAcquisitions: is("acquisition"), PrePostIPO: is("ipo"), Refi: is("refi", "repricing") || also,
		GCP: is("general"), Other: is("other"),
		LBO: opt(c, 0.6, is("lbo")), SBO: opt(c, 0.5, is("sbo")), DividendRecap: opt(c, 0.5, is("dividend")),
	}
}

// dealTotal returns the deal's size in each of its currencies.
func (c recordWriter) dealTotal(plan loanPlan) api.LoanNominal {
	var order []currency
	sums := map[string]int64{}
	var hi, lo, carry uint64
	for _, t := range plan.tranches {
		if sums[t.cur.Code] == 0 {
			order = append(order, t.cur)
		}
		sums[t.cur.Code] += t.amount
		h, l := bits.Mul64(uint64(t.amount), uint64(t.cur.nano))
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	total := api.LoanNominal{Currencies: []api.LoanCurrencyAmount{}}
	for _, cur := range order {
		total.Currencies = append(total.Currencies, api.LoanCurrencyAmount{Amount: c.number(moneyText(sums[cur.Code])), Currency: c.plain(0.98, cur.Code)})
	}
	total.Converted.USD = c.number(dollars(hi, lo))
	if c.chance(c.q.ZeroUSD) {
		total.Converted.USD = "0"
	}
	return total
}

// extendable returns the share of tranches with an option to extend.
func extendable(d *deal, t loanTranche) float64 {
	if d.feed.Market == api.CF && t.kind.Short == "RCF" {
		return 0.55
	}
	return 0.1
}

// quoted returns the share of tranches that have a price.
func quoted(d *deal) float64 {
	if d.feed.Market == api.LL {
		return 0.7
	}
	return 0.1
}

// lenders returns a tranche's banks: those of its deal, with small differences. The first ones arrange it.
func (c recordWriter) lenders(banks []member) []api.LoanBank {
	none, twice := c.chance(c.q.EmptyList), c.chance(c.q.DuplicateBank)
	list := []api.LoanBank{}
	leads := 1 + len(banks)*2/5
	for i, b := range ofTranche(c.dice, banks) {
		arranger, odd := i < leads, c.chance(0.06)
		list = append(list, api.LoanBank{Name: c.say(b.name), Type: api.LoanBankType{MLA: arranger != odd, Bookrunner: arranger && i <= leads/2, Participant: !arranger}})
	}
	if none {
		return []api.LoanBank{}
	}
	if twice {
		list = append(list, list[0])
	}
	return list
}

// moneyText returns an amount in whole units as the text of a JSON number.
func moneyText(amount int64) string { return strconv.FormatInt(amount, 10) }
