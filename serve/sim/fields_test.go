package sim_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim"
)

// documented has the documented members by kind, as dotted paths. Entries of a list are under [], entries of the stats
// maps are under *.
var documented = map[api.Service]map[api.Kind]string{
	api.Bond: {
		api.Priced: `dealId market dealType pricingDate pricingTime
			borrower borrower.name borrower.region borrower.type borrower.country borrower.sector borrower.subsector borrower.ticker
			currency nominal nominal.amount nominal.converted nominal.converted.usd
			secondary secondary.amount secondary.converted secondary.converted.usd
			total total.nominal total.nominal.amount total.nominal.converted total.nominal.converted.usd
			total.secondary total.secondary.amount total.secondary.converted total.secondary.converted.usd
			rating rating.moodys rating.standardAndPoors rating.fitch grade ranking cpn cpnType nonBullet yield gov nip
			additionalInfo message firstCallDate maturity perpetual fpr fxRate fxRate.usd bloombergCode isinCode figiCode
			stats stats.finalBooks stats.finalAccounts stats.investorType stats.investorType.* stats.geography stats.geography.*
			priceEvolution priceEvolution.[].date priceEvolution.[].value banks banks.[].name banks.[].status tier dealHistory
			subordinated leagueTableEligible covered only144a onlyRegS regSAnd144a secRegistered green sustainable
			sustainabilityLinked social seniorNonPreferred seniorPreferred holdCo opCo coc cuc mwc
			_links _links.self _links.original _links.updatedSince`,
		api.Expected: `id market created changed headline message
			borrower borrower.name borrower.region borrower.type borrower.country borrower.sector borrower.subsector borrower.ticker
			regions _embedded _embedded.tranches _embedded.tranches.[].name _embedded.tranches.[].changed
			_embedded.tranches.[].status _embedded.tranches.[].currency _embedded.tranches.[].volume
			_embedded.tranches.[].structure _embedded.tranches.[].priceEvolution _embedded.tranches.[].timing
			_embedded.tranches.[].figiCode _embedded.tranches.[]._links _embedded.tranches.[]._links.pricedDeal
			dealHistory dealHistory.[].changed dealHistory.[].headline dealHistory.[].message _links _links.self`,
	},
	api.Loan: {
		api.Priced: `dealId market pricedDate headline message
			borrower borrower.name borrower.region borrower.country borrower.type borrower.sector borrower.subsector
			borrower.secondarySubsector borrower.leveragedMultiple borrower.ratings borrower.ratings.moodys
			borrower.ratings.standardAndPoors borrower.ratings.fitch borrower.grade borrower.sponsors
			borrower.sponsors.sponsorBacked borrower.sponsors.sponsors borrower.ticker
			useOfProceeds useOfProceeds.mergersAndAcquisitions useOfProceeds.prePostIpo useOfProceeds.refi useOfProceeds.gcp
			useOfProceeds.other useOfProceeds.lbo useOfProceeds.sbo useOfProceeds.dividendRecap
			dealTotal dealTotal.currencies dealTotal.currencies.[].amount dealTotal.currencies.[].currency
			dealTotal.converted dealTotal.converted.usd tranches tranches.[].id tranches.[].name tranches.[].status
			tranches.[].type tranches.[].shortType tranches.[].currency tranches.[].maturity tranches.[].extensionOptions
			tranches.[].by tranches.[].margin tranches.[].oid tranches.[].grade tranches.[].bloombergCode tranches.[].figiCode
			tranches.[].nominal tranches.[].nominal.amount tranches.[].nominal.converted tranches.[].nominal.converted.usd
			tranches.[].fxRate tranches.[].fxRate.usd tranches.[].pricingDate tranches.[].pik tranches.[].pik.status
			tranches.[].pik.value tranches.[].allIn tranches.[].fixedRate tranches.[].covenantLight tranches.[].greenLoan
			tranches.[].sustainabilityLinked tranches.[].club tranches.[].rating tranches.[].rating.moodys
			tranches.[].rating.standardAndPoors tranches.[].rating.fitch tranches.[].banks tranches.[].banks.[].name
			tranches.[].banks.[].type tranches.[].banks.[].type.mla tranches.[].banks.[].type.bookrunner
			tranches.[].banks.[].type.participant tranches.[].tenor _links _links.self _links.updatedSince`,
		api.Expected: `dealId market stage created changed headline message
			borrower borrower.name borrower.region borrower.country borrower.type borrower.sector borrower.subsector
			borrower.secondarySubsector borrower.grade borrower.sponsors borrower.sponsors.sponsorBacked
			borrower.sponsors.sponsors borrower.ticker
			useOfProceeds useOfProceeds.mergersAndAcquisitions useOfProceeds.prePostIpo useOfProceeds.refi useOfProceeds.gcp
			useOfProceeds.other useOfProceeds.lbo useOfProceeds.sbo useOfProceeds.dividendRecap
			tranches tranches.[].name tranches.[].status tranches.[].type tranches.[].shortType tranches.[].currency
			tranches.[].volume tranches.[].maturity tranches.[].margin tranches.[].oid tranches.[].timing tranches.[].figiCode
			tranches.[].changed tranches.[].nominal tranches.[].nominal.amount tranches.[].nominal.converted
			tranches.[].nominal.converted.usd _links _links.self _links.updatedSince _links.pricedDeal`,
	},
}

const (
	bondNotEM = `step spread pref secExempt section3a2
		retained retained.amount retained.converted retained.converted.usd
		nominalWithRetained nominalWithRetained.amount nominalWithRetained.converted nominalWithRetained.converted.usd
		total.retained total.retained.amount total.retained.converted total.retained.converted.usd
		total.nominalWithRetained total.nominalWithRetained.amount total.nominalWithRetained.converted total.nominalWithRetained.converted.usd`
	bondOnlyEM = `swap premium premium.nip premium.earlyTrading
		exchange exchange.amount exchange.converted exchange.converted.usd
		nominalWithExchange nominalWithExchange.amount nominalWithExchange.converted nominalWithExchange.converted.usd
		total.exchange total.exchange.amount total.exchange.converted total.exchange.converted.usd
		total.nominalWithExchange total.nominalWithExchange.amount total.nominalWithExchange.converted total.nominalWithExchange.converted.usd`
	expectedNotEM  = `coveredBonds _embedded.tranches.[].books`
	expectedOnlyEM = `_embedded.tranches.[].ratings _embedded.tranches.[].ratings.moodys _embedded.tranches.[].ratings.standardAndPoors _embedded.tranches.[].ratings.fitch`
	sponsorName    = `borrower.sponsors.sponsors.[].name`
	linkMembers    = `href hreflang title type deprecation profile name templated`
)

// membersOf returns the documented members of a feed's records.
func membersOf(feed api.Feed) map[string]bool {
	text := documented[feed.Service][feed.Kind]
	switch {
	case feed.Service == api.Loan:
		text += " " + sponsorName
		if feed.Market == api.AF {
			text += " borrower.assetCategory"
		}
	case feed.Market == api.EM && feed.Kind == api.Priced:
		text += " " + bondOnlyEM
	case feed.Kind == api.Priced:
		text += " " + bondNotEM
	case feed.Market == api.EM:
		text += " " + expectedOnlyEM
	default:
		text += " " + expectedNotEM
	}
	members := map[string]bool{}
	for _, path := range strings.Fields(text) {
		members[path] = true
	}
	for path := range maps.Clone(members) {
		if parent := path[:max(strings.LastIndexByte(path, '.'), 0)]; strings.HasSuffix(parent, "_links") {
			for _, name := range strings.Fields(linkMembers) {
				members[path+"."+name] = true
			}
		}
	}
	return members
}

// isLinkExtra says whether a path is a link's member other than href. A market of this size need not have all of these
// at every link.
func isLinkExtra(path string) bool {
	return strings.Contains(path, "_links.") && strings.Count(path[strings.LastIndex(path, "_links."):], ".") == 2 && !strings.HasSuffix(path, ".href")
}

// census counts the values and the nulls at each path.
type census struct {
	seen, nulls map[string]int
	values      map[string]map[string]bool
}

func newCensus() census {
	return census{map[string]int{}, map[string]int{}, map[string]map[string]bool{}}
}

func (c census) count(path string, value any) {
	if path != "" && !strings.HasSuffix(path, "[]") {
		c.seen[path]++
	}
	switch v := value.(type) {
	case nil:
		c.nulls[path]++
	case map[string]any:
		for name, member := range v {
			if strings.HasPrefix(path, "stats.") {
				name = "*"
			}
			c.count(strings.TrimPrefix(path+"."+name, "."), member)
		}
	case []any:
		for _, entry := range v {
			c.count(path+".[]", entry)
		}
	case string:
		if c.values[path] == nil {
			c.values[path] = map[string]bool{}
		}
		if len(c.values[path]) < 2000 {
			c.values[path][v] = true
		}
	}
}

func decode(t testing.TB, body []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return value
}

// observe counts all feeds over some days of a market.
func observe(t testing.TB, config sim.Config, days int) map[api.Feed]census {
	clock := sim.NewManualClock(epoch.Add(19 * time.Hour))
	config.Clock, config.Epoch = clock.Now, epoch
	market := sim.New(config)
	counts := map[api.Feed]census{}
	for _, feed := range api.Feeds() {
		counts[feed] = newCensus()
	}
	for range days {
		for _, feed := range api.Feeds() {
			for _, deal := range market.Deals(feed) {
				counts[feed].count("", decode(t, deal.Body))
			}
		}
		clock.Advance(24 * time.Hour)
	}
	return counts
}

var epoch = time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)

func TestEveryDocumentedFieldOccursAndNoOther(t *testing.T) {
	counts := observe(t, sim.Config{Seed: 3, Deals: 200, Expected: 80}, 2)
	for _, feed := range api.Feeds() {
		want := membersOf(feed)
		for path := range want {
			if counts[feed].seen[path] == 0 && !isLinkExtra(path) {
				t.Errorf("%s: %s never occurs", feed, path)
			}
		}
		for path := range counts[feed].seen {
			if !want[path] {
				t.Errorf("%s: %s is not in the document", feed, path)
			}
		}
	}
	everywhere := map[string]bool{}
	for _, count := range counts {
		for path := range count.seen {
			if isLinkExtra(path) {
				everywhere[path[strings.LastIndexByte(path, '.')+1:]] = true
			}
		}
	}
	if len(everywhere) != 7 {
		t.Errorf("members of links beside href: %v, want all seven", slices.Sorted(maps.Keys(everywhere)))
	}
}

// required has the required members, each with the path of its object.
var required = map[api.Service]map[api.Kind]string{
	api.Bond: {
		api.Priced: `banks coc covered cuc dealId dealType fpr fxRate grade green holdCo leagueTableEligible market mwc nominal
			only144a onlyRegS opCo priceEvolution pricingDate rating regSAnd144a secRegistered seniorNonPreferred
			seniorPreferred social subordinated sustainabilityLinked sustainable`,
		api.Expected: `borrower changed created dealHistory id market regions`,
	},
	api.Loan: {
		api.Priced:   `borrower dealId market tranches useOfProceeds`,
		api.Expected: `borrower changed created dealId market stage tranches useOfProceeds`,
	},
}

func TestRequiredFieldsAreAlwaysThere(t *testing.T) {
	market := sim.New(sim.Config{Seed: 4, Deals: 150})
	for _, feed := range api.Feeds() {
		names := strings.Fields(required[feed.Service][feed.Kind])
		switch {
		case feed.Service == api.Bond && feed.Kind == api.Priced && feed.Market == api.EM:
			names = append(names, "premium")
		case feed.Service == api.Bond && feed.Kind == api.Priced:
			names = append(names, "pref", "currency")
		case feed.Service == api.Bond && feed.Market != api.EM:
			names = append(names, "coveredBonds")
		}
		for _, deal := range market.Deals(feed) {
			record := decode(t, deal.Body).(map[string]any)
			for _, name := range names {
				if record[name] == nil {
					t.Errorf("%s %d: %s is absent or null", feed, deal.ID, name)
				}
			}
		}
	}
}

func TestOptionalFieldsAreSometimesAbsentAndSometimesNull(t *testing.T) {
	quirks := sim.DefaultQuirks()
	quirks.NullOptional = 0.4
	counts := observe(t, sim.Config{Seed: 5, Deals: 200, Expected: 80, Quirks: &quirks}, 2)
	optional := map[api.Feed]string{
		{Service: api.Bond, Market: api.IG, Kind: api.Priced}:   "pricingTime ranking cpnType spread yield gov nip additionalInfo message maturity perpetual stats isinCode figiCode bloombergCode firstCallDate total secondary retained dealHistory tier",
		{Service: api.Bond, Market: api.EM, Kind: api.Priced}:   "pricingTime swap yield nip premium.nip exchange",
		{Service: api.Bond, Market: api.HY, Kind: api.Expected}: "_embedded.tranches.[].volume _embedded.tranches.[].books _embedded.tranches.[].timing",
		{Service: api.Loan, Market: api.LL, Kind: api.Priced}:   "dealTotal borrower.sector borrower.leveragedMultiple tranches.[].margin tranches.[].nominal tranches.[].tenor useOfProceeds.lbo",
		{Service: api.Loan, Market: api.AF, Kind: api.Expected}: "tranches.[].volume tranches.[].margin tranches.[].nominal borrower.subsector",
	}
	for feed, paths := range optional {
		for _, path := range strings.Fields(paths) {
			parent := "market"
			if i := strings.LastIndexByte(path, '.'); i >= 0 {
				parent = strings.TrimSuffix(path[:i], ".[]")
			}
			seen, nulls := counts[feed].seen[path], counts[feed].nulls[path]
			if strings.HasSuffix(parent, "tranches") {
				parent += ".[].name"
			}
			if seen == 0 || nulls == 0 || seen == nulls || seen >= counts[feed].seen[parent] {
				t.Errorf("%s: %s occurs %d times in %d, %d of them null; want it absent, null and filled at times", feed, path, seen, counts[feed].seen[parent], nulls)
			}
		}
	}
}

func TestAllValuesOfEnumsOccur(t *testing.T) {
	counts := observe(t, sim.Config{Seed: 8, Deals: 400, Expected: 120}, 2)
	together := newCensus()
	byMarket := map[api.Market]census{}
	for feed, count := range counts {
		if feed.Service == api.Loan {
			feed.Market = "loan"
		}
		if _, ok := byMarket[feed.Market]; !ok {
			byMarket[feed.Market] = newCensus()
		}
		for path, values := range count.values {
			for _, into := range []census{together, byMarket[feed.Market]} {
				if into.values[path] == nil {
					into.values[path] = map[string]bool{}
				}
				maps.Copy(into.values[path], values)
			}
		}
	}
	check := func(c census, where, path string, want ...string) {
		t.Helper()
		got := slices.Sorted(maps.Keys(c.values[path]))
		got = slices.DeleteFunc(got, func(v string) bool { return v == "" })
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s %s: %v, want %v", where, path, got, want)
		}
	}
	check(together, "bonds", "dealType", "ORIGINAL", "INCREASE")
	check(together, "bonds", "tier", "RT1", "AT1", "T1", "T2")
	check(together, "bonds", "_embedded.tranches.[].status", "EXPECTED", "TO_BE_INCREASED", "INCREASED", "PRICED")
	check(byMarket[api.IG], "IG", "regions.[]", "Americas")
	check(byMarket[api.EM], "EM", "regions.[]", "Latam", "CEEMEA", "Asia(NJ)")
	check(byMarket[api.HY], "HY", "grade", "INVESTMENT", "HIGH_YIELD", "UNRATED")
	check(byMarket[api.EM], "EM", "grade", "INVESTMENT", "SUB_INVESTMENT", "UNRATED")
	check(byMarket["loan"], "loans", "borrower.region", "LATAM", "CEEMEA", "Western Europe", "Asia Pacific", "North America")
}
