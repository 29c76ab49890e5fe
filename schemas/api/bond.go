package api

// BondPricedDeal is a priced bond record: one security, or one increase of it. The struct is for IG, HY and EM; the
// comment of a field says which markets do not have it.
type BondPricedDeal struct {
	DealID               int32                `json:"dealId"`
	Market               string               `json:"market"`
	DealType             string               `json:"dealType"`             // ORIGINAL, INCREASE
	PricingDate          string               `json:"pricingDate"`          // date
	PricingTime          Opt[string]          `json:"pricingTime,omitzero"` // hh:mm±hh:mm
	Borrower             Opt[BondBorrower]    `json:"borrower,omitzero"`
	Currency             Opt[string]          `json:"currency,omitzero"` // required except in EM
	Nominal              MonetaryValue        `json:"nominal"`
	Secondary            Opt[MonetaryValue]   `json:"secondary,omitzero"`
	Retained             Opt[MonetaryValue]   `json:"retained,omitzero"`            // not in EM
	NominalWithRetained  Opt[MonetaryValue]   `json:"nominalWithRetained,omitzero"` // not in EM
	Exchange             Opt[MonetaryValue]   `json:"exchange,omitzero"`            // EM only
	NominalWithExchange  Opt[MonetaryValue]   `json:"nominalWithExchange,omitzero"` // EM only
	Total                Opt[BondTotal]       `json:"total,omitzero"`
	Rating               BondRatings          `json:"rating"`
	Grade                string               `json:"grade"` // INVESTMENT, UNRATED; HIGH_YIELD, in EM SUB_INVESTMENT
	Ranking              Opt[string]          `json:"ranking,omitzero"`
	Cpn                  Opt[string]          `json:"cpn,omitzero"`
	CpnType              Opt[string]          `json:"cpnType,omitzero"`
	NonBullet            Opt[string]          `json:"nonBullet,omitzero"`
	Step                 Opt[string]          `json:"step,omitzero"`   // not in EM
	Spread               Opt[string]          `json:"spread,omitzero"` // not in EM
	Swap                 Opt[string]          `json:"swap,omitzero"`   // EM only
	Yield                Opt[string]          `json:"yield,omitzero"`
	Gov                  Opt[string]          `json:"gov,omitzero"`
	Nip                  Opt[string]          `json:"nip,omitzero"`
	Premium              Opt[BondPremium]     `json:"premium,omitzero"` // EM only, required there
	AdditionalInfo       Opt[string]          `json:"additionalInfo,omitzero"`
	Message              Opt[string]          `json:"message,omitzero"`
	FirstCallDate        Opt[string]          `json:"firstCallDate,omitzero"` // date
	Maturity             Opt[string]          `json:"maturity,omitzero"`      // date
	Perpetual            Opt[bool]            `json:"perpetual,omitzero"`
	Fpr                  Number               `json:"fpr"`
	FxRate               FxRate               `json:"fxRate"`
	BloombergCode        Opt[string]          `json:"bloombergCode,omitzero"`
	ISINCode             Opt[string]          `json:"isinCode,omitzero"`
	FIGICode             Opt[string]          `json:"figiCode,omitzero"`
	Stats                Opt[BondStats]       `json:"stats,omitzero"`
	PriceEvolution       []BondPriceEvolution `json:"priceEvolution"`
	Banks                []BondBank           `json:"banks"`
	Tier                 Opt[string]          `json:"tier,omitzero"`        // RT1, AT1, T1, T2
	DealHistory          Opt[string]          `json:"dealHistory,omitzero"` // text, unlike the expected deal's
	Subordinated         bool                 `json:"subordinated"`
	LeagueTableEligible  bool                 `json:"leagueTableEligible"`
	Pref                 Opt[bool]            `json:"pref,omitzero"` // required in IG and HY; not in EM
	Covered              bool                 `json:"covered"`
	Only144A             bool                 `json:"only144a"`
	OnlyRegS             bool                 `json:"onlyRegS"`
	RegSAnd144A          bool                 `json:"regSAnd144a"`
	SECRegistered        bool                 `json:"secRegistered"`
	SECExempt            Opt[bool]            `json:"secExempt,omitzero"`  // not in EM
	Section3a2           Opt[bool]            `json:"section3a2,omitzero"` // not in EM
	Green                bool                 `json:"green"`
	Sustainable          bool                 `json:"sustainable"`
	SustainabilityLinked bool                 `json:"sustainabilityLinked"`
	Social               bool                 `json:"social"`
	SeniorNonPreferred   bool                 `json:"seniorNonPreferred"`
	SeniorPreferred      bool                 `json:"seniorPreferred"`
	HoldCo               bool                 `json:"holdCo"`
	OpCo                 bool                 `json:"opCo"`
	CoC                  bool                 `json:"coc"` // change-of-control put
	CUC                  bool                 `json:"cuc"` // clean-up call
	MWC                  bool                 `json:"mwc"` // make-whole call
	Links                Opt[RecordLinks]     `json:"_links,omitzero"`
}

// BondBorrower is the borrower in priced and expected bond records.
type BondBorrower struct {
	Name      string      `json:"name"`
	Region    string      `json:"region"`
	Type      string      `json:"type"`
	Country   Opt[string] `json:"country,omitzero"`
	Sector    Opt[string] `json:"sector,omitzero"`
	Subsector Opt[string] `json:"subsector,omitzero"`
	Ticker    Opt[string] `json:"ticker,omitzero"`
}

// BondTotal is the total size of a security and its increases.
type BondTotal struct {
	Nominal             MonetaryValue      `json:"nominal"`
	Secondary           Opt[MonetaryValue] `json:"secondary,omitzero"`
	Retained            Opt[MonetaryValue] `json:"retained,omitzero"`            // not in EM
	NominalWithRetained Opt[MonetaryValue] `json:"nominalWithRetained,omitzero"` // not in EM
	Exchange            Opt[MonetaryValue] `json:"exchange,omitzero"`            // EM only
	NominalWithExchange Opt[MonetaryValue] `json:"nominalWithExchange,omitzero"` // EM only
}

// BondRatings are the agencies' ratings. Any of them may be absent.
type BondRatings struct {
	Moodys           Opt[string] `json:"moodys,omitzero"`
	StandardAndPoors Opt[string] `json:"standardAndPoors,omitzero"`
	Fitch            Opt[string] `json:"fitch,omitzero"`
}

// BondPremium is the premium in EM records.
type BondPremium struct {
	Nip          Opt[string] `json:"nip,omitzero"`
	EarlyTrading Opt[string] `json:"earlyTrading,omitzero"`
}

// BondStats are the final order books, and the allotments by type of investor and by region.
type BondStats struct {
	FinalBooks    Opt[Number]    `json:"finalBooks,omitzero"`
	FinalAccounts Opt[int32]     `json:"finalAccounts,omitzero"`
	InvestorType  Opt[NumberMap] `json:"investorType,omitzero"`
	Geography     Opt[NumberMap] `json:"geography,omitzero"`
}

// BondPriceEvolution is one step from the first price thoughts to the final price.
type BondPriceEvolution struct {
	Date  string `json:"date"` // date-time
	Value string `json:"value"`
}

// BondBank is a bank of a bond and its role.
type BondBank struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

// BondExpectedDeal is a bond deal in the pipeline.
type BondExpectedDeal struct {
	ID           int64                     `json:"id"`
	Market       string                    `json:"market"`
	Created      string                    `json:"created"` // date-time
	Changed      string                    `json:"changed"` // date-time
	Headline     Opt[string]               `json:"headline,omitzero"`
	Message      Opt[string]               `json:"message,omitzero"`
	Borrower     BondBorrower              `json:"borrower"`
	Regions      []string                  `json:"regions"`               // IG, HY: Americas; EM: Latam, CEEMEA, Asia(NJ)
	CoveredBonds Opt[bool]                 `json:"coveredBonds,omitzero"` // required in IG and HY; not in EM
	Embedded     Opt[BondExpectedEmbedded] `json:"_embedded,omitzero"`
	DealHistory  []DealHistoryEntry        `json:"dealHistory"`
	Links        Opt[RecordLinks]          `json:"_links,omitzero"`
}

// BondExpectedEmbedded contains the tranches of an expected bond deal.
type BondExpectedEmbedded struct {
	Tranches []BondExpectedTranche `json:"tranches"`
}

// BondExpectedTranche is one tranche of an expected bond deal.
type BondExpectedTranche struct {
	Name           string           `json:"name"`
	Changed        Opt[string]      `json:"changed,omitzero"` // date-time
	Status         string           `json:"status"`           // EXPECTED, TO_BE_INCREASED, INCREASED, PRICED
	Currency       Opt[string]      `json:"currency,omitzero"`
	Volume         Opt[string]      `json:"volume,omitzero"`
	Structure      Opt[string]      `json:"structure,omitzero"`
	PriceEvolution Opt[string]      `json:"priceEvolution,omitzero"`
	Timing         Opt[string]      `json:"timing,omitzero"`
	FIGICode       Opt[string]      `json:"figiCode,omitzero"`
	Books          Opt[string]      `json:"books,omitzero"`   // not in EM
	Ratings        Opt[BondRatings] `json:"ratings,omitzero"` // EM only
	Links          Opt[RecordLinks] `json:"_links,omitzero"`
}

// DealHistoryEntry is one report on an expected bond deal.
type DealHistoryEntry struct {
	Changed  string      `json:"changed"` // date-time
	Headline Opt[string] `json:"headline,omitzero"`
	Message  string      `json:"message"`
}
