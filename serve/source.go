package serve

import (
	"context"
	"errors"
	"time"

	"dealflow/schemas/api"
)

// Source is a market as the server needs it. Its methods may be called concurrently.
type Source interface {
	// Now is the market's present. It need not be the machine's: simulated and replayed markets
	// have their own.
	Now() time.Time

	// List gives up to q.Limit deals of a feed in the feed's order, as of Now.
	//
	// Where api.Feed.HasUpdatedSince says so, the order is newest UpdatedAt first, equal instants
	// by falling id; else it is falling id alone. It must not depend on where a walk began, so
	// that positions stay good while the list changes.
	List(ctx context.Context, q Query) (Page, error)

	// Get gives one deal as of Now. It fails with ErrNotFound where the feed has no such deal, and
	// with ErrForbidden where the account may not see it.
	Get(ctx context.Context, feed api.Feed, id int64) (Record, error)
}

// Errors of a Source that the API has a status for; they may be wrapped.
var (
	ErrNotFound  = errors.New("deal not found")
	ErrForbidden = errors.New("deal outside the account's allowance")
)

// Record is one deal as a market gives it now.
type Record struct {
	ID int64

	// UpdatedAt is the instant of the last update. On the wire it has a resolution of one second.
	UpdatedAt time.Time

	// PricingDate is the deal's pricing date, YYYY-MM-DD; "" where it has none. A Free Trial account
	// sees priced deals of the last two years only.
	PricingDate string

	// Body is the deal's JSON object without spaces. Hrefs under the API are written as "/v3/…";
	// the server puts its base URL before them. Callers must not modify it.
	Body []byte
}

// Position is a place in a list between two deals: right after the deal with this update and id.
// It stays good when that deal moves or vanishes. Lists in order of id look at ID alone.
type Position struct {
	UpdatedAt time.Time
	ID        int64
}

// Query asks for a part of a list.
type Query struct {
	Feed api.Feed

	// UpdatedSince leaves out deals that were updated before it. The zero time leaves out none. An
	// instant in whole seconds is inclusive, and compared with UpdatedAt cut to whole seconds.
	UpdatedSince time.Time

	// UpdatedAfter says that UpdatedSince was written with a fraction of a second, as links of a
	// source with finer instants carry it: then it leaves out its own instant too.
	UpdatedAfter bool

	// PricingDateFrom and PricingDateTo bound the pricing date, inclusive, YYYY-MM-DD; "" is no
	// bound. A deal without a pricing date lies within no bound.
	PricingDateFrom, PricingDateTo string

	// ChangedFrom and ChangedTo bound the deal's own "changed", inclusive; the zero time is no bound.
	ChangedFrom, ChangedTo time.Time

	// State names the state that a walk began on: what an earlier Page gave, "" for a first page. A
	// source that keeps its past answers from that state; others pay no heed.
	State string

	// After starts behind this position; nil starts at the top.
	After *Position

	// Limit is the largest number of deals to give; at least 1.
	Limit int
}

// Page is a part of a list.
type Page struct {
	Records []Record
	More    bool   // deals follow after the last of Records
	State   string // goes into the cursor, and comes back as Query.State; short, "" for none
}

// TimeTraveler is a Source that keeps its past. AsOf gives it as it was known at an instant; the
// result stands still.
type TimeTraveler interface {
	Source
	AsOf(ctx context.Context, at time.Time) (Source, error)
}

// Advancer is a Source whose time can be moved by hand, for scripted runs on a simulated market.
type Advancer interface {
	Source
	// Advance moves the source's time on and gives the new present. It fails for a negative d.
	Advance(d time.Duration) (time.Time, error)
}
