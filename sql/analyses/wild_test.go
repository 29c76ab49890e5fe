package analyses_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dealflow/internal/testkit"
	"dealflow/internal/testkit/world"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// TestAnalysesWild compares the analyses with the truth in books that no market would write. There are few values for
// everything, so that values coincide, are missing, or refer to nothing or to themselves: lines of taps in chains and
// circles, one security in three markets, tranches that swap names, links from anywhere.
func TestAnalysesWild(t *testing.T) {
	t.Parallel()
	testkit.Seeds(t, analysed(t), func(t *testing.T, seed uint64) {
		w, h := wild(t, seed)
		checkAnalyses(t, w, h, true)
	})
}

// wild lets a book be written, changed and struck at random, and pulls it night by night.
func wild(t *testing.T, seed uint64) (*world.World, *history) {
	t.Helper()
	w, b := world.NewBook(t)
	h := newHistory(world.NewTruth(t, api.Feeds()...))
	h.bankNames = declare(t, w, lake.BankAliasesKey, alias{"ASPEN ", "House", ""}, alias{"birch", "House", "2026-01-04"}, alias{"Cedar", "Cedar & Sons", "2025-01-01"})
	h.companyNames = declare(t, w, lake.BorrowerAliasesKey, alias{"aspen", "Group", "2026-01-04"}, alias{"Birch", "Group", ""})
	s := &scribe{rand.New(rand.NewPCG(seed, 17))}
	records := map[api.Feed]map[int64]members{}
	for _, day := range observedDays {
		w.Evening(day)
		for _, feed := range api.Feeds() {
			if records[feed] == nil {
				records[feed] = map[int64]members{}
			}
			s.turn(t, b, feed, records[feed], day == 0)
		}
		result, err := w.Run(t, world.Quiet, world.AcceptRemovals)
		if err != nil {
			t.Fatal(err)
		}
		h.observe(t, w.URL, result.KnownAt.Time, api.Feeds(), b.Records)
	}
	h.follow()
	return w, h
}

// members are those of a JSON object.
type members map[string]any

// scribe writes random deals.
type scribe struct{ *rand.Rand }

const wildDeals = 10

// turn takes a feed through a day: deals appear, change and disappear.
func (s *scribe) turn(t *testing.T, b *world.Book, feed api.Feed, records map[int64]members, first bool) {
	t.Helper()
	for id := int64(1); id <= wildDeals; id++ {
		record, standing := records[id]
		switch {
		case !standing && (s.some(0.3) || first && s.some(0.6)):
			record = s.record(feed, id)
		case !standing || s.some(0.25):
			continue
		case s.some(0.15):
			delete(records, id)
			b.Strike(feed, id)
			continue
		default:
			record = s.changed(record, s.record(feed, id))
		}
		records[id] = record
		body, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteBody(feed, id, string(body))
	}
}

// changed replaces some members by those of another record. Of tranches it replaces some, and changes their order.
func (s *scribe) changed(record, other members) members {
	record = maps.Clone(record)
	for _, name := range sortedKeys(other) {
		if s.some(0.4) {
			record[name] = s.mixed(record[name], other[name])
		}
	}
	return record
}

// mixed is what comes after: of a list, one to three entries of both.
func (s *scribe) mixed(before, after any) any {
	switch was := before.(type) {
	case []any:
		all := slices.Concat(was, after.([]any))
		s.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		return all[:min(1+s.IntN(3), len(all))]
	case members:
		if is, ok := after.(members); ok && was["tranches"] != nil {
			return members{"tranches": s.mixed(was["tranches"], is["tranches"])}
		}
	}
	return after
}

func (s *scribe) some(chance float64) bool { return s.Float64() < chance }

// pick returns one of some values; nil is as likely as each of them.
func (s *scribe) pick(values ...any) any {
	if i := s.IntN(len(values) + 1); i < len(values) {
		return values[i]
	}
	return nil
}

// list is a list of up to n objects.
func (s *scribe) list(n int, entry func() members) []any {
	all := []any{}
	for range s.IntN(n + 1) {
		all = append(all, map[string]any(entry()))
	}
	return all
}

func (s *scribe) flag() any { return s.pick(true, false, false) }
func (s *scribe) name() any {
	return s.pick("Aspen", " ASPEN\u00a0", "birch", "Birch", "Cedar", "Ced\u00adar", "Straße Σοφος", "STRASSE ΣΟΦΟΣ", "Dogwood", "")
}
func (s *scribe) day() any {
	return s.pick("2024-11-30", "2025-01-09", "2025-01-10", "2026-01-03", "2026-01-06")
}
func (s *scribe) instant() any {
	return s.pick("2026-01-05T09:00:00Z", "2026-01-05T09:00:00Z", "2026-01-05T10:30:00Z")
}

func (s *scribe) money(amounts ...any) any {
	return s.pick(
		members{"amount": s.pick(amounts...), "converted": members{"usd": s.pick(amounts...)}},
		members{"amount": 100, "converted": members{"usd": 0}},
		members{"amount": 1000000.01, "converted": members{"usd": 1000000.01}},
	)
}

func (s *scribe) spread() any {
	return s.pick("T+95", "MS+95", "MS+100", "T+90-95", "G+90", "B+90", "S+90", "SMS+90", "7.125%", "7.75-8%", "low 200s", "MS-5-7", "", "n/a", "nonsense", "MS+101.5")
}

func (s *scribe) talk() any {
	return s.pick("IPTs MS+110 area", "IPT 7.00-7.25%", "guidance MS+95-100", "guidance T+95-100", "revised MS+95-96.5", "MS+101.5 (+/-1)", "IPTs G+110 area", "B+95-100", "IPTs S+95 area", "S+90", "SMS+110", "T+95", "7.125%", "7.75-8%", "low 200s", "nonsense")
}

func (s *scribe) margin() any {
	return s.pick("E+400", "E+425", "E+400-425", "S+CSA+350", "325bp", "low 300s", "TBC", "E+425-400", "")
}

func (s *scribe) oid() any { return s.pick("99.5", "99-99.5", "par", "0.5% UF", "high 98s", "x") }

func (s *scribe) maturity() any {
	return s.pick("2026-01-13", "2026-01-14", "2031-02-15", "2031-02-15", "9999-12-31", "2024-01-01")
}

// record writes a deal.
func (s *scribe) record(feed api.Feed, id int64) members {
	m := members{feed.IDKey(): id, "market": feed.Market, "borrower": members{"name": s.name(), "leveragedMultiple": s.pick("5x", "4x/6x", "6x/4x"), "sponsors": members{"sponsorBacked": s.flag(), "sponsors": s.list(2, func() members { return members{"name": s.name()} })}}}
	links := members{"self": members{"href": feed.DealPath(id)}}
	m["_links"] = links
	switch {
	case feed.Service == api.Bond && feed.Kind == api.Priced:
		if s.some(0.5) {
			links["original"] = s.linkToPriced(feed)
		}
		s.priceBond(m)
	case feed.Service == api.Bond:
		m["created"], m["changed"] = s.instant(), s.instant()
		m["_embedded"] = members{"tranches": s.list(3, func() members { return s.bondTranche(feed) })}
	case feed.Kind == api.Priced:
		m["pricedDate"] = s.day()
		m["useOfProceeds"] = members{"refi": s.flag(), "lbo": s.flag(), "mergersAndAcquisitions": s.flag(), "other": s.flag(), "prePostIpo": s.flag()}
		m["tranches"] = s.list(3, s.loanTranche)
	default:
		m["stage"], m["created"], m["changed"] = "Launched", s.instant(), s.instant()
		m["tranches"] = s.list(3, s.loanTranche)
		if s.some(0.4) {
			links["pricedDeal"] = s.linkToPriced(feed)
		}
	}
	return m
}

// linkToPriced links to a priced deal of the market, or of another one, or to what is no deal.
func (s *scribe) linkToPriced(feed api.Feed) members {
	feed.Kind = api.Priced
	if s.some(0.3) {
		markets := api.Markets(feed.Service)
		feed.Market = markets[s.IntN(len(markets))]
	}
	path := feed.DealPath(s.Int64N(wildDeals+2) + 1)
	switch {
	case s.some(0.1):
		path = "https://archive.example.test" + path
	case s.some(0.05):
		path = "https://elsewhere.test/x/1"
	}
	return members{"href": path}
}

func (s *scribe) priceBond(m members) {
	shares := func() members { return members{"FM": s.pick(50, 60.5), "HF": s.pick(40, 50), "": 3} }
	maps.Copy(m, members{
		"dealType": s.pick("ORIGINAL", "INCREASE"), "pricingDate": s.day(), "pricingTime": s.pick("14:35+01:00", "14:35"), "currency": s.pick("EUR", "USD", "GBP", "AUD", "nzd ", "x", ""),
		"rating":  members{"moodys": s.pick("Baa2", "NR", "Baa"), "fitch": s.pick("BB+", "WR", "x")},
		"nominal": s.money(100, 50000000, 500000000, 200000000000), "total": members{"nominal": s.money(100, 600000000)}, "grade": s.pick("HIGH_YIELD", "investment", "UNRATED"),
		"spread": s.spread(), "swap": s.spread(), "yield": s.pick("7.125%", "7.00-7.25%", "x"), "nip": s.pick("3", "3-5", "flat", "<3bp", "x"), "premium": members{"nip": s.pick("5", "5-8", "<5bp", "n/a")},
		"firstCallDate": s.maturity(), "maturity": s.maturity(), "perpetual": s.flag(), "fxRate": members{"usd": s.pick(1, 1.25, 0)}, "isinCode": s.pick("ZZ1", "ZZ2", ""),
		"stats":          members{"finalBooks": s.pick(100, 500000000, 2000000000), "investorType": shares(), "geography": shares()},
		"priceEvolution": s.list(4, func() members { return members{"date": s.instant(), "value": s.talk()} }),
		"banks": s.list(4, func() members {
			return members{"name": s.name(), "status": s.pick("Bookrunner", "JOINT  Bookrunner", "B&D", "Co-Lead", "Co-Lead", "Quartermaster", "Global Co-ordinator", "JLM", "Bookrunners")}
		}),
		"leagueTableEligible": s.pick(true, true, false), "green": s.flag(), "social": s.flag(), "sustainable": s.flag(), "sustainabilityLinked": s.flag(),
	})
}

func (s *scribe) bondTranche(feed api.Feed) members {
	m := members{
		"name": s.pick("5yr", "5YR ", "10yr", "", "long 10yr"), "status": s.pick("EXPECTED", "TO_BE_INCREASED", "EXPECTED", "PRICED", "INCREASED"), "currency": s.pick("EUR", "USD"),
		"volume": s.pick("EUR500m", "300-500m", "benchmark", "x"), "structure": s.pick("10NC5", "5yr"), "priceEvolution": s.talk(), "figiCode": s.pick("F1", "F2", "", "", ""), "timing": s.pick("Today"),
	}
	if s.some(0.2) {
		m["_links"] = members{"pricedDeal": s.linkToPriced(feed)}
	}
	return m
}

func (s *scribe) loanTranche() members {
	return members{
		"id": s.Int64N(1000), "name": s.pick("TLB", "tlb ", "RCF", ""), "status": s.pick("Launched", "PRICED", "Priced", "Priced "), "shortType": s.pick("TLB", "tlb", "RCF"), "currency": s.pick("EUR", "USD"),
		"volume": s.pick("EUR500m", "EUR300-500m", "500m", "TBC"), "maturity": s.pick("Feb-31", "2025-12-01", "2026-12-01", "7yr", "2031", "2033", "x"), "tenor": s.pick(7, 11, 12, 61, 84, 480, 481), "pricingDate": s.day(), "margin": s.margin(), "oid": s.oid(), "figiCode": s.pick("F1", "", "", ""),
		"nominal": s.money(500000000, 50000, 7), "fxRate": members{"usd": s.pick(1, 1.25)}, "covenantLight": s.flag(), "greenLoan": s.flag(), "sustainabilityLinked": s.flag(),
		"banks": s.list(3, func() members {
			return members{"name": s.name(), "type": members{"mla": s.flag(), "bookrunner": s.flag(), "participant": s.flag()}}
		}),
		"rating": members{"fitch": strings.Repeat("é", s.IntN(2)*110)},
	}
}
