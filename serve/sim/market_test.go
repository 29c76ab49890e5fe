package sim_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"dealflow/schemas/api"
	"dealflow/serve"
	"dealflow/serve/sim"
)

// state returns all records of a market at an instant.
func state(m *sim.Market) string {
	var all bytes.Buffer
	for _, feed := range api.Feeds() {
		for _, deal := range m.Deals(feed) {
			all.WriteString(feed.String() + " " + strconv.FormatInt(deal.ID, 10) + " " + deal.UpdatedAt.String() + " ")
			all.Write(deal.Body)
			all.WriteByte('\n')
		}
		page, _ := m.List(context.Background(), serve.Query{Feed: feed, Limit: 1 << 20})
		for _, deal := range page.Records {
			all.WriteString(strconv.FormatInt(deal.ID, 10) + " ")
		}
	}
	return all.String()
}

func TestSameSeedAndInstantSameBytesWhateverTheSteps(t *testing.T) {
	config := sim.Config{Seed: 11, Deals: 60, Epoch: epoch}
	end := epoch.Add(8*24*time.Hour + 15*time.Hour + 77*time.Millisecond)
	at := func(t time.Time) (*sim.Market, *sim.ManualClock) {
		clock := sim.NewManualClock(t)
		c := config
		c.Clock = clock.Now
		return sim.New(c), clock
	}
	straight, _ := at(end)
	want := state(straight)

	small, clock := at(epoch)
	r := rand.New(rand.NewPCG(1, 2))
	for clock.Now().Before(end) {
		feed := api.Feeds()[r.IntN(12)]
		if _, err := small.List(t.Context(), serve.Query{Feed: feed, Limit: 1 + r.IntN(30)}); err != nil {
			t.Fatal(err)
		}
		clock.Set(minTime(end, clock.Now().Add(time.Duration(r.Int64N(int64(7*time.Hour))))))
	}
	if state(small) != want {
		t.Error("small steps with questions between lead to another market")
	}
	clock.Set(end.AddDate(0, 0, 20))
	_ = state(small)
	clock.Set(end)
	if state(small) != want {
		t.Error("a clock that goes back leads to another market")
	}
	other := config
	other.Seed++
	if state(sim.New(other)) == state(sim.New(config)) {
		t.Error("another seed gives the same market")
	}
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func TestConcurrentQuestions(t *testing.T) {
	clock := sim.NewManualClock(epoch)
	market := sim.New(sim.Config{Seed: 12, Deals: 20, Epoch: epoch, Clock: clock.Now})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, feed := range api.Feeds() {
				clock.Advance(3 * time.Hour)
				page, err := market.List(context.Background(), serve.Query{Feed: feed, Limit: 5})
				if err != nil {
					t.Error(err)
				}
				for _, deal := range page.Records {
					if _, err := market.Get(context.Background(), feed, deal.ID); err != nil && !errors.Is(err, serve.ErrNotFound) {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

var pricedLink = regexp.MustCompile(`"pricedDeal":\{"href":"(/v3/[^"]+/)([0-9]+)"`)

// TestLifecycle checks some weeks hour by hour: links lead to priced records, priced tranches stay until midnight,
// removed deals do not answer by id, and all kinds of ends and changes occur.
func TestLifecycle(t *testing.T) {
	clock := sim.NewManualClock(epoch)
	quirks := sim.DefaultQuirks()
	quirks.Removal, quirks.Reappear = 3, 0.5 // higher rates, because the market is small
	market := sim.New(sim.Config{Seed: 17, Deals: 100, PerDay: 12, Epoch: epoch, Clock: clock.Now, Quirks: &quirks})
	type key struct {
		feed api.Feed
		id   int64
	}
	last := map[key]serve.Record{}
	versions := map[key][]string{}
	gone := map[key]bool{}
	found := map[string]int{}
	for range 16 * 24 {
		now := map[key]bool{}
		for _, feed := range api.Feeds() {
			page, err := market.List(t.Context(), serve.Query{Feed: feed, Limit: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			listed := map[int64]bool{}
			for _, deal := range page.Records {
				listed[deal.ID] = true
			}
			for _, deal := range market.Deals(feed) {
				k := key{feed, deal.ID}
				now[k] = true
				before, known := last[k]
				switch {
				case gone[k]:
					found["reappeared"]++
					gone[k] = false
				case known && !bytes.Equal(before.Body, deal.Body):
					found["changed "+string(feed.Kind)]++
					if !deal.UpdatedAt.After(before.UpdatedAt) {
						t.Errorf("%v changed without a later update", k)
					}
				}
				if !listed[deal.ID] {
					found["omitted"]++
					if feed.HasUpdatedSince() {
						t.Errorf("%v is omitted from a list that omits nothing", k)
					}
				}
				if known && bytes.Equal(before.Body, deal.Body) {
					continue
				}
				text := contentOf(deal.Body)
				if n := len(versions[k]); n == 0 || versions[k][n-1] != text {
					versions[k] = append(versions[k], text)
					if n >= 2 && versions[k][n-2] == text {
						found["A→B→A"]++
					}
				}
				for _, link := range pricedLink.FindAllSubmatch(deal.Body, -1) {
					found["priced link "+string(feed.Service)]++
					priced := feed
					priced.Kind = api.Priced
					if string(link[1]) != priced.Path()+"/" {
						t.Errorf("%v links to %s", k, link[1])
					}
				}
				if bytes.Contains(deal.Body, []byte(`"dealType":"INCREASE"`)) && bytes.Contains(deal.Body, []byte(`"original":`)) && !known {
					found["increase"]++
				}
				last[k] = deal
			}
		}
		for k := range last {
			if now[k] || gone[k] {
				continue
			}
			gone[k] = true
			found["left "+string(k.feed.Kind)]++
			if _, err := market.Get(t.Context(), k.feed, k.id); !errors.Is(err, serve.ErrNotFound) {
				t.Errorf("%v has left, but by id: %v", k, err)
			}
			wasPriced := pricedLink.Match(last[k].Body)
			if k.feed.Kind == api.Expected && !wasPriced {
				found["withdrawn"]++
			}
			if k.feed.Kind == api.Expected && wasPriced && clock.Now().Hour() != 0 {
				t.Errorf("%v priced and left at %s, not at midnight", k, clock.Now())
			}
		}
		clock.Advance(time.Hour)
	}
	for _, what := range []string{"changed priced", "changed expected", "left priced", "left expected", "withdrawn", "omitted", "increase", "priced link bond", "priced link loan", "A→B→A", "reappeared"} {
		if found[what] == 0 {
			t.Errorf("%q never happens; what does: %v", what, found)
		}
	}
}

var updatedSince = regexp.MustCompile(`updatedSince=[^"]*`)

// contentOf returns a body without the instant of its update.
func contentOf(body []byte) string { return updatedSince.ReplaceAllString(string(body), "") }

func TestBodiesAreCompactJSONWithoutRepeatedNames(t *testing.T) {
	market := sim.New(sim.Config{Seed: 14, Deals: 150})
	for _, feed := range api.Feeds() {
		previous := int64(0)
		for _, deal := range market.Deals(feed) {
			compact := jsontext.Value(bytes.Clone(deal.Body))
			if err := compact.Compact(jsontext.PreserveRawStrings(true)); err != nil || !bytes.Equal(compact, deal.Body) {
				t.Fatalf("not compact (%v): %s", err, deal.Body)
			}
			if deal.ID <= previous {
				t.Fatalf("%s: %d after %d", feed, deal.ID, previous)
			}
			previous = deal.ID
			id := `"` + feed.IDKey() + `":` + strconv.FormatInt(deal.ID, 10) + ","
			if !bytes.HasPrefix(deal.Body, []byte("{"+id)) {
				t.Fatalf("%s %d: %.80s", feed, deal.ID, deal.Body)
			}
		}
	}
}

func TestOneNumberMeansDifferentDeals(t *testing.T) {
	market := sim.New(sim.Config{Seed: 15, Deals: 100})
	ids := map[int64]int{}
	for _, feed := range api.Feeds() {
		for _, deal := range market.Deals(feed) {
			ids[deal.ID]++
		}
	}
	repeated := 0
	for _, n := range ids {
		if n > 1 {
			repeated++
		}
	}
	if repeated == 0 {
		t.Error("no id occurs in two feeds")
	}
}

func everything(m *sim.Market) string {
	var all strings.Builder
	for _, feed := range api.Feeds() {
		for _, deal := range m.Deals(feed) {
			all.Write(deal.Body)
			all.WriteByte('\n')
		}
	}
	return all.String()
}

func TestQuirksOccurAndCanBeSwitchedOff(t *testing.T) {
	plain := everything(sim.New(sim.Config{Seed: 16, Deals: 100, Quirks: &sim.Quirks{}}))
	often := sim.AwkwardQuirks() // the rare ones would need a large market
	often.HugeNumber, often.FarMaturity, often.NoLinks, often.NoBorrower = 0.02, 0.02, 0.02, 0.02
	often.BadPricingTime, often.NegativeZero, often.OriginalMissing, often.ForeignOriginal = 0.2, 0.05, 0.2, 0.2
	usual := everything(sim.New(sim.Config{Seed: 16, Deals: 200, Quirks: &often}))
	always := sim.AwkwardQuirks()
	always.UnknownField, always.UnknownEnum, always.Misfit = 1, 1, 1
	broken := everything(sim.New(sim.Config{Seed: 16, Deals: 50, Quirks: &always}))
	for name, quirk := range map[string]*regexp.Regexp{
		"null":                 regexp.MustCompile(`":null`),
		"empty text":           regexp.MustCompile(`"(cpn|ranking|timing|message|volume)":""`),
		"empty object":         regexp.MustCompile(`"sponsors":\{\}`),
		"no banks":             regexp.MustCompile(`"banks":\[\]`),
		"no evolution":         regexp.MustCompile(`"priceEvolution":\[\]`),
		"scientific":           regexp.MustCompile(`[:]-?[0-9](\.[0-9]+)?[Ee]\+?[0-9]`),
		"trailing zeros":       regexp.MustCompile(`:[0-9]+\.[0-9]*0[,}]`),
		"negative zero":        regexp.MustCompile(`:-0\.0`),
		"beyond 2^53":          regexp.MustCompile(`9007199254740993`),
		"zero usd":             regexp.MustCompile(`"usd":0[,}]`),
		"control character":    regexp.MustCompile(`\\u0007|\\u0000`),
		"no-break space":       regexp.MustCompile("\u00a0"),
		"trailing space":       regexp.MustCompile(`[a-z] "`),
		"awkward stats key":    regexp.MustCompile(`"(a\.b\.c|\$type|'; --)":`),
		"bad pricing time":     regexp.MustCompile(`"pricingTime":"24:10\+00:00"`),
		"far maturity":         regexp.MustCompile(`9999-12-31`),
		"link extras":          regexp.MustCompile(`"templated":false`),
		"foreign original":     regexp.MustCompile(`"original":\{"href":"https://`),
		"increase no original": regexp.MustCompile(`"dealType":"INCREASE"[^\n]*"_links":\{"self":\{[^{}]*\},"updatedSince"`),
		"no borrower":          regexp.MustCompile(`"pricingDate":"[^"]*",("pricingTime":[^,]*,)?"currency"`),
		"no links":             regexp.MustCompile(`"_links":\{\}\}\n`),
	} {
		common := name == "empty object" || name == "no evolution" // by chance no member is there
		if quirk.MatchString(plain) && !common {
			t.Errorf("%s: occurs with all quirks off: %q", name, quirk.FindString(plain))
		}
		if !quirk.MatchString(usual) {
			t.Errorf("%s: never occurs", name)
		}
	}
	for name, fault := range map[string]*regexp.Regexp{
		"unknown field": regexp.MustCompile(`"settlementDate"|"esg":|"dealID":|"":null`),
		"unknown enum":  regexp.MustCompile(`"REOPENING"|"ON_HOLD"`),
		"misfit":        regexp.MustCompile(`"fpr":"n/a"|"market":"x|"banks":\[null`),
	} {
		if fault.MatchString(usual) {
			t.Errorf("%s: occurs by default: %q", name, fault.FindString(usual))
		}
		if !fault.MatchString(broken) {
			t.Errorf("%s: never occurs when asked for", name)
		}
	}
}

func TestEmptyFeedIsNoFault(t *testing.T) {
	market := sim.New(sim.Config{})
	if _, err := market.List(t.Context(), serve.Query{Feed: api.Feed{Service: "bond", Market: "XX", Kind: "priced"}, Limit: 1}); !errors.Is(err, serve.ErrNotFound) {
		t.Errorf("list of an unknown feed: %v", err)
	}
	if _, err := market.Get(t.Context(), api.Feeds()[0], 1); !errors.Is(err, serve.ErrNotFound) {
		t.Errorf("unknown deal: %v", err)
	}
}

func TestRealClockRuns(t *testing.T) {
	clock := sim.RealClock(epoch, 1e6)
	first := clock()
	for !clock().After(first) {
	}
	if first.Before(epoch) {
		t.Errorf("the clock began at %s, before %s", first, epoch)
	}
}
