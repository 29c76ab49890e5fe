package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// renderBondPriced makes a priced bond's record. It makes the record as it will be in the end and
// spoils what a step still to come will correct, so that the steps can come in any order.
func (m *Market) renderBondPriced(d *deal) any {
	plan, line := planBond(d.offer), d.bondLine()
	c := clerk{stream(d.seed, tagFields), m.config.Quirks}
	em := d.feed.Market == api.EM
	record := api.BondPricedDeal{
		DealID: int32(d.id), Market: string(d.feed.Market), DealType: "ORIGINAL", PricingDate: date(d.born),
		PricingTime: c.pricingTime(d.born), Currency: opt(c, currencyShare(em), line.cur.code),
		Rating: c.ratingsOrNone(plan.issuer, d.feed.Market), Grade: grade(plan.issuer, d.feed.Market),
		Ranking: c.text(0.96, ranks[line.junior].name), FxRate: api.FxRate{USD: api.Some(c.number(line.cur.rate()))},
		Fpr: c.number(millis(line.fpr)),
	}
	if borrower := c.bondBorrower(plan.issuer); !c.chance(m.config.Quirks.NoBorrower) {
		record.Borrower = api.Some(borrower)
	}
	if d.parent != nil {
		record.DealType = "INCREASE"
	}
	c.sizes(&record, d, line)
	c.terms(&record, line, em)
	c.due(&record, d, line)
	c.texts(&record, d, plan.issuer, line)
	c.codes(&record, d, line)
	record.Stats = c.stats(line)
	record.PriceEvolution = c.evolution(d, line)
	record.Banks = c.banks()
	c.flags(&record, plan, line, em)
	record.Links = c.links(c.bondLinks(d))
	correct(&record, d, c)
	return &record
}

func currencyShare(em bool) float64 {
	if em {
		return 0.995
	}
	return 1
}

// sizes are nominal and total, and what else was placed, kept or exchanged.
func (c clerk) sizes(record *api.BondPricedDeal, d *deal, line bondLine) {
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
	secondary, retained := opt(c, 0.03, c.money(extra/2, line.cur)), opt(c, 0.04, c.money(extra, line.cur))
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

// terms are coupon, price and premium.
func (c clerk) terms(record *api.BondPricedDeal, line bondLine, em bool) {
	coupon := millis(line.coupon)
	kind := "Fixed"
	written := pick(c.dice, coupon+"%", coupon+"%", coupon+"%", coupon, eighths(line.coupon))
	switch {
	case line.floating:
		kind, written = "FRN", fmt.Sprintf("SOFR+%d", line.price)
	case line.call > 0 && line.junior >= 3:
		kind = "Fixed-to-Reset"
	case line.coupon == 0:
		kind = "Zero"
	}
	record.Cpn, record.CpnType = c.text(0.99, written), c.text(0.97, kind)
	record.NonBullet = c.text(presence(callable(line)), callable(line))
	step := c.text(0.05, pick(c.dice, "25bp per notch", "SPT: +12.5bp", "1.25x/notch"))
	spread := c.text(0.94, pick(c.dice, line.spread(), line.spread()+"bp"))
	swap := c.text(0.35, fmt.Sprintf("MS%+d", line.price+12))
	record.Yield = c.text(0.88, millis(line.coupon+int64(c.between(-300, 120)))+"%")
	record.Gov = c.text(0.6, pick(c.dice, fmt.Sprintf("T%+d", line.price+20), fmt.Sprintf("DBR 2.5%% Feb-34%+d", line.price+33), fmt.Sprintf("B%+d.2", line.price+30)))
	nip := pick(c.dice, "5", "3-5", "5bp", "-2", "flat", "c.10bp", "5bp inside FV", "n/a", "NM")
	record.Nip = c.text(0.45, nip)
	premium := object(c, 1, api.BondPremium{Nip: c.text(0.5, nip), EarlyTrading: c.text(0.3, pick(c.dice, "+3/5bp tighter", "100.25/100.50", "T+238/235", "unch"))})
	if value, _ := premium.Get(); em {
		record.Swap, record.Premium = swap, api.Some(value)
	} else {
		record.Step, record.Spread = step, spread
	}
}

// eighths is a coupon in eighths where it is one.
func eighths(coupon int64) string {
	if whole, part := coupon/1000, coupon%1000; part == 875 {
		return fmt.Sprintf("%d 7/8%%", whole)
	}
	return millis(coupon) + "%"
}

// callable is the structure of a line that is no bullet.
func callable(line bondLine) string {
	if line.call == 0 {
		return ""
	}
	return line.structure()
}

// spread is the final price over its basis; a line sold on yield has one all the same.
func (l bondLine) spread() string {
	if l.basis == "" {
		return fmt.Sprintf("T%+d", l.price-330)
	}
	return l.quote(l.price)
}

// due are maturity and calls.
func (c clerk) due(record *api.BondPricedDeal, d *deal, line bondLine) {
	neither, far := c.chance(c.q.NoMaturity), c.chance(c.q.FarMaturity)
	end := date(line.maturity(d.offer.at))
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
		share = 0.95
	}
	record.FirstCallDate = opt(c, share, date(d.offer.at.AddDate(max(line.call, 1), 0, 7)))
}

// texts are the long ones. They have a stream of their own: the draws in them vary in number.
func (c clerk) texts(record *api.BondPricedDeal, d *deal, who issuer, line bondLine) {
	t := clerk{stream(d.seed, tagText), c.q}
	said := reportOf(t.dice, stepPrice, who.name, line.structure(), line.quote(line.price))
	record.Message = t.text(0.96, said.message)
	record.AdditionalInfo = t.text(0.35, strings.Join(some(t.dice, 3, remarks), "\t"))
	entries := []string{
		fmt.Sprintf("%s: mandate announced.", d.born.AddDate(0, 0, -2).Format("2 January")),
		fmt.Sprintf("%s: books opened at %s.", d.born.Format("2 January"), line.stage(stepThoughts)),
		fmt.Sprintf("%s: priced at %s.", d.born.Format("2 January"), line.quote(line.price)),
	}
	record.DealHistory = t.text(0.6, longHistory(t.dice, entries))
}

// codes come late: what a step will still bring is not there yet.
func (c clerk) codes(record *api.BondPricedDeal, d *deal, line bondLine) {
	record.BloombergCode, record.FIGICode = c.text(0.8, line.bloomberg), c.text(0.85, line.figi)
	code := line.isin
	if two := c.chance(0.01); two {
		code += "/" + line.tempISIN
	}
	record.ISINCode = c.text(0.92, code)
	if d.pending(stepTempISIN) {
		record.ISINCode = api.Some(line.tempISIN)
	}
}

// pricingTime is the local time of pricing with its offset.
func (c clerk) pricingTime(at time.Time) api.Opt[string] {
	bad, how := c.chance(c.q.BadPricingTime), c.IntN(4)
	zone := pick(c.dice, "+00:00", "+01:00", "-05:00", "-04:00", "+08:00", "+05:30", "+09:00")
	written := at.Format("15:04") + zone
	if c.chance(0.15) {
		written = at.Format("T15:04:05Z")
	}
	if bad {
		written = []string{"24:10+00:00", at.Format("15:04"), at.Format("15.04") + "+01", "T20:00:30-05:00"}[how]
	}
	return c.text(0.7, written)
}

// investors and areas are keys of the stats maps, free texts as they are.
var (
	investors = []string{"Fund managers", "FM", "Banks/PBs", "CB/OI", "Ins/PF", "HF", "Others", "Central banks / SSAs", "Priv. banks \"PB\"", "fund managers"}
	areas     = []string{"UK/Ireland", "Ger/Aut", "Nordics", "Benelux", "Asia", "US offshore", "US", "us", "Rest.of.World", "日本", "France", "Southern Europe"}
	awkward   = []string{"", "a.b.c", "$type", "_links", "'; --", "usd", "null", " ", "Å", "A\u030a", "key\twith\ttabs", "1"}
)

func (c clerk) stats(line bondLine) api.Opt[api.BondStats] {
	books := int64(float64(line.amount)*line.cover/5e7+1) * 5e7
	return object(c, 0.55, api.BondStats{
		FinalBooks:    opt(c, 0.8, c.number(fmt.Sprint(books))),
		FinalAccounts: opt(c, 0.4, int32(c.between(12, 480))),
		InvestorType:  opt(c, 0.35, c.shares(investors)),
		Geography:     opt(c, 0.35, c.shares(areas)),
	})
}

// shares are percentages that mostly sum to 100.
func (c clerk) shares(keys []string) api.NumberMap {
	entries, left := api.NumberMap{}, 1000
	odd := stream(c.Uint64())
	for i, key := range some(c.dice, c.between(3, 7), keys) {
		share := min(c.between(20, 400), left)
		left -= share
		value := c.number(millis(int64(share) * 100))
		if odd.chance(c.q.NegativeZero) {
			value = "-0.0"
		}
		if odd.chance(c.q.AwkwardStatsKey) {
			key = awkward[(odd.IntN(len(awkward))+i)%len(awkward)]
		}
		if !slices.ContainsFunc(entries, func(e api.NumberEntry) bool { return e.Key == key }) {
			entries = append(entries, api.NumberEntry{Key: key, Value: value})
		}
	}
	return entries
}

// evolution is the way from first thoughts to the price.
func (c clerk) evolution(d *deal, line bondLine) []api.BondPriceEvolution {
	shuffled, none := c.chance(c.q.Unordered), c.chance(c.q.EmptyList)
	kinds := [][]stepKind{{stepFinal}, {stepThoughts, stepFinal}, {stepThoughts, stepGuidance, stepFinal}, {stepThoughts, stepGuidance, stepRevised, stepFinal}}
	stages := kinds[pickWeighted(c.dice, []weighted[int]{{9, 0}, {25, 1}, {40, 2}, {19, 3}})]
	entries := []api.BondPriceEvolution{}
	at := d.born.Truncate(time.Minute).Add(-time.Duration(len(stages)*75) * time.Minute)
	for _, stage := range stages {
		entries = append(entries, api.BondPriceEvolution{Date: instant(at), Value: c.say(line.stage(stage))})
		at = at.Add(time.Duration(c.between(0, 75)) * time.Minute)
	}
	if none {
		return []api.BondPriceEvolution{}
	}
	if shuffled {
		slices.Reverse(entries)
	}
	return entries
}

var roles = []string{"Bookrunner", "Active Bookrunner", "Passive Bookrunner", "Joint Lead Manager", "Lead Manager", "Co-Lead", "Co-Manager", "Global Coordinator", "B&D", "Structurer", "bookrunner", "BOOKRUNNER"}

func (c clerk) banks() []api.BondBank {
	none, twice := c.chance(c.q.EmptyList), c.chance(c.q.DuplicateBank)
	count := min(max(int(c.lognormal(5, 0.6)), 1), 30)
	list := []api.BondBank{}
	for _, name := range some(c.dice, count, banks) {
		list = append(list, api.BondBank{Name: c.say(name), Status: pick(c.dice, roles...)})
	}
	if none {
		return []api.BondBank{}
	}
	if twice {
		list = append(list, api.BondBank{Name: list[0].Name, Status: "B&D"})
	}
	return list
}

// flags are the booleans and the tier.
func (c clerk) flags(record *api.BondPricedDeal, plan bondPlan, line bondLine, em bool) {
	if tier := ranks[line.junior].tier; tier != "" {
		record.Tier = api.Some(tier)
	} else {
		record.Tier = opt(c, 0, "")
	}
	record.Subordinated = line.junior >= 3 && line.junior < rankSecured
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
	record.CoC, record.CUC, record.MWC = c.chance(0.6), c.chance(0.4), c.chance(0.6)
}

// bondLinks are the record's links; an increase mostly links to its original.
func (c clerk) bondLinks(d *deal) api.RecordLinks {
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
