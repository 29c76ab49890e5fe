package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// renderBondPriced returns a priced bond's record. It makes the final record first and then corrupts what pending steps
// will correct, so that the steps can come in any order.
func (m *Market) renderBondPriced(d *deal) any {
	plan := planBond(d.offer)
	line, facts := plan.lines[d.line], d.facts()
	if d.tap != 0 {
		line = line.tapped(d.tap, d.offer, d.target)
	}
	line.cur = line.cur.on(time.Unix(int64(d.dated)*86400, 0).UTC())
	c := recordWriter{stream(d.seed, tagFields), m.config.Quirks}
	em := d.feed.Market == api.EM
	record := api.BondPricedDeal{
		DealID: int32(d.id), Market: string(d.feed.Market), DealType: "ORIGINAL", PricingDate: d.pricingDate(),
		PricingTime: c.pricingTime(d), Currency: opt(c, currencyShare(em), line.cur.Code),
		Rating: c.ratingsOrNone(plan.issuer), Grade: grade(plan.issuer, d.feed.Market),
		Ranking: c.word(0.96, calibration.Ranks[line.junior].Name), FxRate: api.FxRate{USD: api.Some(c.number(line.cur.rate()))},
		Fpr: c.number(millis(line.fpr)),
	}
	if borrower := c.bondBorrower(plan.issuer); !c.chance(m.config.Quirks.NoBorrower) {
		record.Borrower = api.Some(borrower)
	}
	if d.parent != nil {
		record.DealType = "INCREASE"
	}
	c.sizes(&record, d, line)
	c.terms(&record, d, line)
	c.due(&record, d, line)
	c.texts(&record, d, plan, line, facts)
	c.codes(&record, d, line, facts)
	record.Stats = c.stats(d, line, facts)
	record.PriceEvolution = c.evolution(d, line)
	record.Banks = c.banks(d)
	c.flags(&record, plan, line, em)
	record.Links = c.links(c.bondLinks(d))
	correct(&record, d, c, line)
	m.removeUnreleased(&record, d)
	return &record
}

func currencyShare(em bool) float64 {
	if em {
		return 0.995
	}
	return 1
}

// sizes sets nominal and total, and the amounts that were placed otherwise, retained or exchanged.
func (c recordWriter) sizes(record *api.BondPricedDeal, d *deal, line bondLine) {
	em := d.feed.Market == api.EM
	record.Nominal = c.money(line.amount, line.cur)
	if huge := c.chance(c.q.HugeNumber); huge {
		record.Nominal.Amount = "9007199254740993"
	}
	whole := line.amount + d.restated
	if d.parent != nil {
		whole += d.before
	}
	total := api.BondTotal{Nominal: c.money(whole, line.cur)}
	extra := line.amount / 5
	secondary, retained := opt(c, 0.01, c.money(extra/2, line.cur)), opt(c, 0.02, c.money(extra, line.cur))
	with, wholeWith := c.money(line.amount+extra, line.cur), c.money(whole+extra, line.cur)
	record.Secondary, total.Secondary = secondary, secondary
	if _, kept := retained.Get(); em {
		record.Exchange, total.Exchange = retained, retained
		if kept {
			record.NominalWithExchange, total.NominalWithExchange = api.Some(with), api.Some(wholeWith)
		}
	} else {
		record.Retained, total.Retained = retained, retained
		if kept {
			record.NominalWithRetained, total.NominalWithRetained = api.Some(with), api.Some(wholeWith)
		}
	}
	record.Total = opt(c, 0.92, total)
}

// terms sets coupon, price and premium.
func (c recordWriter) terms(record *api.BondPricedDeal, d *deal, line bondLine) {
	market, em := d.offer.market, d.feed.Market == api.EM
	coupon := millis(line.coupon)
	kind := "Fixed"
	written := pick(c.dice, coupon+"%", coupon+"%", coupon+"%", coupon, eighths(line.coupon))
	stepped, odd := c.chance(0.004), pickWeighted(c.dice, calibration.OddCoupons...)
	switch {
	case line.floating:
		kind, written = "FRN", overText(floater(line.cur.Code), line.overGovernment())
	case line.call > 0 && (line.junior == 3 || line.perpetual):
		kind = pick(c.dice, "Fixed-to-Reset", "FXD-FLT")
	case line.coupon == 0:
		kind = "Zero"
	case stepped:
		kind = odd
	}
	if kind == "PIK/Toggle" {
		written = millis(line.coupon) + "% cash/" + millis(line.coupon+750) + "% PIK"
	}
	record.Cpn, record.CpnType = c.text(0.99, written), c.word(0.97, kind)
	record.NonBullet = c.text(presence(callable(line)), callable(line))
	step := c.text(0.06, pick(c.dice, "25bp per notch", "SPT: +12.5bp", "1.25x/notch"))
	spread := c.text(byMarket(market, 0.94, 0.75, 0.9), pick(c.dice, line.spread(), line.spread(), line.spread()+"bp"))
	swap := c.text(0.65, overText("MS", line.overMidSwaps()))
	record.Yield = c.text(0.88, millis(line.yield)+"%")
	record.Gov = c.text(presence(line.cur.Government)*0.73, line.named(c.dice, d.struck))
	nip := premiumText(c.dice, line.premium)
	share := byMarket(market, 0.45, 0.03, 0.25)
	if market == api.IG && line.cur.Code == "EUR" {
		share = 0.65
	}
	record.Nip = c.text(share, nip)
	premium := object(c, 1, api.BondPremium{Nip: c.text(share, nip), EarlyTrading: c.text(0.3, pick(c.dice, "+3/5bp tighter", "100.25/100.50", "T+238/235", "unch"))})
	if value, _ := premium.Get(); em {
		record.Swap, record.Premium = swap, api.Some(value)
	} else {
		record.Step, record.Spread = step, spread
	}
}

// named returns the price over government securities, sometimes over a named one. A line that is not sold over them is
// a fraction of a basis point off.
func (l bondLine) named(r *dice, at time.Time) string {
	over, certain := overText("", l.overGovernment()), r.chance(0.4)
	if over[0] != '-' {
		over = "+" + strings.TrimPrefix(over, "+")
	}
	year := at.AddDate(l.years, 0, 0).Format("06")
	switch {
	case l.cur.Code == "EUR" && certain:
		return "DBR 2.5% Feb-" + year + over
	case l.cur.Code == "EUR" && l.basis == "MS":
		return fmt.Sprintf("B%+.1f", float64(l.gov)/10)
	case l.cur.Code == "GBP" && certain:
		return "UKT 4.25% Jul-" + year + over
	case l.cur.Code == "GBP":
		return "G" + over
	}
	return l.cur.Government + over
}

// premiumText returns a new issue premium in one of its usual spellings.
func premiumText(r *dice, premium int) string {
	plain := fmt.Sprint(premium)
	switch how := r.IntN(20); {
	case how < 9:
		return plain
	case how < 12 && premium >= 0:
		return fmt.Sprintf("%d-%d", premium, premium+2)
	case how < 15:
		return plain + "bp"
	case how == 15 && premium > 0:
		return "c." + plain + "bp"
	case how == 16 && premium < 0:
		return fmt.Sprintf("%dbp inside FV", -premium)
	case how == 17:
		return pick(r, "n/a", "NM")
	case premium == 0:
		return "flat"
	}
	return plain
}

// floater returns the reference rate of floating coupons in a currency.
func floater(code string) string {
	base := map[string]string{"EUR": "3mE", "GBP": "SONIA", "AUD": "BBSW", "CHF": "SARON", "JPY": "TONA"}[code]
	return cmp.Or(base, "SOFR")
}

// eighths returns a coupon as text: with 7/8 if it ends so, otherwise as a decimal.
func eighths(coupon int64) string {
	if whole, part := coupon/1000, coupon%1000; part == 875 {
		return fmt.Sprintf("%d 7/8%%", whole)
	}
	return millis(coupon) + "%"
}

// callable returns the structure of a callable line, or "".
func callable(line bondLine) string {
	if line.call == 0 {
		return ""
	}
	return line.structure()
}

// spread returns the final price over its basis. A line that is sold on yield has a spread too.
func (l bondLine) spread() string {
	if l.basis == "" {
		return overText(cmp.Or(l.cur.Government, "MS"), l.overGovernment())
	}
	return l.quote(l.price)
}

// due sets maturity and calls.
func (c recordWriter) due(record *api.BondPricedDeal, d *deal, line bondLine) {
	neither, far := c.chance(c.q.NoMaturity), c.chance(c.q.FarMaturity)
	end := date(line.maturity(d.offer.target))
	if far {
		end = "9999-12-31"
	}
	share := 1.0
	if line.perpetual || neither {
		share = 0
	}
	record.Maturity = opt(c, share, end)
	record.Perpetual = opt(c, max(0.7, 1-share), line.perpetual)
	share = 0
	if line.call > 0 {
		share = 0.98
	}
	record.FirstCallDate = opt(c, share, date(d.offer.target.AddDate(max(line.call, 1), 0, 7)))
}

// texts sets the long texts. They have their own stream, because the number of their draws varies.
func (c recordWriter) texts(record *api.BondPricedDeal, d *deal, plan bondPlan, line bondLine, f facts) {
	t := recordWriter{stream(d.seed, tagText), c.q}
	topic := d.bondTopic(plan, line)
	said := topic.report(t.dice, stepPrice, line.quote(line.price))
	record.Message = t.text(certain(f.message), said.message)
	record.AdditionalInfo = t.text(0.35, topic.passage(t.dice, 3, "\t"))
	if !f.history {
		record.DealHistory = t.text(0, "")
		return
	}
	told, eve := d.struck.Format("2 January"), d.struck.AddDate(0, 0, -2).Format("2 January")
	record.DealHistory = t.text(1, topic.history(t.dice, []string{
		eve + ": mandate announced.",
		told + ": books opened at " + line.stage(stepThoughts) + ".",
		told + ": guidance at " + line.stage(stepGuidance) + ".",
		told + ": priced at " + line.quote(line.price) + ".",
	}))
}

// codes sets the identifiers, except those that a pending step will add.
func (c recordWriter) codes(record *api.BondPricedDeal, d *deal, line bondLine, f facts) {
	codes := line.codes(d.tap)
	record.BloombergCode, record.FIGICode = c.plain(certain(f.bloomberg), codes.bloomberg), c.plain(certain(f.figi), codes.figi)
	code := codes.isin
	if two := c.chance(0.01); two {
		code += "/" + codes.tempISIN
	}
	record.ISINCode = c.plain(certain(f.isin), code)
	if d.pending(stepTempISIN) {
		record.ISINCode = api.Some(codes.tempISIN)
	}
}

// pricingTime returns the local time of pricing with its offset. Records of the early years have none.
func (c recordWriter) pricingTime(d *deal) api.Opt[string] {
	bad, how := c.chance(c.q.BadPricingTime), c.IntN(4)
	zone := zoneOf(d.offer.code)
	local := zone.local(d.struck)
	written := local.Format("15:04") + zone.suffix(d.struck)
	if utc := c.chance(0.15); utc && date(d.struck) == d.pricingDate() {
		written = d.struck.Format("T15:04:05Z")
	}
	if bad {
		written = []string{"24:10+00:00", local.Format("15:04"), local.Format("15.04") + "+01", "T20:00:30-05:00"}[how]
	}
	share := 0.7
	if d.struck.Year() < 2018 {
		share = 0
	}
	if c.q.BadPricingTime == 0 {
		return c.plain(share, written) // a time has a form: awkward characters are no part of it
	}
	return c.text(share, written)
}

// stats returns the stats of a bond. Somewhat more than half of the bonds have them, most with the final books. Their
// presence depends only on the fact, so that a step that adds them changes the record.
func (c recordWriter) stats(d *deal, line bondLine, f facts) api.Opt[api.BondStats] {
	t := recordWriter{stream(d.seed, tagFacts, 2), c.q}
	if !f.stats {
		return opt(t, 0, api.BondStats{})
	}
	_, told := d.offer.statsShares()
	books := line.books()
	if empty := t.chance(t.q.EmptyObject / 2); empty {
		return opt(t, 1, api.BondStats{})
	}
	return opt(t, 1, api.BondStats{
		FinalBooks:    opt(t, told, t.number(moneyText(books))),
		FinalAccounts: opt(t, 0.15/0.55, int32(t.between(12, 480))),
		InvestorType:  opt(t, 0.14/0.55, t.shares(calibration.Investors)),
		Geography:     opt(t, 0.16/0.55, t.shares(calibration.Areas)),
	})
}

// books returns the final books of a line.
func (l bondLine) books() int64 {
	return int64(math.Round(float64(l.amount)*l.cover/5e7)+1) * 5e7
}

// shares returns percentages whose sum is about 100.
func (c recordWriter) shares(keys []string) api.NumberMap {
	entries, odd := api.NumberMap{}, stream(c.Uint64())
	weights, total := make([]float64, c.between(3, 8)), 0.0
	for i := range weights {
		weights[i] = 0.1 - math.Log(1-c.Float64())
		total += weights[i]
	}
	left := int64(100)
	if wrong := c.chance(0.02); wrong {
		left = int64(c.between(80, 130))
	}
	for i, key := range some(c.dice, len(weights), keys) {
		share := int64(math.Round(100 * weights[i] / total))
		if i == len(weights)-1 {
			share = max(left, 0)
		}
		left -= share
		value := c.number(moneyText(share))
		if odd.chance(c.q.NegativeZero) {
			value = "-0.0"
		}
		if odd.chance(c.q.AwkwardStatsKey) {
			key = calibration.AwkwardKeys[(odd.IntN(len(calibration.AwkwardKeys))+i)%len(calibration.AwkwardKeys)]
		}
		key = c.spell(key)
		if !slices.ContainsFunc(entries, func(e api.NumberEntry) bool { return e.Key == key }) {
			entries = append(entries, api.NumberEntry{Key: key, Value: value})
		}
	}
	return entries
}

// evolution returns the steps from initial price thoughts to the price. Some bonds have none, and old bonds have fewer.
func (c recordWriter) evolution(d *deal, line bondLine) []api.BondPriceEvolution {
	shuffled := c.chance(c.q.Unordered)
	counts := calibration.EvolutionLengths
	if d.struck.Year() < 2013 {
		counts = calibration.EarlyEvolutionLengths
	}
	stages := [][]stepKind{
		{}, {stepFinal}, {stepThoughts, stepFinal}, {stepThoughts, stepGuidance, stepFinal},
		{stepThoughts, stepGuidance, stepRevised, stepFinal}, {stepThoughts, stepThoughts, stepGuidance, stepRevised, stepFinal},
	}[pickWeighted(c.dice, counts...)]
	entries := []api.BondPriceEvolution{}
	at := d.struck.Truncate(time.Minute).Add(-time.Duration(len(stages)*75) * time.Minute)
	for _, stage := range stages {
		entries = append(entries, api.BondPriceEvolution{Date: instant(at), Value: c.say(line.stage(stage))})
		at = at.Add(time.Duration(c.between(0, 75)) * time.Minute)
	}
	if shuffled {
		slices.Reverse(entries)
	}
	return entries
}

// banks returns the banks of a line: those of its deal, with small differences.
func (c recordWriter) banks(d *deal) []api.BondBank {
	none, twice := c.chance(c.q.EmptyList), c.chance(c.q.DuplicateBank)
	list := []api.BondBank{}
	for _, b := range ofTranche(c.dice, d.offer.syndicate(d.tap)) {
		list = append(list, api.BondBank{Name: c.say(b.name), Status: c.spell(b.role)})
	}
	if none {
		return []api.BondBank{}
	}
	if twice {
		list = append(list, api.BondBank{Name: list[0].Name, Status: "B&D"})
	}
	return list
}

// flags sets the booleans and the tier.
func (c recordWriter) flags(record *api.BondPricedDeal, plan bondPlan, line bondLine, em bool) {
	if tier := calibration.Ranks[line.junior].Tier; tier != "" {
		record.Tier = api.Some(tier)
	} else {
		record.Tier = opt(c, 0, "")
	}
	record.Subordinated = line.junior >= 3 && line.junior < calibration.RankSecured
	record.LeagueTableEligible = !c.chance(0.06)
	record.Covered = plan.covered
	pref, exempt, bankNote := c.chance(0.02), opt(c, 0.7, c.chance(0.05)), opt(c, 0.7, c.chance(0.08))
	if !em {
		record.Pref, record.SECExempt, record.Section3a2 = api.Some(pref), exempt, bankNote
	}
	record.OnlyRegS, record.Only144A, record.RegSAnd144A, record.SECRegistered = line.format == 0, line.format == 1, line.format == 2, line.format == 3
	if contradicts := c.chance(0.03); contradicts {
		record.OnlyRegS = !record.OnlyRegS
	}
	record.Green, record.Sustainable, record.SustainabilityLinked, record.Social = line.label == 1, line.label == 2, line.label == 3, line.label == 4
	record.SeniorPreferred, record.SeniorNonPreferred = line.junior == 1, line.junior == 2
	record.HoldCo = plan.issuer.bankish && c.chance(0.4)
	record.OpCo = plan.issuer.bankish && !record.HoldCo && c.chance(0.4)
	record.CoC, record.CUC, record.MWC = line.calls.control, line.calls.cleanUp, line.calls.makeWhole
}

// bondLinks returns the record's links. An increase mostly links to its original.
func (c recordWriter) bondLinks(d *deal) api.RecordLinks {
	links := api.RecordLinks{Self: api.Some(c.link(d.self())), UpdatedSince: api.Some(c.link(d.updatedSince()))}
	foreign, missing, original := c.chance(c.q.ForeignOriginal), c.chance(c.q.OriginalMissing), c.link("")
	if d.parent == nil || missing {
		return links
	}
	original.Href = d.parent.self()
	if foreign {
		original.Href = "https://archive.example.test" + original.Href
	}
	links.Original = api.Some(original)
	return links
}
