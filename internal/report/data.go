package report

import "time"

// Data is what a report is made of. The row types' fields are, in order, the columns of the queries
// that fill them; a pointer is nil where the query says NULL.
type Data struct {
	Lake string // where it lies
	AsOf string // the instant that was asked for, as SQL takes it: 'infinity' for all that is known

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

	Queries []Query // the statements that gave all that, in order
}

// Query is a statement by its name.
type Query struct{ Name, SQL string }

// State says what the lake knew.
type State struct {
	Commit     int64
	KnownAt    time.Time // of that commit
	ObservedAt time.Time // of the last commit that pulled anything
	FirstKnown time.Time
	Pulls      int64
	Outcome    string // of the last pull
}

// Feed is what the last complete run did with a feed.
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

// PipelineAge counts the tranches of a market whose deals have been listed for so long.
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
	Comparable, Tranches               int64 // tranches with a volume in USD, and all: the same in each row
}

// Volume is a market's issuance in a month, 2006-01.
type Volume struct {
	Month, Service, Market string
	Deals, Unconverted     int64
	USD                    float64
}

// Credit is a bank's place in a league table; Rank is nil for what no bank can be given.
type Credit struct {
	Rank                         *int64
	Bank                         string
	USD, Share                   float64
	Deals                        int64
	TotalUSD                     float64 // this and the next two are the same in each row
	DealsTotal, DealsUnconverted int64
}

// Execution says how the bonds of a market priced in a month, 2006-01.
type Execution struct {
	Month, Market string
	Deals         int64
	TighteningN   int64
	Tightening    *float64 // median, basis points
	CoverN        int64
	Cover         *float64 // median, times the nominal
}

// ExecutionSummary is the same over all of a market's bonds.
type ExecutionSummary struct {
	Market      string
	Deals       int64
	TighteningN int64
	Tightening  *float64
	CoverN      int64
	Cover       *float64
	NIPN        int64
	NIP         *float64 // median, basis points
	WindowN     int64
	Window      *float64 // median, minutes
}

// Restatement says how many of a market's priced deals were edited soon after they became known.
type Restatement struct {
	Service, Market        string
	Deals, Restated        int64
	Percent                *float64
	Edits                  int64
	MedianLag              *float64 // days
	LeftCensored, TooYoung int64
}

// RestatedField is a field, "" for whole rows, with the deals in which it was edited.
type RestatedField struct {
	Service, Table, Field string
	Deals                 int64
}

// Maturity is what falls due in a market in a year; nil: in no known year.
type Maturity struct {
	Year            *int64
	Service, Market string
	Lines           int64
	USD             float64
	Unconverted     int64
}

// Quality is what a check of the data found in a feed.
type Quality struct {
	Service, Market, Kind, Name string
	Value, Total                int64
	Share                       float64
	Example, Note               string
}

// Coverage says how the texts of a field were read.
type Coverage struct {
	Table, Field                                             string
	Texts, OK, Ranges, Verbal, NoNumber, Ambiguous, Unparsed int64
}
