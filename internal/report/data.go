package report

import "time"

// Data contains the results of the report's queries. The fields of a row type are, in order, the columns of its query.
// A pointer is nil for NULL.
type Data struct {
	Lake string // its folder or URL
	AsOf string // the requested instant as an SQL literal's text; infinity for all that is known

	State        State
	Feeds        []Feed
	Checks       []Check
	Pipeline     []PipelineAge
	Biggest      []Tranche
	Volume       []Volume
	BondLeague   []Credit
	LoanLeague   []Credit
	Execution    []Execution
	Executions   []ExecutionSummary
	Restatements []Restatement
	Restated     []RestatedField
	Maturities   []Maturity
	Quality      []Quality
	Coverage     []Coverage

	Queries []Query // the statements of these queries, in order
}

// Query is a statement and its name.
type Query struct{ Name, SQL string }

// State is the state of the lake as of the requested instant.
type State struct {
	Commit     int64
	KnownAt    time.Time // of that commit
	ObservedAt time.Time // of the last commit that pulled anything
	FirstKnown time.Time
	Pulls      int64
	Outcome    string // of the last pull
}

// Feed counts what the last complete run did to a feed.
type Feed struct {
	Service, Market, Kind, Outcome                                 string
	Deals, Added, Changed, Removed, Reappeared, Quarantined, Drift int64
}

// Check is the result of a quality check of a run.
type Check struct {
	Name, Severity, Outcome string
	Count                   int64
	Detail                  string
}

// PipelineAge counts a market's tranches by how long their deals have been listed.
type PipelineAge struct {
	Service, Market string
	Age             int64 // an index of ages
	Tranches        int64
}

// Tranche is one of the largest tranches in the pipeline.
type Tranche struct {
	Service, Market                    string
	DealID                             int64
	Borrower, Name, Status, VolumeText string
	USD                                float64
	Comparable, Tranches               int64 // numbers of tranches with a volume in USD, and of all; the same in each row
}

// Volume is a market's issuance in a month, 2006-01.
type Volume struct {
	Month, Service, Market string
	Deals, Unconverted     int64
	USD                    float64
}

// Credit is a bank's row in a league table. Rank is nil for the volume that belongs to no bank.
type Credit struct {
	Rank                         *int64
	Bank                         string
	USD, Share                   float64
	Deals                        int64
	TotalUSD                     float64 // this and the next two fields are the same in each row
	DealsTotal, DealsUnconverted int64
}

// Execution sums up how the bonds of a market priced in a month, 2006-01.
type Execution struct {
	Month, Market string
	Deals         int64
	TighteningN   int64
	Tightening    *float64 // median, basis points
	CoverN        int64
	Cover         *float64 // median, times the nominal
}

// ExecutionSummary is Execution over all bonds of a market, or over those with a rating, with two more measures.
type ExecutionSummary struct {
	Market       string
	Rating       string // all, a letter such as BBB, unrated, or unread
	Deals        int64
	Talk         int64 // deals with a talk that gives a level
	OnlyFinal    int64 // of them, those of which only the final talk is known
	FromGuidance int64 // tightenings measured from guidance
	CoverFlagged int64 // covers left out, because units seem to differ

	TighteningN int64
	Tightening  *float64
	CoverN      int64
	Cover       *float64
	NIPN        int64
	NIP         *float64 // median, basis points
	WindowN     int64
	Window      *float64 // median, minutes
}

// Restatement counts a market's priced deals that were edited soon after they became known.
type Restatement struct {
	Service, Market        string
	Deals, Restated        int64
	Percent                *float64
	Edits                  int64
	MedianLag              *float64 // days
	LeftCensored, TooYoung int64
}

// RestatedField counts the deals in which a field was edited. Field is "" for complete rows.
type RestatedField struct {
	Service, Table, Field string
	Deals                 int64
}

// Maturity sums up what matures in a market in a year. Year is nil if it is unknown.
type Maturity struct {
	Year            *int64
	Service, Market string
	Lines           int64
	USD             float64
	Unconverted     int64
}

// Quality is the result of a check of the data for a feed.
type Quality struct {
	Service, Market, Kind, Name string
	Value, Total                int64
	Share                       float64
	Example, Note               string
}

// Coverage counts how the texts of a field were parsed.
type Coverage struct {
	Table, Field                                             string
	Texts, OK, Ranges, Verbal, NoNumber, Ambiguous, Unparsed int64
}
