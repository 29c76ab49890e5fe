package sim

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"dealflow/schemas/api"
	"dealflow/serve/sim/calibration"
)

// TestMarginals compares fifteen years of a market with the figures of real markets (the targets), and prints the
// table. By default the market has a small share of the deals; TEST_FULL=1 uses all. A share p of n deals may differ by
// its tolerance plus three standard errors.
func TestMarginals(t *testing.T) {
	scale := 0.04
	if os.Getenv("TEST_FULL") == "1" {
		scale = 1
	}
	epoch := time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC)
	m := New(Config{Seed: 2, Years: 15, Scale: scale, Epoch: epoch})
	tab := &table{}
	c := newCensus(tab)
	for _, market := range []api.Market{api.IG, api.HY, api.EM} {
		for _, r := range m.Deals(api.Feed{Service: api.Bond, Market: market, Kind: api.Priced}) {
			c.bond(read[api.BondPricedDeal](t, r.Body), len(r.Body))
		}
	}
	for _, market := range []api.Market{api.LL, api.CF, api.AF} {
		for _, r := range m.Deals(api.Feed{Service: api.Loan, Market: market, Kind: api.Priced}) {
			c.loan(read[api.LoanPricedDeal](t, r.Body), r.PricingDate, len(r.Body))
		}
	}
	c.volumes(scale)
	c.seasons()
	c.bondFields()
	c.loanFields()
	c.pipeline(m, scale)
	lifecycles(tab, m, 1500+int(2500*scale))
	receptions(tab, m)
	tab.report(t)
}

func read[T any](t *testing.T, body []byte) T {
	t.Helper()
	var record T
	if err := json.Unmarshal(body, &record); err != nil {
		t.Fatalf("%v: %.300s", err, body)
	}
	return record
}

// table collects rows of target and got.
type table struct{ rows []tableRow }

type tableRow struct {
	name              string
	target, got, most float64 // most is how far got may be from target
	n                 int
}

// share adds a share in per cent of n deals.
func (t *table) share(name string, target, got, tolerance float64, n int) {
	p := target / 100
	noise := 300 * math.Sqrt(p*(1-p)/float64(max(n, 1)))
	t.rows = append(t.rows, tableRow{name, target, got, tolerance + noise, n})
}

// value adds a figure with a relative tolerance.
func (t *table) value(name string, target, got, relative float64, n int) {
	t.rows = append(t.rows, tableRow{name, target, got, math.Abs(target) * relative, n})
}

func (t *table) report(tt *testing.T) {
	var text strings.Builder
	fmt.Fprintf(&text, "\n%-44s %10s %10s %9s %8s\n", "marginal", "target", "got", "within", "n")
	for _, r := range t.rows {
		mark := ""
		if !(math.Abs(r.got-r.target) <= r.most) {
			mark = "  <<<"
			tt.Errorf("%s: got %.4g, want %.4g ± %.3g", r.name, r.got, r.target, r.most)
		}
		fmt.Fprintf(&text, "%-44s %10.4g %10.4g %9.3g %8d%s\n", r.name, r.target, r.got, r.most, r.n, mark)
	}
	tt.Log(text.String())
}

// tally counts how often a condition is true.
type tally struct{ yes, all int }

func (t *tally) add(is bool) {
	t.all++
	if is {
		t.yes++
	}
}

func (t *tally) percent() float64 { return 100 * float64(t.yes) / float64(max(t.all, 1)) }

// census has the counts over all priced deals.
type census struct {
	*table
	is      map[string]*tally
	values  map[string][]float64
	years   map[api.Market]map[int]int
	months  map[string][]float64
	days    map[string][]float64
	perDay  map[string]float64
	bytes   int
	records int
}

func newCensus(t *table) *census {
	return &census{
		table: t, is: map[string]*tally{}, values: map[string][]float64{}, years: map[api.Market]map[int]int{},
		months: map[string][]float64{}, days: map[string][]float64{}, perDay: map[string]float64{},
	}
}

func (c *census) count(name string, is bool) {
	if c.is[name] == nil {
		c.is[name] = &tally{}
	}
	c.is[name].add(is)
}

func (c *census) measure(name string, value float64) { c.values[name] = append(c.values[name], value) }

func (c *census) when(market, group, date string) {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return
	}
	if c.months[market] == nil {
		c.months[market] = make([]float64, 12)
	}
	if c.days[group] == nil {
		c.days[group] = make([]float64, 7)
	}
	if c.years[api.Market(market)] == nil {
		c.years[api.Market(market)] = map[int]int{}
	}
	c.years[api.Market(market)][at.Year()]++
	c.months[market][at.Month()-1]++
	c.days[group][at.Weekday()]++
	c.perDay[market+date]++
	if at.Month() == time.August {
		c.count(group+" in August", true)
	} else {
		c.count(group+" in August", false)
	}
}

func there(o api.Opt[string]) bool {
	text, ok := o.Get()
	return ok && strings.TrimSpace(text) != ""
}

func number(n api.Number) float64 {
	var v float64
	_, _ = fmt.Sscan(string(n), &v)
	return v
}

func (c *census) bond(d api.BondPricedDeal, size int) {
	c.bytes, c.records = c.bytes+size, c.records+1
	m := d.Market
	code, _ := d.Currency.Get()
	group := m
	if m == "IG" {
		group += " " + code
	}
	c.when(m, group, d.PricingDate)
	original := d.DealType == "ORIGINAL"
	c.count(m+" increases", !original)
	c.count(m+" currency USD", code == "USD")
	c.count(m+" currency EUR", code == "EUR")
	c.count(m+" currency GBP", code == "GBP")
	c.count(m+" without maturity", !there(d.Maturity))
	perpetual, _ := d.Perpetual.Get()
	c.count("bond perpetual", perpetual)
	c.count(m+" first call", there(d.FirstCallDate))
	c.count(m+" non-bullet", there(d.NonBullet))
	c.count("bond isin", there(d.ISINCode))
	c.count("bond figi", there(d.FIGICode))
	c.count("bond bloomberg", there(d.BloombergCode))
	c.count("bond yield", there(d.Yield))
	c.count("bond gov", there(d.Gov))
	c.count("bond cpn type", there(d.CpnType))
	c.count("bond message", there(d.Message))
	c.count("bond additional info", there(d.AdditionalInfo))
	c.count("bond deal history", there(d.DealHistory))
	kind, ok := d.CpnType.Get()
	if ok {
		c.count("bond coupon fixed", strings.HasPrefix(kind, "Fixed") && kind != "Fixed-to-Reset")
		c.count("bond coupon FRN", kind == "FRN")
	}
	if m == "EM" {
		c.count("EM swap", there(d.Swap))
		c.count("EM currency absent", code == "")
		premium, _ := d.Premium.Get()
		c.count("EM early trading", there(premium.EarlyTrading))
	} else {
		c.count(m+" spread", there(d.Spread))
	}
	switch {
	case m != "IG":
		c.count(m+" nip", there(d.Nip))
	case code == "EUR" || code == "USD":
		c.count(m+" "+code+" nip", there(d.Nip))
	}
	if year := d.PricingDate[:4]; year >= "2018" {
		c.count("bond pricing time, from 2018", there(d.PricingTime))
	} else {
		c.count("bond pricing time, before", there(d.PricingTime))
	}
	stats, has := d.Stats.Get()
	c.count("bond stats", has)
	_, books := stats.FinalBooks.Get()
	if m != "IG" || code == "EUR" || code == "USD" {
		c.count(strings.TrimSpace(group)+" final books", books)
	}
	_, accounts := stats.FinalAccounts.Get()
	_, investors := stats.InvestorType.Get()
	c.count("bond final accounts", accounts)
	c.count("bond investor types", investors)
	_, total := d.Total.Get()
	_, secondary := d.Secondary.Get()
	c.count("bond total", total)
	c.count("bond secondary", secondary)
	if original {
		c.count("bond re-offered at par, "+m, number(d.Fpr) == 100)
		c.count(m+" rated by Moody's", there(d.Rating.Moodys))
	}
	if tier, _ := d.Tier.Get(); m == "IG" {
		c.count("IG tier AT1", tier == "AT1")
		c.count("IG tier T2", tier == "T2")
		c.count("IG covered", d.Covered)
	}
	c.count(m+" Reg S", d.OnlyRegS)
	c.count(m+" 144A/Reg S", d.RegSAnd144A)
	c.count("bond evolution of 3", len(d.PriceEvolution) == 3)
	c.count("bond evolution empty", len(d.PriceEvolution) == 0)
	if len(d.Banks) > 0 {
		if m != "IG" || code == "EUR" || code == "USD" {
			c.measure(group+" banks", float64(len(d.Banks)))
		}
	}
	amount := number(d.Nominal.Amount) / 1e6
	if original && (code == "USD" || code == "EUR") && amount > 0 {
		c.measure(m+" "+code+" size", amount)
		c.count("bond size a multiple of 50m", math.Mod(amount, 50) == 0)
	}
	c.esg(m, d.PricingDate, d.Green || d.Social || d.Sustainable || d.SustainabilityLinked)
}

func (c *census) esg(market, date string, labelled bool) {
	if date == "" {
		return
	}
	for _, year := range []string{"2015", "2019", "2021", "2024"} {
		if date[:4] == year {
			c.count(market+" labelled "+year, labelled)
		}
	}
}

func (c *census) loan(d api.LoanPricedDeal, date string, size int) {
	c.bytes, c.records = c.bytes+size, c.records+1
	m := d.Market
	c.count("loan without date", !there(d.PricedDate))
	c.when(m, m, date)
	if len(d.Tranches) == 0 {
		return
	}
	c.count(m+" of one tranche", len(d.Tranches) == 1)
	c.measure(m+" tranches", float64(len(d.Tranches)))
	backed, ok := d.Borrower.Sponsors.SponsorBacked.Get()
	if m == "LL" && ok {
		c.count("LL sponsor-backed", backed)
	}
	c.count(m+" club", d.Tranches[0].Club)
	for _, t := range d.Tranches {
		short, _ := t.ShortType.Get()
		code, _ := t.Currency.Get()
		_, nominal := t.Nominal.Get()
		c.count("loan tranche nominal", nominal)
		if code != "" {
			c.count(m+" tranche USD", code == "USD")
		}
		if m == "LL" && short != "" {
			c.count("LL TLB", short == "TLB")
			c.count("LL RCF", short == "RCF")
		}
		if m == "CF" && short != "" {
			c.count("CF RCF", short == "RCF")
		}
		if short == "TLB" && m == "LL" && date >= "2022" {
			c.count("LL TLB covenant-lite from 2022", t.CovenantLight)
		}
		if amount, ok := t.Nominal.Get(); ok && short == "TLB" && code == "USD" {
			if value, ok := amount.Amount.Get(); ok {
				c.measure("LL TLB size", number(value)/1e6)
			}
		}
		margin, _ := t.Margin.Get()
		if plus := strings.LastIndexByte(margin, '+'); plus > 0 && m == "LL" {
			c.measure("LL margin", number(api.Number(margin[plus+1:])))
		}
		if len(t.Banks) > 0 {
			c.measure(m+" banks", float64(len(t.Banks)))
		}
		c.count("loan no PIK", t.PIK.Status == "None")
		c.esg(m, date, t.GreenLoan || t.SustainabilityLinked)
	}
}

// volumes are the counts by market and year.
func (c *census) volumes(scale float64) {
	for _, market := range []api.Market{api.IG, api.HY, api.EM, api.LL, api.CF, api.AF} {
		total, got, worst := 0.0, 0, 0.0
		for i, count := range calibration.AnnualCounts[market] {
			if market == api.LL || market == api.CF || market == api.AF {
				count *= 0.97 // the others have no date
			}
			total += count
			n := c.years[market][calibration.FirstYear+i]
			got += n
			worst = max(worst, math.Abs(float64(n)/scale/count-1))
		}
		noise := 3 * math.Sqrt(3*(1+total/3900/3)/total/scale)
		c.value(string(market)+" priced records of 15 years", total, float64(got)/scale, 0.04+noise, got)
		c.rows = append(c.rows, tableRow{string(market) + " worst year, off by", 0, worst, 0.15 + noise*math.Sqrt(15)*1.5, got})
	}
	if scale == 1 {
		c.value("bytes of a priced record", 4000, float64(c.bytes)/float64(c.records), 0.15, c.records)
	}
}

// seasons are months and days of the week.
func (c *census) seasons() {
	for _, market := range []api.Market{api.IG, api.HY, api.EM, api.LL} {
		n := 0.0
		for _, count := range c.months[string(market)] {
			n += count
		}
		for _, month := range []time.Month{time.January, time.March, time.June, time.August, time.September, time.December} {
			c.share(fmt.Sprintf("%s in %s", market, month), calibration.MonthWeights[market][month-1]/12*100, c.months[string(market)][month-1]/n*100, 1.5, int(n)/4)
		}
	}
	weeks := map[string]calibration.Week{"IG EUR": calibration.WeekEUR, "IG USD": calibration.WeekUSD, "HY": calibration.WeekHY, "EM": calibration.WeekEM, "LL": calibration.WeekLoan}
	for _, group := range slices.Sorted(maps.Keys(weeks)) {
		want := weeks[group]
		n := 0.0
		for _, count := range c.days[group] {
			n += count
		}
		for _, weekday := range []time.Weekday{time.Monday, time.Tuesday, time.Friday} {
			c.share(fmt.Sprintf("%s on %s", group, weekday), want[weekday-time.Monday], c.days[group][weekday]/n*100, 2.5, int(n)/4)
		}
	}
}

func (c *census) shares(tolerance float64, targets ...any) {
	for i := 0; i < len(targets); i += 2 {
		name := targets[i].(string)
		t := c.is[name]
		if t == nil {
			t = &tally{}
		}
		target, ok := targets[i+1].(float64)
		if !ok {
			target = float64(targets[i+1].(int))
		}
		c.share(name, target, t.percent(), tolerance, t.all)
	}
}

func (c *census) bondFields() {
	c.shares(2, "IG currency USD", 52, "IG currency EUR", 33, "IG currency GBP", 6, "HY currency USD", 70, "HY currency EUR", 24, "EM currency USD", 80)
	c.shares(0.4, "EM currency absent", 0.5)
	c.shares(2, "IG increases", 6, "HY increases", 9, "EM increases", 9)
	c.shares(2, "IG spread", 94, "HY spread", 75, "EM swap", 65, "bond gov", 70, "bond yield", 88, "bond cpn type", 97)
	c.shares(3, "IG EUR nip", 65, "IG USD nip", 45, "HY nip", 3, "EM nip", 25, "EM early trading", 30)
	c.shares(3, "bond coupon fixed", 88, "bond coupon FRN", 7)
	c.shares(3, "IG non-bullet", 38, "HY non-bullet", 85, "EM non-bullet", 25, "IG first call", 35, "HY first call", 82, "EM first call", 22)
	c.shares(1, "bond perpetual", 2.5)
	c.shares(2, "bond isin", 92, "bond figi", 85, "bond bloomberg", 85, "bond total", 92)
	c.shares(0.5, "bond secondary", 1, "IG tier AT1", 1.2, "IG tier T2", 3)
	c.shares(2, "bond pricing time, from 2018", 70, "bond pricing time, before", 0, "bond message", 96, "bond additional info", 35, "bond deal history", 60)
	c.shares(4, "bond stats", 55, "IG EUR final books", 65, "IG USD final books", 55, "HY final books", 12, "EM final books", 45, "bond final accounts", 15, "bond investor types", 14)
	c.shares(3, "IG covered", 9, "IG Reg S", 45, "IG 144A/Reg S", 14, "HY 144A/Reg S", 72, "EM 144A/Reg S", 45, "EM Reg S", 50)
	c.shares(3, "bond evolution empty", 7, "bond evolution of 3", 40, "bond re-offered at par, IG", 20, "bond re-offered at par, HY", 65)
	c.shares(3, "IG rated by Moody's", 68, "HY rated by Moody's", 88, "EM rated by Moody's", 55, "bond size a multiple of 50m", 72)
	c.means(0.08, "IG EUR banks", 5.2, "IG USD banks", 9, "HY banks", 6, "EM banks", 4.5)
	c.medians(0.10, "IG USD size", 750, "IG EUR size", 650, "HY USD size", 450, "HY EUR size", 400, "EM USD size", 420)
	for _, market := range []api.Market{api.IG, api.HY, api.EM, api.LL, api.CF, api.AF} {
		for _, year := range []int{2015, 2019, 2021, 2024} {
			at := time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)
			c.shares(3, fmt.Sprintf("%s labelled %d", market, year), along(calibration.LabelledShares[market], at))
		}
	}
}

func (c *census) loanFields() {
	c.shares(3, "LL of one tranche", 45, "CF of one tranche", 62, "AF of one tranche", 65)
	c.shares(2, "LL tranche USD", 62, "CF tranche USD", 45, "AF tranche USD", 70, "loan tranche nominal", 96, "loan no PIK", 95)
	c.shares(3, "LL sponsor-backed", 62, "LL club", 8, "CF club", 38, "AF club", 45, "LL TLB", 34, "LL RCF", 30, "CF RCF", 55)
	c.shares(4, "LL TLB covenant-lite from 2022", 90)
	c.shares(1, "loan without date", 3)
	c.means(0.08, "LL tranches", 1.9, "CF tranches", 1.5, "AF tranches", 1.56, "LL banks", 5, "CF banks", 14, "AF banks", 6)
	c.medians(0.15, "LL TLB size", 525, "LL margin", 375)
}

func (c *census) means(tolerance float64, targets ...any) {
	for i := 0; i < len(targets); i += 2 {
		values, sum, squares := c.values[targets[i].(string)], 0.0, 0.0
		for _, v := range values {
			sum, squares = sum+v, squares+v*v
		}
		n := float64(max(len(values), 1))
		mean := sum / n
		noise := 3 * math.Sqrt(max(squares/n-mean*mean, 0)/n)
		target := figure(targets[i+1])
		c.value(targets[i].(string)+", mean", target, mean, tolerance+noise/target, len(values))
	}
}

func (c *census) medians(tolerance float64, targets ...any) {
	for i := 0; i < len(targets); i += 2 {
		values := slices.Sorted(slices.Values(c.values[targets[i].(string)]))
		middle := math.NaN()
		if len(values) > 0 {
			middle = values[len(values)/2]
		}
		noise := 3 / math.Sqrt(float64(max(len(values), 1)))
		c.value(targets[i].(string)+", median", figure(targets[i+1]), middle, tolerance+noise, len(values))
	}
}

func figure(v any) float64 {
	if whole, ok := v.(int); ok {
		return float64(whole)
	}
	return v.(float64)
}

// pipeline counts the lists of expected deals. Their length depends on season and regime, so it takes the mean of some
// days of autumn.
func (c *census) pipeline(m *Market, scale float64) {
	sums, years := map[api.Market]float64{}, []int{2017, 2019, 2021}
	config := m.config
	config.Years, config.Scale = 1, max(scale, 0.1)
	for _, year := range years {
		config.Epoch = time.Date(year, time.October, 10, 18, 0, 0, 0, time.UTC)
		config.Clock = nil
		market := New(config)
		for feed := range market.shelves {
			if feed.Kind == api.Expected {
				sums[feed.Market] += float64(len(market.Deals(feed))) / config.Scale / float64(len(years))
			}
		}
	}
	wants := map[api.Market][2]float64{api.IG: {45, 80}, api.HY: {15, 30}, api.EM: {40, 80}, api.LL: {50, 90}, api.CF: {60, 120}, api.AF: {40, 80}}
	for _, market := range slices.Sorted(maps.Keys(wants)) {
		want := wants[market]
		middle := (want[0] + want[1]) / 2
		noise := 3 * math.Sqrt(2/middle/config.Scale/float64(len(years)))
		c.value(string(market)+" expected deals listed", middle, sums[market], (want[1]-middle)/middle+noise, int(sums[market]))
	}
}

// lifecycles counts the steps of scripts of deals of all years.
func lifecycles(tab *table, m *Market, n int) {
	r := stream(7)
	some := func(market api.Market, i int) offer {
		for {
			target := nextBusinessDay(time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, r.IntN(15*365)))
			if r.chance(m.calendar.rate(market, target) / meanRate(market, target.Year()) / 4) {
				return m.newOffer(market, uint64(i)+1e6, target)
			}
		}
	}
	for _, service := range api.Services() {
		var ever, sameDay, gone tally
		moments, want := 0, calibration.EditedShares[service]
		for i := range n * 3 {
			market := api.Markets(service)[i%3]
			o := some(market, i)
			d := &deal{feed: api.Feed{Service: service, Market: market, Kind: api.Priced}, offer: o, born: o.target, struck: o.target, seed: mix(uint64(i), 3)}
			var edits []time.Time
			removed := false
			for _, s := range m.pricedScript(d) {
				switch s.kind {
				case stepLeave:
					removed = true
				case stepAnnounce, stepMove, stepReappear, stepFlip, stepFlop:
				default:
					if !slices.Contains(edits, s.at) {
						edits = append(edits, s.at)
					}
				}
			}
			ever.add(len(edits) > 0)
			gone.add(removed)
			moments += len(edits)
			if len(edits) > 0 {
				sameDay.add(edits[0].Sub(d.born) < 24*time.Hour)
			}
		}
		tab.share(string(service)+" ever edited", 100*want, ever.percent(), 3, ever.all)
		tab.share(string(service)+" removed", map[api.Service]float64{api.Bond: 0.6, api.Loan: 0.87}[service], gone.percent(), 0.15, gone.all)
		tab.value(string(service)+" edit moments per record", 1.5, float64(moments)/float64(ever.all), 0.25, ever.all)
		tab.share(string(service)+" first edit within a day", 66, sameDay.percent(), 10, sameDay.all)
	}
	routes := map[api.Market][2]float64{api.IG: {68, 7}, api.HY: {45, 7}, api.EM: {40, 18}}
	for _, market := range api.Markets(api.Bond) {
		var sameDay, long, fades tally
		versions := 0
		for i := range n {
			o := some(market, i)
			d := &deal{feed: api.Feed{Service: api.Bond, Market: market, Kind: api.Expected}, offer: o, target: o.target, born: o.at, seed: mix(o.seed, tagScript, 1)}
			days := 0
			for at := o.at.Truncate(day); at.Before(o.target); at = businessDays(at, 1) {
				days++
			}
			sameDay.add(days == 0)
			long.add(days > 5)
			priced := false
			for _, s := range m.bondExpectedScript(d) {
				priced = priced || s.kind == stepPrice
				if s.kind.shows() && s.kind != stepLeave {
					versions++
				}
			}
			fades.add(!priced)
		}
		tab.share(string(market)+" same day", routes[market][0], sameDay.percent(), 2, n)
		tab.share(string(market)+" long pipeline", routes[market][1], long.percent(), 2, n)
		tab.share(string(market)+" never priced", 100*calibration.Supplies[market].Fades, fades.percent(), 2, n)
		tab.value(string(market)+" versions of an expected deal", 6.5, 1+float64(versions)/float64(n), 0.35, n)
	}
}

// receptions counts the demand for lines in each regime.
func receptions(tab *table, m *Market) {
	names := []string{"hot", "normal", "weak", "shut"}
	for mood, terms := range calibration.Effects {
		var covers, tighter, premium []float64
		var up, down tally
		for i := range 3000 {
			o := m.newOffer(api.IG, uint64(i)+5e6, time.Date(2019, 5, 14, 0, 0, 0, 0, time.UTC))
			o.mood = calibration.Regime(mood)
			line := planBond(o).lines[0]
			covers, tighter, premium = append(covers, line.cover), append(tighter, float64(line.tighter)), append(premium, float64(line.premium))
			up.add(line.amount > line.start)
			down.add(line.amount < line.start)
		}
		median := func(values []float64) float64 {
			slices.Sort(values)
			return values[len(values)/2]
		}
		n, name := len(covers), "IG, "+names[mood]+": "
		tab.value(name+"cover, median", terms.Cover, median(covers), 0.05, n)
		tab.rows = append(tab.rows,
			tableRow{name + "tightening, median bp", terms.Tighter, median(tighter), 1, n},
			tableRow{name + "premium, median bp", terms.Premium, median(premium), 1, n})
		tab.share(name+"upsized", 33, up.percent(), 3, n)
		tab.share(name+"downsized", 3, down.percent(), 1, n)
	}
}
