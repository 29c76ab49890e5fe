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

	// UpdatedSince leaves out deals whose UpdatedAt, cut to whole seconds, is before it. The zero
	// time leaves out none.
	UpdatedSince time.Time

	// After starts behind this position; nil starts at the top.
	After *Position

	// Limit is the largest number of deals to give; at least 1.
	Limit int
}

// Page is a part of a list.
type Page struct {
	Records []Record
	More    bool // deals follow after the last of Records
}
