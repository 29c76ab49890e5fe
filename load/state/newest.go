package state

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// newestVersion is the newest version of a deal found up to now, with the hashes of the newest one that has a payload:
// rows come in any order.
type newestVersion struct {
	latest  lake.LatestVersion
	content int32 // the version whose hashes latest has; 0 for none
}

// Newest finds the newest version of every deal. It is not safe for concurrent use.
type Newest map[api.Feed]map[int64]newestVersion

// ofFeed returns the versions of a feed. The feed's strings may point into a record's memory: they are copied.
func (n Newest) ofFeed(feed api.Feed) map[int64]newestVersion {
	if deals := n[feed]; deals != nil {
		return deals
	}
	deals := map[int64]newestVersion{}
	n[api.Feed{
		Service: api.Service(strings.Clone(string(feed.Service))),
		Market:  api.Market(strings.Clone(string(feed.Market))),
		Kind:    api.Kind(strings.Clone(string(feed.Kind))),
	}] = deals
	return deals
}

// Seed adds the versions of a state file. Rows that became known later may have been added before: what they say stays.
func (n Newest) Seed(known map[api.Feed]lake.Latest) {
	for feed, known := range known {
		deals := n.ofFeed(feed)
		for id, latest := range known {
			v := deals[id]
			if latest.Version > v.latest.Version {
				v.latest.Version, v.latest.Removed = latest.Version, latest.Removed
			}
			if latest.Version > v.content { // the state has the hashes of the newest content up to its version
				v.content, v.latest.ContentHash, v.latest.PayloadHash = latest.Version, latest.ContentHash, latest.PayloadHash
			}
			deals[id] = v
		}
	}
}

// Columns returns the columns of deal_versions that Add reads. The caller owns the slice.
func Columns() []string {
	return []string{"service", "market", "kind", "deal_id", "version", "change", "content_hash", "payload_hash"}
}

// Add adds rows of deal_versions with Columns, in any order.
func (n Newest) Add(rec arrow.Record) {
	text := func(i int) *array.String { return rec.Column(i).(*array.String) }
	ids := rec.Column(3).(*array.Int64)
	versions := rec.Column(4).(*array.Int32)
	contents := rec.Column(6).(*array.FixedSizeBinary)
	payloads := rec.Column(7).(*array.FixedSizeBinary)
	for row := range int(rec.NumRows()) {
		feed := api.Feed{Service: api.Service(text(0).Value(row)), Market: api.Market(text(1).Value(row)), Kind: api.Kind(text(2).Value(row))}
		deals := n.ofFeed(feed)
		id, version := ids.Value(row), versions.Value(row)
		v := deals[id]
		if version > v.latest.Version {
			v.latest.Version = version
			v.latest.Removed = text(5).Value(row) == lake.Removed
		}
		if !contents.IsNull(row) && version > v.content {
			v.content = version
			copy(v.latest.ContentHash[:], contents.Value(row))
			copy(v.latest.PayloadHash[:], payloads.Value(row))
		}
		deals[id] = v
	}
}

// Latest returns what was found.
func (n Newest) Latest() map[api.Feed]lake.Latest {
	all := map[api.Feed]lake.Latest{}
	for feed, deals := range n {
		latest := make(lake.Latest, len(deals))
		for id, v := range deals {
			latest[id] = v.latest
		}
		all[feed] = latest
	}
	return all
}
