package serve

import (
	"context"
	"errors"
	"time"

	"dealflow/schemas/api"
)

// Source is a market as the server needs it. Its methods may be called concurrently.
type Source interface {
	// Now returns the market's present. It can differ from the machine's: simulated and replayed markets have their
	// own.
	Now() time.Time

	// List returns up to q.Limit deals of a feed in the feed's order, as of Now.
	//
	// If api.Feed.HasUpdatedSince is true, the order is newest UpdatedAt first, then by falling id. Otherwise it is
	// by falling id only. It must not depend on where a walk began, so that positions stay valid while the list
	// changes.
	List(ctx context.Context, q Query) (Page, error)

	// Get returns one deal as of Now. It fails with ErrNotFound if the feed has no such deal, and with ErrForbidden
	// if the account may not see the deal.
	Get(ctx context.Context, feed api.Feed, id int64) (Record, error)
}

// Errors of a Source that the API has a status for; they may be wrapped.
var (
	ErrNotFound  = errors.New("deal not found")
	ErrForbidden = errors.New("deal outside the account's allowance")
)

// Record is one deal as the market shows it.
type Record struct {
	ID int64

	// UpdatedAt is the instant of the last update. In the API it has a resolution of one second.
	UpdatedAt time.Time

	// PricingDate is the deal's pricing date, YYYY-MM-DD, or "" if it has none. That of a loan without pricedDate is the
	// newest of its tranches. A Free Trial account sees priced deals of the last two years only.
	PricingDate string

	// Body is the deal's JSON object without spaces. Hrefs under the API are written as "/v3/…", and the server
	// inserts its base URL before them. Callers must not modify it.
	Body []byte
}

// Position is a position in a list between two deals: right after the deal with this update and id. It stays valid if
// that deal is updated or removed. Lists that are ordered by id use ID only.
type Position struct {
	UpdatedAt time.Time
	ID        int64
}

// Query selects a part of a list.
type Query struct {
	Feed api.Feed

	// UpdatedSince excludes deals that were updated before it. The zero time excludes none. An instant in whole
	// seconds is inclusive, and is compared with UpdatedAt truncated to whole seconds.
	UpdatedSince time.Time

	// UpdatedAfter says that UpdatedSince was written with a fraction of a second, as in links of a source with finer
	// instants. UpdatedSince then excludes its own instant too.
	UpdatedAfter bool

	// PricingDateFrom and PricingDateTo limit the pricing date, inclusive, YYYY-MM-DD; "" is no limit. A limit
	// excludes deals without a pricing date.
	PricingDateFrom, PricingDateTo string

	// ChangedFrom and ChangedTo limit the deal's own "changed", inclusive. The zero time is no limit.
	ChangedFrom, ChangedTo time.Time

	// State identifies the state on which a walk began: the State of an earlier Page, or "" for a first page. A source
	// that keeps its past answers from that state. Others ignore it.
	State string

	// After is the position after which the page begins. nil is the beginning of the list.
	After *Position

	// Limit is the maximum number of deals, at least 1.
	Limit int
}

// Page is a part of a list.
type Page struct {
	Records []Record
	More    bool   // deals follow after the last of Records
	State   string // for Query.State of the next page, by way of the cursor; a short text, "" for none
}

// TimeTraveler is a Source that keeps its past. AsOf returns the market as it was known at an instant. The result never
// changes. AsOf fails with ErrNotFound if nothing was known at that instant.
type TimeTraveler interface {
	Source
	AsOf(ctx context.Context, at time.Time) (Source, error)
}

// Advancer is a Source whose time a caller can move, such as a simulated market.
type Advancer interface {
	Source
	// Advance moves the source's time forward and returns the new present. It fails for a negative d.
	Advance(d time.Duration) (time.Time, error)
}
