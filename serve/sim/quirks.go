package sim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Quirks are the rates, from 0 (never) to 1 (always), of awkward records and events of real markets. Each field says
// what a rate counts: records, members, lists. A change of a rate does not change the rest of the market, except that
// rates of events can change ids. ListQuirks has a line for each field.
type Quirks struct {
	// Content of records.

	NumberSpelling  float64 // per number
	NegativeZero    float64 // per entry of a stats map
	HugeNumber      float64 // per bond priced record
	ZeroUSD         float64 // per amount; for twice as many deals at first
	NullOptional    float64 // per absent optional member
	EmptyText       float64 // per absent optional text
	EmptyObject     float64 // per object whose members are all optional
	EmptyList       float64 // per required list (banks; loans' tranches far less)
	NoBorrower      float64 // per bond priced record
	NoLinks         float64 // per record
	DuplicateBank   float64 // per list of banks
	Unordered       float64 // per price evolution
	AwkwardText     float64 // per free text
	LooseSpelling   float64 // per word of a list: roles, stages, types, sectors, keys of stats
	AwkwardStatsKey float64 // per entry of a stats map
	BadPricingTime  float64 // per pricing time
	NoMaturity      float64 // per bond priced record
	FarMaturity     float64 // per bond priced record
	LinkExtras      float64 // per link
	ForeignOriginal float64 // per original link
	OriginalMissing float64 // per increase
	LinksDiffer     float64 // per priced deal
	Undated         float64 // per priced loan

	// Events.

	ListOmission float64 // per bond expected deal
	BumpOnly     float64 // per expected deal
	SilentEdit   float64 // per expected deal
	FlipFlop     float64 // per priced deal
	TwoLists     float64 // per EM bond
	ClockSkew    float64 // per change of an expected deal
	LateRecord   float64 // per priced line
	LateLink     float64 // per priced line of a bond
	DanglingLink float64 // per priced line
	Removal      float64 // factor on the removals of priced deals: at 1, 0.4 to 1 per cent of them by market
	Reappear     float64 // per removed priced deal
	MarketMove   float64 // per bond priced deal

	// Values that fit no type.

	Misfit       float64 // per record
	UnknownField float64 // per record
	UnknownEnum  float64 // per bond record
}

// Quirk is a field of Quirks under its name.
type Quirk struct {
	Name string

	// Rate is the rate of the quirk where it is on and nothing else is said.
	Rate float64

	// About says what a market with the quirk shows.
	About string

	// Breaks is what a market with the quirk breaks of the API's document or of openapi.yaml; "" for nothing. Such a
	// quirk is off by default.
	Breaks string

	rate func(*Quirks) *float64
}

var quirks = []Quirk{
	{"number-spelling", 0.04, "numbers such as 1.475E9, 1000000000.0 and 99.500", "", func(q *Quirks) *float64 { return &q.NumberSpelling }},
	{"negative-zero", 0.01, "-0.0 in stats", "", func(q *Quirks) *float64 { return &q.NegativeZero }},
	{"huge-number", 0.001, "an amount beyond 2^53", "", func(q *Quirks) *float64 { return &q.HugeNumber }},
	{"zero-usd", 0.01, "converted.usd is 0 though the amount is not", "", func(q *Quirks) *float64 { return &q.ZeroUSD }},
	{"empty-text", 0.01, "\"\" for an absent text", "", func(q *Quirks) *float64 { return &q.EmptyText }},
	{"empty-object", 0.04, "{} for an object whose members are all optional", "", func(q *Quirks) *float64 { return &q.EmptyObject }},
	{"empty-list", 0.02, "[] for banks and for tranches", "", func(q *Quirks) *float64 { return &q.EmptyList }},
	{"no-borrower", 0.005, "a priced bond without a borrower", "", func(q *Quirks) *float64 { return &q.NoBorrower }},
	{"duplicate-bank", 0.02, "one bank twice in a list", "", func(q *Quirks) *float64 { return &q.DuplicateBank }},
	{"unordered", 0.03, "a price evolution that is not in order of time", "", func(q *Quirks) *float64 { return &q.Unordered }},
	{"awkward-text", 0.03, "control characters with U+0000, no-break spaces, entities, other scripts", "", func(q *Quirks) *float64 { return &q.AwkwardText }},
	{"awkward-key", 0.04, "keys of stats such as \"\", \"a.b.c\" and \"$type\"", "", func(q *Quirks) *float64 { return &q.AwkwardStatsKey }},
	{"no-maturity", 0.003, "a bond that is neither perpetual nor has a maturity", "", func(q *Quirks) *float64 { return &q.NoMaturity }},
	{"far-maturity", 0.001, "the maturity 9999-12-31", "", func(q *Quirks) *float64 { return &q.FarMaturity }},
	{"link-extras", 0.02, "type, title, templated and the other members of a link", "", func(q *Quirks) *float64 { return &q.LinkExtras }},
	{"foreign-original", 0.02, "an original link to another host", "", func(q *Quirks) *float64 { return &q.ForeignOriginal }},
	{"no-original", 0.04, "an increase without an original link", "", func(q *Quirks) *float64 { return &q.OriginalMissing }},
	{"undated", 0.03, "a priced loan without pricedDate", "", func(q *Quirks) *float64 { return &q.Undated }},
	{"omitted", 0.04, "an expected bond that its list leaves out for a day", "", func(q *Quirks) *float64 { return &q.ListOmission }},
	{"bump", 0.03, "\"changed\" moves and nothing else does", "", func(q *Quirks) *float64 { return &q.BumpOnly }},
	{"silent-edit", 0.02, "a text changes and \"changed\" does not move", "", func(q *Quirks) *float64 { return &q.SilentEdit }},
	{"flip-flop", 0.01, "a correction that is taken back within hours", "", func(q *Quirks) *float64 { return &q.FlipFlop }},
	{"two-lists", 0.015, "an EM bond that is in IG too, with another id", "", func(q *Quirks) *float64 { return &q.TwoLists }},
	{"clock-skew", 0.002, "\"changed\" is up to 90 minutes wrong", "", func(q *Quirks) *float64 { return &q.ClockSkew }},
	{"removed", 1, "priced deals are removed: 0.4 to 1 per cent of them", "", func(q *Quirks) *float64 { return &q.Removal }},
	{"reappear", 0.05, "a removed deal is back with its id", "", func(q *Quirks) *float64 { return &q.Reappear }},
	{"moved", 0.0015, "a bond moves to another market, with another id", "", func(q *Quirks) *float64 { return &q.MarketMove }},

	{"null", 0.02, "null for an absent member", "openapi.yaml, which allows no null", func(q *Quirks) *float64 { return &q.NullOptional }},
	{"no-links", 0.003, "a record without links", "the document: self is a deal's identifier", func(q *Quirks) *float64 { return &q.NoLinks }},
	{"bad-time", 0.03, "a pricing time without an offset, or no time at all", "the document: the form of times", func(q *Quirks) *float64 { return &q.BadPricingTime }},
	{"links-differ", 0.05, "a self link that differs by id and in the list", "the document: self is a deal's identifier", func(q *Quirks) *float64 { return &q.LinksDiffer }},
	{"late-record", 1, "a pricedDeal link some minutes before its deal", "the document: a pricedDeal link matches a priced deal", func(q *Quirks) *float64 { return &q.LateRecord }},
	{"late-link", 0.03, "a priced tranche that gets its pricedDeal link within the hour", "the document: a priced tranche has a pricedDeal link", func(q *Quirks) *float64 { return &q.LateLink }},
	{"dangling", 0.015, "a pricedDeal link to a deal that does not exist", "the document: a pricedDeal link matches a priced deal", func(q *Quirks) *float64 { return &q.DanglingLink }},
	{"loose-spelling", 0.05, "roles, stages, sectors and keys of stats in odd case and with odd spaces", "sums by such a word as it is written", func(q *Quirks) *float64 { return &q.LooseSpelling }},
	{"misfit", 0.02, "a value that does not fit its type", "openapi.yaml: types", func(q *Quirks) *float64 { return &q.Misfit }},
	{"unknown-field", 0.02, "a member that is not described", "openapi.yaml: members", func(q *Quirks) *float64 { return &q.UnknownField }},
	{"unknown-value", 0.02, "a value outside its list, such as REOPENING", "openapi.yaml: listed values", func(q *Quirks) *float64 { return &q.UnknownEnum }},
}

// ListQuirks returns all quirks: first those of the default market, then those that break the document. The caller owns
// the slice.
func ListQuirks() []Quirk { return slices.Clone(quirks) }

// DefaultQuirks returns the rates of a market that is as awkward as real ones and keeps to the API's document and to
// schemas/api/openapi.yaml.
func DefaultQuirks() Quirks {
	var q Quirks
	for _, quirk := range quirks {
		if quirk.Breaks == "" {
			*quirk.rate(&q) = quirk.Rate
		}
	}
	return q
}

// AwkwardQuirks returns the rates of a market that also breaks the document, in ways that a client must read all the
// same: with nulls, odd times, words in odd case, and links that are late, absent or lead nowhere.
func AwkwardQuirks() Quirks {
	q := DefaultQuirks()
	for _, name := range []string{"null", "no-links", "loose-spelling", "bad-time", "late-record", "late-link", "dangling"} {
		quirk := quirks[slices.IndexFunc(quirks, func(quirk Quirk) bool { return quirk.Name == name })]
		*quirk.rate(&q) = quirk.Rate
	}
	return q
}

// ParseQuirks reads a list of quirks: names with commas between them, each with a rate of its own if wanted, as in
// "undated,dangling=0.5". The names usual, all and none stand for the default market's quirks, for all, and for none.
// Its error names the text that is wrong.
func ParseQuirks(text string) (Quirks, error) {
	var q Quirks
	var faults []error
	for part := range strings.SplitSeq(text, ",") {
		name, written, rated := strings.Cut(strings.TrimSpace(part), "=")
		rate, err := strconv.ParseFloat(written, 64)
		if rated && (err != nil || !(rate >= 0 && rate <= 1)) {
			faults = append(faults, fmt.Errorf("quirk %s: rate %q: want 0 to 1", name, written))
			continue
		}
		found := name == "none"
		for _, quirk := range quirks {
			if quirk.Name != name && name != "all" && (name != "usual" || quirk.Breaks != "") {
				continue
			}
			found = true
			if !rated {
				rate = quirk.Rate
			}
			*quirk.rate(&q) = rate
		}
		if !found {
			faults = append(faults, fmt.Errorf("quirk %q: no such name; want usual, all, none, or some of %s", name, strings.Join(quirkNames(), ", ")))
		}
	}
	return q, errors.Join(faults...)
}

func quirkNames() []string {
	var names []string
	for _, quirk := range quirks {
		names = append(names, quirk.Name)
	}
	return names
}
