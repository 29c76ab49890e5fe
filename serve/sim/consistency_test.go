package sim_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dealflow/schemas/api"
	"dealflow/serve/sim"
)

// TestConsistency checks that the deals of a market do not contradict themselves or each other, over three seeds. It
// reads records alone, as a client does. Each rule has a share of the cases in per cent, or a figure, with its bounds.
// docs/reference/api-choices.md has the table.
func TestConsistency(t *testing.T) {
	rules := newRulebook()
	for _, seed := range []uint64{1, 2, 3} {
		bonds, loans := history(t, seed)
		rules.prices(bonds)
		rules.guidance(bonds)
		rules.bondTexts(bonds)
		rules.loanTexts(loans)
		rules.money(bonds, loans)
		rules.borrowers(bonds)
		rules.facilities(loans)
		rules.syndicates(bonds, loans)
		rules.increases(bonds)
		rules.pipeline(t, seed)
		rules.level(t, seed)
	}
	rules.report(t)
}

// bond and loan are priced records, with the members that the rules read.
type bond struct {
	ID          int64 `json:"dealId"`
	Market      string
	DealType    string
	PricingDate string
	Borrower    borrower
	Currency    string
	Nominal     amount
	Total       *struct{ Nominal amount }
	Rating      ratings
	Grade       string
	Cpn         string
	CpnType     string
	Yield       string
	Spread      string
	Swap        string
	Gov         string
	Maturity    string
	Fpr         json.Number
	FxRate      struct{ USD json.Number }
	Stats       struct{ FinalBooks json.Number }
	AddInfo     string `json:"additionalInfo"`
	Message     string
	DealHistory string
	Evolution   []struct{ Date, Value string } `json:"priceEvolution"`
	Banks       []struct{ Name, Status string }
	COC         bool
	MWC         bool
	Only144A    bool
	OnlyRegS    bool
	RegSAnd144A bool
	SEC         bool `json:"secRegistered"`
	Green       bool
	Sustainable bool
	Linked      bool `json:"sustainabilityLinked"`
	Social      bool
}

type loan struct {
	ID            int64 `json:"dealId"`
	Market        string
	PricedDate    string
	Headline      string
	Message       string
	Borrower      borrower
	UseOfProceeds struct{ LBO, SBO bool }
	Tranches      []struct {
		ShortType, Currency, Maturity string
		Tenor                         int
		FxRate                        struct{ USD json.Number }
		Banks                         []struct{ Name string }
	}
}

type borrower struct {
	Name, Region, Type, Country, Sector, Subsector string
	Ratings                                        ratings
	Sponsors                                       struct{ Sponsors []struct{ Name string } }
}

type amount struct {
	Amount    json.Number
	Converted struct{ USD json.Number }
}

type ratings struct{ Moodys, StandardAndPoors, Fitch string }

func (b bond) text() string {
	return strings.Join([]string{b.AddInfo, b.Message, b.DealHistory}, "\n")
}

// history returns the priced records of fifteen years, without quirks.
func history(t *testing.T, seed uint64) (bonds []bond, loans []loan) {
	t.Helper()
	market := sim.New(sim.Config{Seed: seed, Years: 15, Scale: 0.02, Epoch: time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC), Quirks: &sim.Quirks{}})
	for _, feed := range api.Feeds() {
		if feed.Kind != api.Priced {
			continue
		}
		for _, r := range market.Deals(feed) {
			if feed.Service == api.Bond {
				bonds = append(bonds, parse[bond](t, r.Body))
			} else {
				loans = append(loans, parse[loan](t, r.Body))
			}
		}
	}
	return bonds, loans
}

func parse[T any](t *testing.T, body []byte) T {
	t.Helper()
	var record T
	if err := json.Unmarshal(body, &record); err != nil {
		t.Fatalf("%v: %.300s", err, body)
	}
	return record
}

// rulebook counts cases by rule.
type rulebook struct {
	order []string
	rules map[string]*rule
	words map[string]bool // shapes of sentences
}

type rule struct {
	low, high float64
	yes, all  float64
	example   string // of a case that breaks the rule
}

func newRulebook() *rulebook { return &rulebook{rules: map[string]*rule{}, words: map[string]bool{}} }

// share counts a case of a rule whose share of true cases is from low to high, in per cent.
func (r *rulebook) share(name string, low, high float64, holds bool, example any) {
	value := 0.0
	if holds {
		value = 100
	}
	r.figure(name, low, high, value, example, holds)
}

// figure adds a value to a rule on a mean.
func (r *rulebook) figure(name string, low, high, value float64, example any, fine bool) {
	found := r.rules[name]
	if found == nil {
		found = &rule{low: low, high: high}
		r.rules[name] = found
		r.order = append(r.order, name)
	}
	found.all++
	found.yes += value
	if !fine && found.example == "" {
		found.example = fmt.Sprint(example)
	}
}

func (r *rulebook) report(t *testing.T) {
	t.Helper()
	r.figure("9 shapes of sentences", 300, 1e9, float64(len(r.words)), "", true)
	var text strings.Builder
	for _, name := range r.order {
		found := r.rules[name]
		mean, mark := found.yes/found.all, ""
		if !(mean >= found.low && mean <= found.high) {
			t.Errorf("%s: got %.4g of %.0f cases, want %g to %g; one is %s", name, mean, found.all, found.low, found.high, strings.ToValidUTF8(found.example[:min(len(found.example), 160)], ""))
			mark = "  <<<"
		}
		fmt.Fprintf(&text, "%-64s %8.2f %8g to %-8g %7.0f%s\n", name, mean, found.low, found.high, found.all, mark)
	}
	t.Log("\n" + text.String())
}

var (
	overNumber = regexp.MustCompile(`^([A-Z]+(?: MS)?)(?: [0-9.]+% [A-Z][a-z]{2}-\d\d)?([+-][0-9.]+)(?:bp)?$`)
	sameBasis  = map[string]string{"T": "T", "B": "B", "DBR": "B", "UKT": "UKT", "G": "UKT", "MS": "MS", "SARON MS": "MS"}
)

// over reads a level over a benchmark.
func over(text string) (benchmark string, points float64, ok bool) {
	found := overNumber.FindStringSubmatch(text)
	if found == nil || sameBasis[found[1]] == "" {
		return "", 0, false
	}
	points, err := strconv.ParseFloat(found[2], 64)
	return sameBasis[found[1]], points, err == nil
}

func percent(text string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	return v, err == nil && strings.HasSuffix(text, "%")
}

func float(n json.Number) float64 {
	v, _ := n.Float64()
	return v
}

// prices: the prices of one deal agree with each other, and government yields with those of other deals.
func (r *rulebook) prices(bonds []bond) {
	government := map[string][]float64{}
	key := func(b bond) string { // currency and quarter
		month, _ := strconv.Atoi(b.PricingDate[5:7])
		return fmt.Sprint(b.Currency, b.PricingDate[:4], (month-1)/3)
	}
	for _, b := range bonds {
		yield, priced := percent(b.Yield)
		_, gov, ok := over(b.Gov)
		if priced && ok && b.Currency != "" {
			government[key(b)] = append(government[key(b)], yield-gov/100)
		}
	}
	for _, values := range government {
		slices.Sort(values)
	}
	for _, b := range bonds {
		yield, priced := percent(b.Yield)
		onGov, gov, hasGov := over(b.Gov)
		if onSpread, spread, ok := over(b.Spread); ok && hasGov && onSpread == onGov {
			r.share("7 spread = gov over the same benchmark", 100, 100, spread == gov, b.Spread+" "+b.Gov)
		}
		if values := government[key(b)]; priced && hasGov && len(values) >= 5 {
			implied, middle := yield-gov/100, values[len(values)/2]
			r.share("7 "+b.Market+": yield - gov is the quarter's government yield, within 1 point", 99, 100, math.Abs(implied-middle) <= 1, fmt.Sprint(implied, middle, b.ID))
		}
		if n := len(b.Evolution); n > 0 && b.Market == "EM" && b.Swap != "" {
			if final, ok := strings.CutPrefix(b.Evolution[n-1].Value, "Final "); ok && strings.HasPrefix(final, "MS") {
				r.share("7 EM: swap = final over mid-swaps", 100, 100, final == b.Swap, final+" "+b.Swap)
			}
		}
		if coupon, ok := percent(b.Cpn); ok && priced && (b.CpnType == "Fixed" || b.CpnType == "Zero") {
			price := float(b.Fpr)
			r.share("7 below par where the yield is above the coupon", 99.5, 100, (price < 100) == (yield > coupon) || math.Abs(price-100) < 0.01, fmt.Sprint(price, yield, coupon))
		}
		if b.Market == "IG" && priced && (b.Currency == "JPY" || b.Currency == "CHF") && b.PricingDate >= "2015" && b.PricingDate < "2022" {
			r.share("10 JPY and CHF yields of 2015 to 2021 below 3%", 97, 100, yield < 3, b.Yield)
		}
	}
}

var (
	levels = regexp.MustCompile(`(-?[0-9.]+)(?:%?-(-?[0-9.]+))?(?:%)?(?: area)?(?: ?\(\+/-([0-9.]+)\))?(?: ?\(?WPIR\)?)?$`)
)

// talk reads a step of price talk as a range. A step in words has none.
func talk(text string) (low, high float64, ok bool) {
	if strings.HasPrefix(text, "Whisper") {
		return 0, 0, false
	}
	text = strings.Replace(text, "+", "", 1)
	if i := strings.Index(text, "(-/-"); i >= 0 {
		text = text[:i] + "(+/-" + text[i+4:]
	}
	found := levels.FindStringSubmatch(text)
	if found == nil {
		return 0, 0, false
	}
	low, err := strconv.ParseFloat(found[1], 64)
	high = low
	if found[2] != "" {
		high, _ = strconv.ParseFloat(found[2], 64)
	}
	if found[3] != "" {
		either, _ := strconv.ParseFloat(found[3], 64)
		low, high = low-either, high+either
	}
	return low, high, err == nil
}

// guidance: prices end where the talk says, and elsewhere in plausible shares.
func (r *rulebook) guidance(bonds []bond) {
	for _, b := range bonds {
		n := len(b.Evolution)
		if n < 2 {
			continue
		}
		final, _, ok := talk(b.Evolution[n-1].Value)
		if !ok {
			continue
		}
		low, high, ok := talk(b.Evolution[0].Value)
		first := b.Evolution[0].Value
		if ok && !strings.HasPrefix(first, "Guidance") && !strings.HasPrefix(first, "FPG") {
			r.share("8 wider than the first talk", 0.3, 5, final > (low+high)/2, b.Evolution)
		}
		for _, e := range b.Evolution {
			low, high, ok := talk(e.Value)
			inside := final >= low-1e-9 && final <= high+1e-9
			if ok && strings.Contains(e.Value, "WPIR") {
				r.share("8 WPIR: the price is in the range", 100, 100, inside, b.Evolution)
			}
			if ok && (strings.HasPrefix(e.Value, "Guidance") || strings.HasPrefix(e.Value, "FPG")) {
				tight, wide := math.Abs(final-low) < 1e-9, math.Abs(final-high) < 1e-9
				r.share("8 guidance: the price is at the tight end", 25, 60, tight, b.Evolution)
				r.share("8 guidance: the price is between the ends", 10, 45, inside && !tight && !wide, b.Evolution)
				r.share("8 guidance: the price is tighter", 10, 45, final < low-1e-9, b.Evolution)
				r.share("8 guidance: the price is wider", 0.5, 8, final > high+1e-9, b.Evolution)
			}
		}
	}
}

var (
	ratingWord  = regexp.MustCompile(`\b(?:Aa[1-3]|A[1-3]|Baa[1-3]|Ba[1-3]|B[1-3]|Caa[1-3]|AA[+-]|B{2,3}(?:[+-]|\b)|CCC(?:[+-]|\b))`)
	yearWord    = regexp.MustCompile(`\b(?:19|20)\d\d\b`)
	labelWord   = regexp.MustCompile(`(?i)\b(?:green|social|sustainab|second-party opinion)`)
	bondWord    = regexp.MustCompile(`(?i)\b(?:bonds?|notes|reoffer|re-offer|coupon|Reg S|mid-swaps|denominations?|investors?|roadshow)\b`)
	numberWord  = regexp.MustCompile(`[0-9][0-9.,]*`)
	nameWord    = regexp.MustCompile(`(?:[ (][\p{Lu}0][^\s]*| & | of [\p{Lu}]\p{Ll}+| di [\p{Lu}]\p{Ll}+)+`)
	sentenceEnd = regexp.MustCompile(`[.?!:](?:\s|<br/>)+`)
)

// doubled returns a word that follows itself, or "".
func doubled(text string) string {
	last := ""
	for word := range strings.FieldsSeq(text) {
		if strings.EqualFold(strings.TrimRight(word, ".,:;"), last) && strings.ToLower(last) != strings.ToUpper(last) && !strings.Contains(last, "/") {
			return word
		}
		last = strings.TrimRight(word, ":;")
	}
	return ""
}

func (r *rulebook) shapes(text, name string) {
	text = strings.ReplaceAll(text, name, "N")
	for _, sentence := range sentenceEnd.Split(text, -1) {
		r.words[nameWord.ReplaceAllString(numberWord.ReplaceAllString(strings.TrimSpace(sentence), "0"), " N")] = true
	}
}

// bondTexts: texts say what the record says.
func (r *rulebook) bondTexts(bonds []bond) {
	for _, b := range bonds {
		text := b.text()
		rated := b.Rating.Moodys + " " + b.Rating.StandardAndPoors + " " + b.Rating.Fitch
		for _, word := range ratingWord.FindAllString(strings.ReplaceAll(text, b.Borrower.Name, ""), -1) {
			r.share("9 ratings in texts are the record's", 99, 100, strings.Contains(rated, word), word+" "+rated)
		}
		if label := labelWord.FindString(text); label != "" {
			r.share("9 labels in texts are the record's", 99, 100, b.Green || b.Sustainable || b.Linked || b.Social, label)
		}
		if strings.Contains(text, "change-of-control") || strings.Contains(text, "change of control") {
			r.share("9 change of control in texts: coc", 99, 100, b.COC, b.ID)
		}
		if strings.Contains(text, "make-whole") {
			r.share("9 make-whole in texts: mwc", 99, 100, b.MWC, b.ID)
		}
		if strings.Contains(text, "Reg S") || strings.Contains(text, "144A") || strings.Contains(text, "SEC-registered") {
			regS, a144, sec := strings.Contains(text, "Reg S"), strings.Contains(text, "144A"), strings.Contains(text, "SEC-registered")
			agrees := regS == (b.OnlyRegS || b.RegSAnd144A) && a144 == (b.Only144A || b.RegSAnd144A) && sec == b.SEC
			r.share("9 format in texts is the record's", 96, 100, agrees, fmt.Sprint(b.OnlyRegS, b.Only144A, b.RegSAnd144A, b.SEC))
		}
		for _, year := range yearWord.FindAllString(text, -1) {
			r.share("9 years in texts are not after the deal", 99, 100, year <= b.PricingDate[:4], year+" in "+b.PricingDate)
		}
		if text = strings.TrimSpace(text); text != "" {
			r.share("9 no doubled word", 100, 100, doubled(text) == "", doubled(text))
			r.shapes(text, b.Borrower.Name)
		}
		r.share("9 no doubled word in names", 100, 100, doubled(b.Borrower.Name) == "", b.Borrower.Name)
	}
}

func (r *rulebook) loanTexts(loans []loan) {
	for _, l := range loans {
		text := strings.ReplaceAll(l.Headline+"\n"+l.Message, l.Borrower.Name, "N")
		r.share("9 loans speak of loans", 100, 100, bondWord.FindString(text) == "", bondWord.FindString(text))
		r.share("9 no doubled word", 100, 100, doubled(text) == "", doubled(text))
		rated := l.Borrower.Ratings.Moodys + " " + l.Borrower.Ratings.StandardAndPoors + " " + l.Borrower.Ratings.Fitch
		for _, word := range ratingWord.FindAllString(text, -1) {
			r.share("9 ratings in texts are the record's", 99, 100, strings.Contains(rated, word), word+" "+rated)
		}
		r.shapes(text, "N")
	}
}

// money: one rate per currency and day, which moves.
func (r *rulebook) money(bonds []bond, loans []loan) {
	days := map[string]map[string]int{}
	see := func(currency, date string, rate json.Number) {
		if currency == "" || currency == "USD" || date == "" || rate == "" {
			return
		}
		if days[currency+date] == nil {
			days[currency+date] = map[string]int{}
		}
		days[currency+date][rate.String()]++
	}
	for _, b := range bonds {
		see(b.Currency, b.PricingDate, b.FxRate.USD)
	}
	for _, l := range loans {
		for _, t := range l.Tranches {
			see(t.Currency, l.PricedDate, t.FxRate.USD)
		}
	}
	values, count := map[string]map[string]bool{}, map[string]int{}
	for key, rates := range days {
		r.share("10 one rate per currency and day", 100, 100, len(rates) == 1, fmt.Sprint(key, rates))
		currency := key[:3]
		if values[currency] == nil {
			values[currency] = map[string]bool{}
		}
		maps.Copy(values[currency], map[string]bool{slices.Collect(maps.Keys(rates))[0]: true})
		count[currency]++
	}
	for currency, n := range count {
		if n >= 20 && currency != "HKD" {
			r.figure("10 different rates by day, % of the days", 80, 100, 100*float64(len(values[currency]))/float64(n), currency, true)
		}
	}
}

// notches of ratings, best first.
var notches = map[string]int{}

func init() {
	for i, words := range []string{"Aaa AAA", "Aa1 AA+", "Aa2 AA", "Aa3 AA-", "A1 A+", "A2 A", "A3 A-", "Baa1 BBB+", "Baa2 BBB", "Baa3 BBB-", "Ba1 BB+", "Ba2 BB", "Ba3 BB-", "B1 B+", "B2 B", "B3 B-", "Caa1 CCC+", "Caa2 CCC", "Caa3 CCC-", "Ca CC", "C"} {
		for word := range strings.FieldsSeq(words) {
			notches[word] = i
		}
	}
}

var ratingText = regexp.MustCompile(`^(?:\(P\))?([A-Za-z]+[1-3+-]*)`)

func notch(text string) (int, bool) {
	found := ratingText.FindStringSubmatch(text)
	if found == nil {
		return 0, false
	}
	n, ok := notches[found[1]]
	return n, ok
}

var homes = map[string]string{
	"EUR": "Western Europe, CEEMEA", "GBP": "Western Europe", "CHF": "Western Europe", "SEK": "Western Europe", "NOK": "Western Europe",
	"JPY": "Asia Pacific", "AUD": "Asia Pacific", "CNH": "Asia Pacific", "HKD": "Asia Pacific", "SGD": "Asia Pacific", "IDR": "Asia Pacific",
	"CAD": "North America", "BRL": "LATAM", "ZAR": "CEEMEA",
}

// borrowers: currency and sector go with the borrower, and the grade with the ratings.
func (r *rulebook) borrowers(bonds []bond) {
	sectors := map[string]map[string]int{}
	for _, b := range bonds {
		if b.Currency == "USD" && b.Market == "IG" {
			r.share("10 IG in USD: borrower from the Americas", 60, 90, slices.Contains([]string{"North America", "LATAM"}, b.Borrower.Region), b.Borrower.Region)
		} else if home := homes[b.Currency]; home != "" {
			r.share("10 other currencies: borrower from their region", 65, 97, strings.Contains(home, b.Borrower.Region), b.Currency+" "+b.Borrower.Region)
		}
		if b.Borrower.Sector != "" && b.Borrower.Subsector != "" {
			if sectors[b.Borrower.Subsector] == nil {
				sectors[b.Borrower.Subsector] = map[string]int{}
			}
			sectors[b.Borrower.Subsector][b.Borrower.Sector]++
		}
		r.grade(b)
	}
	for subsector, found := range sectors {
		r.share("10 a subsector is of one sector", 100, 100, len(found) == 1, fmt.Sprint(subsector, found))
	}
}

// grade: a bond without ratings is unrated, and one whose agencies agree has their grade.
func (r *rulebook) grade(b bond) {
	best, worst, count := 99, -1, 0
	for _, text := range []string{b.Rating.Moodys, b.Rating.StandardAndPoors, b.Rating.Fitch} {
		if n, ok := notch(text); ok {
			best, worst, count = min(best, n), max(worst, n), count+1
		}
	}
	if b.Grade == "UNRATED" {
		r.share("10 UNRATED without a rating", 99, 100, count == 0, fmt.Sprint(b.Rating))
	}
	switch {
	case count > 0 && worst <= 9:
		r.share("10 grade agrees with ratings", 99, 100, b.Grade == "INVESTMENT", fmt.Sprint(b.Grade, b.Rating))
	case count > 0 && best >= 10:
		r.share("10 grade agrees with ratings", 99, 100, b.Grade == "HIGH_YIELD" || b.Grade == "SUB_INVESTMENT", fmt.Sprint(b.Grade, b.Rating))
	}
	n, ok := notch(b.Rating.StandardAndPoors)
	if !ok {
		return
	}
	switch b.Market {
	case "IG":
		r.share("10 IG rated A- to BBB", 40, 70, n >= 6 && n <= 8, b.Rating)
	case "HY":
		r.share("10 HY rated BB- to B", 40, 70, n >= 12 && n <= 14, b.Rating)
	}
}

// facilities: the terms of loans go with their type and purpose.
func (r *rulebook) facilities(loans []loan) {
	for _, l := range loans {
		if l.UseOfProceeds.LBO {
			r.share("10 an LBO has a sponsor", 100, 100, len(l.Borrower.Sponsors.Sponsors) > 0, l.ID)
		}
		for _, t := range l.Tranches {
			if t.Tenor == 0 {
				continue
			}
			switch t.ShortType {
			case "Bridge":
				r.share("10 bridge: 12 months", 100, 100, t.Tenor == 12, t.Tenor)
			case "RCF":
				r.share("10 RCF: 5 or 6 years", 100, 100, t.Tenor == 60 || t.Tenor == 72, t.Tenor)
			case "TLB":
				r.share("10 TLB: 7 years", 70, 100, t.Tenor == 84, t.Tenor)
			}
		}
	}
}

func shared(a, b map[string]bool) float64 {
	both := 0
	for name := range a {
		if b[name] {
			both++
		}
	}
	return float64(both) / float64(max(len(a)+len(b)-both, 1)) * 100
}

// syndicates: tranches share banks, and banks differ in size and by region.
func (r *rulebook) syndicates(bonds []bond, loans []loan) {
	deals, leads, regions := map[string]map[string]bool{}, map[string]int{}, map[string]map[string]int{}
	for _, b := range bonds {
		banks := map[string]bool{}
		for _, bank := range b.Banks {
			banks[bank.Name] = true
			if strings.EqualFold(bank.Status, "Bookrunner") {
				leads[bank.Name]++
				if regions[b.Borrower.Region] == nil {
					regions[b.Borrower.Region] = map[string]int{}
				}
				regions[b.Borrower.Region][bank.Name]++
			}
		}
		key := b.Market + b.PricingDate + b.Borrower.Name + b.Currency
		if other := deals[key]; other != nil && b.DealType == "ORIGINAL" && len(banks) > 0 {
			r.figure("10 bonds of a deal: banks in common, %", 70, 99, shared(banks, other), "", true)
		} else if b.DealType == "ORIGINAL" && len(banks) > 0 {
			deals[key] = banks
		}
	}
	for _, l := range loans {
		var first map[string]bool
		for _, t := range l.Tranches {
			banks := map[string]bool{}
			for _, bank := range t.Banks {
				banks[bank.Name] = true
			}
			if first != nil && len(banks) > 0 {
				r.figure("10 tranches of a loan: banks in common, %", 70, 99, shared(banks, first), "", true)
			} else if len(banks) > 0 {
				first = banks
			}
		}
	}
	ranked := rank(leads)
	total, top, tail := 0, 0, 0
	for i, name := range ranked {
		total += leads[name]
		if i < 10 {
			top += leads[name]
		}
		if i >= len(ranked)-15 {
			tail += leads[name]
		}
	}
	r.figure("10 bookrunner roles of the first 10 banks, %", 40, 65, 100*float64(top)/float64(total), "", true)
	r.figure("10 bookrunner roles of the last 15 banks, %", 3, 15, 100*float64(tail)/float64(total), "", true)
	east, west := rank(regions["Asia Pacific"]), rank(regions["North America"])
	common := 0
	for _, name := range east[:10] {
		if slices.Contains(west[:10], name) {
			common++
		}
	}
	r.figure("10 first 10 banks in Asia that are so in North America", 1, 7, float64(common), "", true)
}

func rank(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return counts[b] - counts[a] })
}

// increases: a line that is increased is not due, and is at least as large as its last piece.
func (r *rulebook) increases(bonds []bond) {
	for _, b := range bonds {
		if b.DealType == "INCREASE" && b.Maturity != "" {
			r.share("10 a tap comes before the line is due", 100, 100, b.Maturity > b.PricingDate, b.Maturity+" "+b.PricingDate)
		}
		if b.Total != nil {
			r.share("10 total is at least nominal", 100, 100, float(b.Total.Nominal.Amount) >= float(b.Nominal.Amount), b.ID)
		}
	}
}

var increaseLink = regexp.MustCompile(`"status":"INCREASED".*?"pricedDeal":\{"href":"([^"]+)"`)

// pipeline: each increase of a bond was an expected deal before.
func (r *rulebook) pipeline(t *testing.T, seed uint64) {
	t.Helper()
	clock := sim.NewManualClock(epoch)
	market := sim.New(sim.Config{Seed: seed, Deals: 150, Expected: 30, PerDay: 4, Epoch: epoch, Clock: clock.Now, Quirks: &sim.Quirks{}})
	linked, newest := map[string]bool{}, map[api.Market]int64{}
	for hour := range 10 * 24 {
		for _, m := range api.Markets(api.Bond) {
			for _, deal := range market.Deals(api.Feed{Service: api.Bond, Market: m, Kind: api.Expected}) {
				if hour%24 == 15 {
					r.expected(parse[expectation](t, deal.Body))
				}
				for _, found := range increaseLink.FindAllSubmatch(deal.Body, -1) {
					linked[string(found[1])] = true
				}
			}
			feed := api.Feed{Service: api.Bond, Market: m, Kind: api.Priced}
			deals := market.Deals(feed)
			for _, deal := range deals {
				if path := feed.DealPath(deal.ID); hour > 0 && deal.ID > newest[m] && bytes.Contains(deal.Body, []byte(`"dealType":"INCREASE"`)) {
					r.share("10 an increase passes through the expected list", 100, 100, linked[path], path)
				}
			}
			newest[m] = deals[len(deals)-1].ID
		}
		clock.Advance(time.Hour)
	}
}

// expectation is an expected bond deal.
type expectation struct {
	Borrower    borrower
	DealHistory []struct{ Headline, Message string }
}

func (r *rulebook) expected(d expectation) {
	for _, entry := range d.DealHistory {
		text := entry.Headline + "\n" + entry.Message
		r.share("9 no doubled word", 100, 100, doubled(text) == "", doubled(text)+" in "+text)
		r.shapes(text, d.Borrower.Name)
	}
}

// TestAwkwardTextStaysInTexts makes every text awkward: codes, currencies, times and ratings stay as they are.
func TestAwkwardTextStaysInTexts(t *testing.T) {
	config := sim.Config{Seed: 6, Deals: 40, Expected: 20, Quirks: &sim.Quirks{AwkwardText: 1}}
	clean := regexp.MustCompile(`^[A-Za-z0-9/ .,:()+&_-]*$`)
	names := map[string]bool{}
	for _, name := range strings.Fields("isinCode figiCode bloombergCode currency pricingTime pricingDate moodys standardAndPoors fitch stage status shortType type") {
		names[name] = true
	}
	checked, spoilt := 0, 0
	var check func(name string, value any)
	check = func(name string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, member := range v {
				check(name, member)
			}
		case []any:
			for _, entry := range v {
				check(name, entry)
			}
		case string:
			switch {
			case names[name]:
				if checked++; !clean.MatchString(v) || strings.TrimSpace(v) != v || strings.Contains(v, "<b>") {
					t.Errorf("%s: %q", name, v)
				}
			case name == "message" && v != "":
				spoilt++
			}
		}
	}
	market := sim.New(config)
	for _, feed := range api.Feeds() {
		for _, deal := range market.Deals(feed) {
			check("", decode(t, deal.Body))
		}
	}
	if checked < 1000 || spoilt == 0 {
		t.Errorf("checked %d codes and %d messages, want more", checked, spoilt)
	}
}

// level: the past of a demonstration is as busy as its present.
func (r *rulebook) level(t *testing.T, seed uint64) {
	t.Helper()
	market := sim.New(sim.Config{Seed: seed, Deals: 200, Years: 2, Epoch: epoch, Clock: sim.NewManualClock(epoch.AddDate(0, 6, 0)).Now, Quirks: &sim.Quirks{}})
	halves := map[string]float64{}
	for _, feed := range api.Feeds() {
		if feed.Kind == api.Priced {
			for _, deal := range market.Deals(feed) {
				half := "H1"
				if deal.PricingDate[5:7] > "06" {
					half = "H2"
				}
				halves[deal.PricingDate[:4]+half]++
			}
		}
	}
	r.figure("11 live half-year by that of the year before", 0.7, 1.35, halves["2026H1"]/halves["2025H1"], halves, true)
	r.figure("11 last year by the year before", 0.75, 1.3, (halves["2025H1"]+halves["2025H2"])/(halves["2024H1"]+halves["2024H2"]), halves, true)
	r.figure("11 priced deals at the start, of those wanted", 0.85, 1.15, (halves["2024H1"]+halves["2024H2"]+halves["2025H1"]+halves["2025H2"])/6/200, halves, true)
}
