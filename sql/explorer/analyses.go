package explorer

import (
	"fmt"
	"slices"
	"strings"

	"dealflow/schemas/api"
)

// Analysis is a page of an analysis: the macro that it asks and the parameters of its form. The instant is never one of them.
type Analysis struct {
	Name   string // of the macro; a statement that has its own file has the file's
	Kind   string // of the deals in its rows: "priced" or "expected"; "" if the rows say it, or are of no deal
	Params []Param
	Wide   bool   // it has more than fifty columns
	Order  string // of the rows; "" for all columns in their order
	file   bool   // the statement has its own file
}

// Kinds of parameters.
const (
	Choice  = "choice"
	Day     = "day"
	Number  = "number"
	Numbers = "numbers" // several, with commas
	Word    = "word"
	Words   = "words" // several, with commas
)

// Param is a parameter of a form.
type Param struct {
	Name    string
	Label   string
	Kind    string
	Choices []string // of a Choice; an empty one means all
	// Default is the value of a form that is not filled in. Of a Day it is a number of days before the instant, or nothing.
	// A parameter without Default must be given, unless it is Optional.
	Default  string
	Optional bool
	Least    int64 // of a Number
	Most     int64 // of a Number; 0: any
	filters  bool  // it is no parameter of the macro but a filter of its rows
	named    bool  // the macro has a default for it
}

// mostDays are more days than a lake has: DuckDB cannot add many more to an instant.
const mostDays = 1_000_000

var (
	oneMarket   = marketFilter(api.Bond, api.Loan)
	bondMarket  = marketFilter(api.Bond)
	loanMarket  = marketFilter(api.Loan)
	grain       = Param{Name: "grain", Label: "By", Kind: Choice, Choices: []string{"week", "month", "quarter", "year"}, Default: "quarter"}
	withinDays  = Param{Name: "days", Label: "Within days", Kind: Number, Default: "30", Most: mostDays}
	ofService   = Param{Name: "of_service", Label: "Service", Kind: Choice, Choices: []string{"bond", "loan"}, Default: "bond"}
	ofMarket    = Param{Name: "of_market", Label: "Market", Kind: Choice, Choices: markets(api.Bond, api.Loan), Default: string(api.IG)}
	ofKind      = Param{Name: "of_kind", Label: "Kind", Kind: Choice, Choices: []string{"priced", "expected"}, Default: "priced"}
	ofKindNamed = Param{Name: "of_kind", Label: "Kind", Kind: Choice, Choices: []string{"priced", "expected"}, Default: "priced", named: true}
)

// markets returns the markets of services, in the order in which the API lists them.
func markets(services ...api.Service) (names []string) {
	for _, service := range services {
		for _, market := range api.Markets(service) {
			names = append(names, string(market))
		}
	}
	return names
}

// marketFilter is a choice of one market of the services that an analysis is about, or of all.
func marketFilter(services ...api.Service) Param {
	return Param{Name: "market", Label: "Market", Kind: Choice, Choices: append([]string{""}, markets(services...)...), Optional: true, filters: true}
}

// Analyses returns the pages of analyses, by name. The caller owns the slice, not what is in it.
func Analyses() []Analysis {
	return []Analysis{
		{Name: "bond_deals_core_as_of", Kind: "priced", Params: []Param{bondMarket}, Order: "market, deal_id DESC"},
		{Name: "bond_priced_as_of", Kind: "priced", Wide: true, Params: []Param{bondMarket}, Order: "market, deal_id DESC"},
		{Name: "changes", Params: []Param{{Name: "from", Label: "After", Kind: Day, Default: "7"}, {Name: "to", Label: "Not after", Kind: Day, Default: "-1"}}, Order: "known_at DESC, service, market, kind, deal_id, version"},
		{Name: "data_quality", Params: []Param{oneMarket}, Order: "value DESC, name, service, market, kind, total"},
		{Name: "deal_timeline", Params: []Param{ofService, ofMarket, ofKind, {Name: "of_deal_id", Label: "Deal", Kind: Number, Least: 1}}},
		{Name: "execution_by", file: true, Params: []Param{
			{Name: "market", Label: "Market", Kind: Choice, Choices: bondMarket.Choices, Optional: true}, {Name: "from_date", Label: "Priced from", Kind: Day, Default: "365"}, {Name: "to_date", Label: "to", Kind: Day, Default: "0"},
			{Name: "cut", Label: "Cut by", Kind: Choice, Choices: []string{"sector", "country", "rating", "market", "currency", "first talk", "month", "year"}, Default: "sector"},
			{Name: "measure", Label: "Measure", Kind: Choice, Choices: []string{"tightening", "cover", "premium", "window"}, Default: "tightening"},
		}},
		{Name: "execution_metrics", Kind: "priced", Params: []Param{bondMarket}, Order: "pricing_date DESC NULLS LAST, market, deal_id"},
		{Name: "execution_summary", Params: []Param{bondMarket}},
		{Name: "field_change", Params: []Param{oneMarket}, Order: "known_at DESC, service, market, kind, deal_id, version, table_name NULLS LAST, row_key NULLS FIRST, field"},
		{Name: "issuance_growth", Params: []Param{grain, oneMarket}, Order: "period DESC NULLS LAST, service, market"},
		{Name: "issuance_volume", Params: []Param{grain, oneMarket}, Order: "period DESC NULLS LAST, service, market, currency"},
		{Name: "league_table", Params: []Param{
			{Name: "of_market", Label: "Market", Kind: Choice, Choices: slices.Concat([]string{"BOND"}, markets(api.Bond), []string{"LOAN"}, markets(api.Loan)), Default: "BOND"},
			{Name: "from_date", Label: "Priced from", Kind: Day, Default: "365"}, {Name: "to_date", Label: "to", Kind: Day, Default: "0"},
			{Name: "scope", Label: "Banks", Kind: Choice, Choices: []string{"lead", "all"}, Default: "lead", named: true},
			{Name: "credit", Label: "Credit", Kind: Choice, Choices: []string{"split", "full", "lead"}, Default: "split", named: true},
		}, Order: "rank NULLS LAST, bank"},
		{Name: "loan_deals_core_as_of", Kind: "priced", Params: []Param{loanMarket}, Order: "market, deal_id DESC"},
		{Name: "loan_flex_and_terms", Kind: "priced", Params: []Param{{Name: "oid_years", Label: "Years of the discount", Kind: Number, Default: "4", Least: 1, Most: 1000, named: true}, loanMarket}, Order: "priced_date DESC NULLS LAST, market, deal_id, tranche_id, ordinal"},
		{Name: "loan_priced_as_of", Kind: "priced", Wide: true, Params: []Param{loanMarket}, Order: "market, deal_id DESC"},
		{Name: "loan_terms_summary", Params: []Param{loanMarket}, Order: "year DESC NULLS LAST, market"},
		{Name: "maturity_wall", Params: []Param{oneMarket}, Order: "year NULLS LAST, service, market, basis"},
		{Name: "parse_coverage", Params: []Param{oneMarket}, Order: "service, market, table_name, field, year"},
		{Name: "pipeline_as_of", Kind: "expected", Params: []Param{oneMarket}, Order: "service, market, deal_id, ordinal"},
		{Name: "pipeline_conversion", Params: []Param{{Name: "d", Label: "Listed on", Kind: Day, Default: "7"}, {Name: "n", Label: "Priced within weekdays", Kind: Number, Default: "3", Most: mostDays}, oneMarket}},
		{Name: "pipeline_core_as_of", Kind: "expected", Params: []Param{oneMarket}, Order: "service, market, deal_id, tranche_uid"},
		{Name: "restatement_fields", Params: []Param{withinDays, oneMarket}, Order: "share DESC NULLS LAST, service, market, table_name, field"},
		{Name: "restatement_stats", Params: []Param{withinDays, oneMarket}},
		{Name: "tap_family", Params: []Param{bondMarket}, Order: "increases DESC, market, root_deal_id"},
		{Name: "vintages", Params: []Param{ofService, ofMarket, {Name: "of_deal_id", Label: "Deal", Kind: Number, Least: 1}, {Name: "of_field", Label: "Column", Kind: Word}, ofKindNamed}, Order: "known_at, version"},
		{Name: "vintages_wide", Params: []Param{ofService, ofMarket, {Name: "of_deal_ids", Label: "Deals", Kind: Numbers}, {Name: "of_fields", Label: "Columns", Kind: Words}, ofKindNamed}, Order: "deal_id, field"},
	}
}

// casts are the types of parameters' values.
var casts = map[string]string{Choice: "", Day: "::DATE", Number: "::BIGINT", Numbers: "::BIGINT[]", Word: "", Words: "::VARCHAR[]"}

// Statement returns the name of the statement of the analysis.
func (a *Analysis) Statement() string {
	if a.file {
		return a.Name
	}
	return "analysis/" + a.Name
}

// statement returns the statement of an analysis that has no file.
func (a *Analysis) statement() string {
	var args, named, where []string
	for _, p := range a.Params {
		value := "$" + p.Name + casts[p.Kind]
		switch {
		case p.filters:
			where = append(where, fmt.Sprintf("($%[1]s = '' OR %[1]s = $%[1]s)", p.Name))
		case p.named:
			named = append(named, p.Name+" := "+value)
		default:
			args = append(args, value)
		}
	}
	if a.Name == "changes" { // the one that has no as_of, because "to" limits what is known
		args = []string{"$from::TIMESTAMPTZ", "least($to::TIMESTAMPTZ, $as_of::TIMESTAMPTZ)"}
	} else {
		args = append(args, "as_of := $as_of::TIMESTAMPTZ")
	}
	text := "SELECT * FROM " + a.Name + "(" + strings.Join(slices.Concat(args, named), ", ") + ")"
	if len(where) > 0 {
		text += "\nWHERE " + strings.Join(where, " AND ")
	}
	order := a.Order
	if order == "" {
		order = "ALL"
	}
	return text + "\nORDER BY " + order + "\nLIMIT $rows::BIGINT OFFSET $skip::BIGINT"
}
