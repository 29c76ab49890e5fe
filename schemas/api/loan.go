package api

// LoanPricedDeal is a priced or signed loan with its tranches (openapi.yaml: LoanPricedDeal).
type LoanPricedDeal struct {
	DealID        int64               `json:"dealId"`
	Market        string              `json:"market"`
	PricedDate    Opt[string]         `json:"pricedDate,omitzero"` // date
	Headline      Opt[string]         `json:"headline,omitzero"`
	Message       Opt[string]         `json:"message,omitzero"`
	Borrower      LoanBorrower        `json:"borrower"`
	UseOfProceeds LoanUseOfProceeds   `json:"useOfProceeds"`
	DealTotal     Opt[LoanNominal]    `json:"dealTotal,omitzero"`
	Tranches      []LoanPricedTranche `json:"tranches"`
	Links         Opt[RecordLinks]    `json:"_links,omitzero"`
}

// LoanBorrower is the borrower in loan records. Expected deals have no leveragedMultiple and no ratings; priced deals
// require ratings.
type LoanBorrower struct {
	Name               string           `json:"name"`
	Region             string           `json:"region"` // LATAM, CEEMEA, Western Europe, Asia Pacific, North America
	Country            Opt[string]      `json:"country,omitzero"`
	Type               Opt[string]      `json:"type,omitzero"`
	Sector             Opt[string]      `json:"sector,omitzero"`
	Subsector          Opt[string]      `json:"subsector,omitzero"`
	SecondarySubsector Opt[string]      `json:"secondarySubsector,omitzero"`
	AssetCategory      Opt[string]      `json:"assetCategory,omitzero"`
	LeveragedMultiple  Opt[string]      `json:"leveragedMultiple,omitzero"` // priced only
	Ratings            Opt[LoanRating]  `json:"ratings,omitzero"`           // priced only, required there
	Grade              Opt[string]      `json:"grade,omitzero"`
	Sponsors           LoanSponsorGroup `json:"sponsors"`
	Ticker             Opt[string]      `json:"ticker,omitzero"`
}

// LoanRating contains a text for every agency, unlike the ratings of bonds.
type LoanRating struct {
	Moodys           string `json:"moodys"`
	StandardAndPoors string `json:"standardAndPoors"`
	Fitch            string `json:"fitch"`
}

// LoanSponsorGroup says whether the borrower is owned by sponsors, and by which.
type LoanSponsorGroup struct {
	SponsorBacked Opt[bool]          `json:"sponsorBacked,omitzero"`
	Sponsors      Opt[[]LoanSponsor] `json:"sponsors,omitzero"`
}

// LoanSponsor is one sponsor.
type LoanSponsor struct {
	Name string `json:"name"`
}

// LoanUseOfProceeds says what the money is for; several or none may be true.
type LoanUseOfProceeds struct {
	MergersAndAcquisitions bool      `json:"mergersAndAcquisitions"`
	PrePostIPO             bool      `json:"prePostIpo"`
	Refi                   bool      `json:"refi"`
	GCP                    bool      `json:"gcp"`
	Other                  bool      `json:"other"`
	LBO                    Opt[bool] `json:"lbo,omitzero"`
	SBO                    Opt[bool] `json:"sbo,omitzero"`
	DividendRecap          Opt[bool] `json:"dividendRecap,omitzero"`
}

// LoanNominal is a deal's size over its currencies (openapi.yaml: Nominal).
type LoanNominal struct {
	Currencies []LoanCurrencyAmount `json:"currencies"`
	Converted  Converted            `json:"converted"`
}

// LoanCurrencyAmount is the part of a deal's size in one currency.
type LoanCurrencyAmount struct {
	Amount   Number      `json:"amount"`
	Currency Opt[string] `json:"currency,omitzero"`
}

// LoanNominalTranche is a tranche's size (openapi.yaml: NominalTranche).
type LoanNominalTranche struct {
	Amount    Opt[Number] `json:"amount,omitzero"`
	Converted Converted   `json:"converted"`
}

// LoanPricedTranche is one tranche of a priced loan. Its id does not change.
type LoanPricedTranche struct {
	ID                   int64                   `json:"id"`
	Name                 string                  `json:"name"`
	Status               Opt[string]             `json:"status,omitzero"`
	Type                 Opt[string]             `json:"type,omitzero"`
	ShortType            Opt[string]             `json:"shortType,omitzero"`
	Currency             Opt[string]             `json:"currency,omitzero"`
	Maturity             Opt[string]             `json:"maturity,omitzero"` // text
	ExtensionOptions     Opt[string]             `json:"extensionOptions,omitzero"`
	By                   Opt[string]             `json:"by,omitzero"`
	Margin               Opt[string]             `json:"margin,omitzero"`
	OID                  Opt[string]             `json:"oid,omitzero"`
	Grade                Opt[string]             `json:"grade,omitzero"`
	BloombergCode        Opt[string]             `json:"bloombergCode,omitzero"`
	FIGICode             Opt[string]             `json:"figiCode,omitzero"`
	Nominal              Opt[LoanNominalTranche] `json:"nominal,omitzero"`
	FxRate               Opt[FxRate]             `json:"fxRate,omitzero"`
	PricingDate          Opt[string]             `json:"pricingDate,omitzero"` // date
	PIK                  LoanPIK                 `json:"pik"`
	AllIn                bool                    `json:"allIn"`
	FixedRate            bool                    `json:"fixedRate"`
	CovenantLight        bool                    `json:"covenantLight"`
	GreenLoan            bool                    `json:"greenLoan"`
	SustainabilityLinked bool                    `json:"sustainabilityLinked"`
	Club                 bool                    `json:"club"`
	Rating               LoanRating              `json:"rating"`
	Banks                []LoanBank              `json:"banks"`
	Tenor                Opt[int32]              `json:"tenor,omitzero"`
}

// LoanPIK says whether interest may be paid in kind.
type LoanPIK struct {
	Status string `json:"status"`
	Value  int32  `json:"value"`
}

// LoanBank is a bank of a tranche and its roles.
type LoanBank struct {
	Name string       `json:"name"`
	Type LoanBankType `json:"type"`
}

// LoanBankType contains a bank's roles. All or none may be true.
type LoanBankType struct {
	MLA         bool `json:"mla"`
	Bookrunner  bool `json:"bookrunner"`
	Participant bool `json:"participant"`
}

// LoanExpectedDeal is a loan in the pipeline (openapi.yaml: LoanExpectedDeal).
type LoanExpectedDeal struct {
	DealID        int64                 `json:"dealId"`
	Market        string                `json:"market"`
	Stage         string                `json:"stage"`
	Created       string                `json:"created"` // date-time
	Changed       string                `json:"changed"` // date-time
	Headline      Opt[string]           `json:"headline,omitzero"`
	Message       Opt[string]           `json:"message,omitzero"`
	Borrower      LoanBorrower          `json:"borrower"`
	UseOfProceeds LoanUseOfProceeds     `json:"useOfProceeds"`
	Tranches      []LoanExpectedTranche `json:"tranches"`
	Links         Opt[RecordLinks]      `json:"_links,omitzero"`
}

// LoanExpectedTranche is one tranche of an expected loan.
type LoanExpectedTranche struct {
	Name      string                  `json:"name"`
	Status    Opt[string]             `json:"status,omitzero"`
	Type      Opt[string]             `json:"type,omitzero"`
	ShortType Opt[string]             `json:"shortType,omitzero"`
	Currency  Opt[string]             `json:"currency,omitzero"`
	Volume    Opt[string]             `json:"volume,omitzero"`
	Maturity  Opt[string]             `json:"maturity,omitzero"` // text
	Margin    Opt[string]             `json:"margin,omitzero"`
	OID       Opt[string]             `json:"oid,omitzero"`
	Timing    Opt[string]             `json:"timing,omitzero"`
	FIGICode  Opt[string]             `json:"figiCode,omitzero"`
	Changed   Opt[string]             `json:"changed,omitzero"` // date-time
	Nominal   Opt[LoanNominalTranche] `json:"nominal,omitzero"`
}
