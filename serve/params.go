package serve

import (
	"errors"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// The parameters of lists (schemas/api/openapi.yaml).
const (
	paramPageSize        = "pageSize"
	paramSeeker          = "seeker"
	paramUpdatedSince    = "updatedSince"
	paramPricingDateFrom = "pricingDateFrom"
	paramPricingDateTo   = "pricingDateTo"
	paramChangedFrom     = "changedFrom"
	paramChangedTo       = "changedTo"
)

// filters returns the parameters of a feed's list without seeker. Links to other pages contain them.
func filters(feed api.Feed) []string {
	switch {
	case feed.Kind == api.Priced:
		return []string{paramPageSize, paramPricingDateFrom, paramPricingDateTo, paramUpdatedSince}
	case feed.Service == api.Loan:
		return []string{paramPageSize, paramUpdatedSince}
	}
	return []string{paramChangedFrom, paramChangedTo, paramPageSize}
}

// listParams returns the parameters of the lists of a service and kind.
func listParams(service api.Service, kind api.Kind) []string {
	return append(filters(api.Feed{Service: service, Kind: kind}), paramSeeker)
}

// params are a request's parameters that the list knows. Unknown parameters are ignored.
type params map[string]string

// readParams reads the known parameters of a request's query. A repeated name is refused, because either value could be
// meant. An empty value is refused too: it is no number, date, instant or cursor.
func readParams(feed api.Feed, query string) (params, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, badRequest("the query cannot be read: %s", quote(query))
	}
	known := params{}
	for _, name := range listParams(feed.Service, feed.Kind) {
		switch given := values[name]; {
		case len(given) > 1:
			return nil, badRequest("%s: got %d values, want one", name, len(given))
		case len(given) == 1 && given[0] == "":
			return nil, badRequest("%s is empty: give it a value or leave it out", name)
		case len(given) == 1:
			known[name] = given[0]
		}
	}
	return known, nil
}

// query returns the Query of a list. A deal must pass all filters.
func (p params) query(feed api.Feed) (Query, error) {
	query := Query{Feed: feed}
	size, err := p.size()
	if err != nil {
		return Query{}, err
	}
	query.Limit = size
	for _, instant := range []struct {
		name string
		into *time.Time
	}{{paramUpdatedSince, &query.UpdatedSince}, {paramChangedFrom, &query.ChangedFrom}, {paramChangedTo, &query.ChangedTo}} {
		if *instant.into, err = p.instant(instant.name); err != nil {
			return Query{}, err
		}
	}
	query.UpdatedAfter = strings.Contains(p[paramUpdatedSince], ".")
	if query.PricingDateFrom, err = p.date(paramPricingDateFrom); err != nil {
		return Query{}, err
	}
	if query.PricingDateTo, err = p.date(paramPricingDateTo); err != nil {
		return Query{}, err
	}
	if query.PricingDateTo != "" && query.PricingDateFrom > query.PricingDateTo {
		return Query{}, badRequest("%s is after %s", paramPricingDateFrom, paramPricingDateTo)
	}
	if !query.ChangedTo.IsZero() && query.ChangedFrom.After(query.ChangedTo) {
		return Query{}, badRequest("%s is after %s", paramChangedFrom, paramChangedTo)
	}
	return query, nil
}

// size returns the requested page size, or 0 if there is none.
func (p params) size() (int, error) {
	text, ok := p[paramPageSize]
	if !ok {
		return 0, nil
	}
	size, err := strconv.ParseInt(text, 10, 64)
	if err != nil || size < 1 || size > math.MaxInt32 || strconv.FormatInt(size, 10) != text {
		return 0, badRequest("%s %s: want a positive int32", paramPageSize, quote(text))
	}
	return int(size), nil
}

// instant reads a date-time. An absent one is the zero time.
func (p params) instant(name string) (time.Time, error) {
	text, ok := p[name]
	if !ok {
		return time.Time{}, nil
	}
	at, err := parseInstant(text)
	if err != nil {
		return time.Time{}, badRequest("%s %s: want a date-time such as 2026-03-02T04:23:57Z (a + is written %%2B in a query)", name, quote(text))
	}
	if at = at.UTC(); at.IsZero() {
		at = at.Add(1) // the zero time would mean no bound
	}
	return at, nil
}

// parseInstant parses an instant as RFC 3339 has it. Package time also takes a decimal comma, and an hour of one digit.
func parseInstant(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err == nil && (strings.Contains(text, ",") || text[len("2026-03-02T04")] != ':') {
		err = errors.New("not of RFC 3339")
	}
	return at, err
}

// date reads a date. An absent one is "".
func (p params) date(name string) (string, error) {
	text, ok := p[name]
	if !ok {
		return "", nil
	}
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return "", badRequest("%s %s: want a date such as 2026-03-02", name, quote(text))
	}
	return text, nil
}
