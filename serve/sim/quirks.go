package sim

// Quirks are the rates, from 0 (never) to 1 (always), of awkward records and events of real markets. Each field says
// what a rate counts: records, members, lists. A change of a rate does not change the rest of the market, except that
// rates of events can change ids.
type Quirks struct {
	// Content of records.

	NumberSpelling  float64 // per number: 1.475E9, 1000000000.0, 99.500 instead of the shortest text
	NegativeZero    float64 // per entry of a stats map: -0.0
	HugeNumber      float64 // per bond priced record: a nominal beyond 2^53
	ZeroUSD         float64 // per amount: converted.usd is 0 though the amount is not; for twice as many deals at first
	NullOptional    float64 // per absent optional member: null
	EmptyText       float64 // per absent optional text: ""
	EmptyObject     float64 // per object whose members are all optional: {}
	EmptyList       float64 // per required list (banks; loans' tranches far less): []
	NoBorrower      float64 // per bond priced record: no borrower
	NoLinks         float64 // per record: no _links
	DuplicateBank   float64 // per list of banks: one bank twice
	Unordered       float64 // per price evolution: not in order of time
	AwkwardText     float64 // per text: control characters, trailing or no-break spaces, entities, other scripts
	AwkwardStatsKey float64 // per entry of a stats map: keys such as "", "a.b.c", "$type"
	BadPricingTime  float64 // per pricing time: without an offset, or no time at all
	NoMaturity      float64 // per bond priced record: neither perpetual nor a maturity
	FarMaturity     float64 // per bond priced record: 9999-12-31
	LinkExtras      float64 // per link: type, title, templated and the other members of a link object
	ForeignOriginal float64 // per original link: an address on another host
	OriginalMissing float64 // per increase: no original link
	LinksDiffer     float64 // per priced deal: its links by id differ from those in the list

	// Events.

	ListOmission float64 // per bond expected deal: left out of its list for a day, but present by id
	BumpOnly     float64 // per expected deal: "changed" moves once without another change
	SilentEdit   float64 // per expected deal: the text is corrected once and "changed" does not move
	FlipFlop     float64 // per priced deal: a correction is taken back within hours
	TwoLists     float64 // per EM bond: the same security is in IG too, with another id
	ClockSkew    float64 // per change of an expected deal: "changed" is up to 90 minutes too early or too late
	DanglingLink float64 // per priced line: the expected deal links to a record that does not exist
	Removal      float64 // factor on the removals of priced deals: at 1, 0.4 to 1 per cent of them by market
	Reappear     float64 // per removed priced deal: it reappears with the same id
	MarketMove   float64 // per bond priced deal: it moves to another market, with another id

	// Values that schemas/api/openapi.yaml does not allow; 0 by default.

	Misfit       float64 // per record: a value that does not fit its documented type
	UnknownField float64 // per record: a member that the API does not document
	UnknownEnum  float64 // per bond record: a value outside the documented list
}

// DefaultQuirks returns the rates of a market that is as awkward as real ones and keeps to schemas/api/openapi.yaml.
func DefaultQuirks() Quirks {
	return Quirks{
		NumberSpelling:  0.04,
		NegativeZero:    0.01,
		HugeNumber:      0.001,
		ZeroUSD:         0.01,
		NullOptional:    0.02,
		EmptyText:       0.01,
		EmptyObject:     0.04,
		EmptyList:       0.02,
		NoBorrower:      0.005,
		NoLinks:         0.003,
		DuplicateBank:   0.02,
		Unordered:       0.03,
		AwkwardText:     0.03,
		AwkwardStatsKey: 0.04,
		BadPricingTime:  0.03,
		NoMaturity:      0.003,
		FarMaturity:     0.001,
		LinkExtras:      0.02,
		ForeignOriginal: 0.02,
		OriginalMissing: 0.04,
		ListOmission:    0.04,
		BumpOnly:        0.03,
		SilentEdit:      0.02,
		FlipFlop:        0.01,
		TwoLists:        0.015,
		ClockSkew:       0.002,
		DanglingLink:    0.015,
		Removal:         1,
		Reappear:        0.05,
		MarketMove:      0.0015,
	}
}
