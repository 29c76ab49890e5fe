package api

import (
	"fmt"
	"slices"
	"strings"
)

// Service is one of the two parts of the API: "bond" or "loan".
type Service string

// Market is a market's code in upper case, as in records. Paths contain it in lower case.
type Market string

// Kind is one of the two lists of a market: "priced" or "expected".
type Kind string

// The services, markets and kinds of API v3.4.0.
const (
	Bond Service = "bond"
	Loan Service = "loan"

	IG Market = "IG" // bond: investment grade
	HY Market = "HY" // bond: high yield
	EM Market = "EM" // bond: emerging markets
	LL Market = "LL" // loan: leveraged finance
	CF Market = "CF" // loan: corporates and financial institutions
	AF Market = "AF" // loan: asset finance

	Priced   Kind = "priced"
	Expected Kind = "expected"
)

// Feed is one list of the API. Its text form is service/market/kind in lower case, such as "bond/ig/priced". A Feed is
// comparable and can be a map key.
type Feed struct {
	Service Service
	Market  Market
	Kind    Kind
}

// Feeds returns the twelve feeds in a fixed order: bond before loan, markets in the order of Markets, priced before
// expected. The caller owns the slice.
func Feeds() []Feed {
	feeds := make([]Feed, 0, 12)
	for _, service := range Services() {
		for _, market := range Markets(service) {
			feeds = append(feeds, Feed{service, market, Priced}, Feed{service, market, Expected})
		}
	}
	return feeds
}

// Services returns the two services, bond first.
func Services() []Service { return []Service{Bond, Loan} }

// Markets returns a service's markets in their fixed order; nil for an unknown service.
func Markets(s Service) []Market {
	switch s {
	case Bond:
		return []Market{IG, HY, EM}
	case Loan:
		return []Market{LL, CF, AF}
	}
	return nil
}

// String returns the feed's text form, "bond/ig/priced".
func (f Feed) String() string {
	return string(f.Service) + "/" + f.Market.Lower() + "/" + string(f.Kind)
}

// MarshalText returns the feed's text form.
func (f Feed) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText parses the feed's text form.
func (f *Feed) UnmarshalText(text []byte) error {
	feed, err := ParseFeed(string(text))
	if err != nil {
		return err
	}
	*f = feed
	return nil
}

// Path returns the path of the feed's list, relative to the base URL: "/v3/bond/ig/priced-deal".
func (f Feed) Path() string {
	return "/v3/" + string(f.Service) + "/" + f.Market.Lower() + "/" + string(f.Kind) + "-deal"
}

// DealPath returns the path of one deal, relative to the base URL: "/v3/bond/ig/priced-deal/12".
func (f Feed) DealPath(id int64) string { return fmt.Sprintf("%s/%d", f.Path(), id) }

// ListKey returns the name of the list inside a page's _embedded: "pricedDeals" or "expectedDeals".
func (f Feed) ListKey() string { return string(f.Kind) + "Deals" }

// IDKey returns the name of the member that identifies a record: "id" in bond expected deals, "dealId" in all others.
func (f Feed) IDKey() string {
	if f.Service == Bond && f.Kind == Expected {
		return "id"
	}
	return "dealId"
}

// HasID32 reports whether the API documents the ids of the feed's records as 32-bit integers: those of bond priced
// deals. All others are 64-bit integers.
func (f Feed) HasID32() bool { return f.Service == Bond && f.Kind == Priced }

// HasUpdatedSince reports whether the feed's records have an updatedSince link, and its list accepts that parameter.
// All lists have it except bond expected.
func (f Feed) HasUpdatedSince() bool { return f.Service != Bond || f.Kind != Expected }

// Lower returns the market's code in lower case, as in paths.
func (m Market) Lower() string { return strings.ToLower(string(m)) }

// ParseFeed parses a feed's text form, in any case.
func ParseFeed(text string) (Feed, error) {
	want := strings.ToLower(strings.TrimSpace(text))
	feeds := Feeds()
	i := slices.IndexFunc(feeds, func(f Feed) bool { return f.String() == want })
	if i < 0 {
		return Feed{}, fmt.Errorf("unknown feed %q: want service/market/kind such as bond/ig/priced (bond: ig hy em, loan: ll cf af; priced or expected)", text)
	}
	return feeds[i], nil
}

// ParseFeeds parses a comma-separated list of feeds; an empty text means all twelve. The result is in the order of
// Feeds, without repetition.
func ParseFeeds(text string) ([]Feed, error) {
	if strings.TrimSpace(text) == "" {
		return Feeds(), nil
	}
	wanted := map[Feed]bool{}
	for part := range strings.SplitSeq(text, ",") {
		feed, err := ParseFeed(part)
		if err != nil {
			return nil, err
		}
		wanted[feed] = true
	}
	return slices.DeleteFunc(Feeds(), func(f Feed) bool { return !wanted[f] }), nil
}
