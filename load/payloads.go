package load

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// VersionKey identifies a version of a deal within one feed.
type VersionKey struct {
	DealID  int64
	Version int32
}

// Contents finds payloads of a feed's versions in files of deal_versions. It keeps the location of each version in
// memory, 32 bytes per version. It is not safe for concurrent use.
type Contents struct {
	lake  *Lake
	mem   memory.Allocator
	feed  api.Feed
	files []lake.File
	index []location // sorted by key
}

// location is the row group that contains a version.
type location struct {
	key         VersionKey
	file, group int32 // index in Contents.files, and of the row group in that file
}

func (k VersionKey) compare(o VersionKey) int {
	return cmp.Or(cmp.Compare(k.DealID, o.DealID), cmp.Compare(k.Version, o.Version))
}

// Contents finds the location of each version of some deals of a feed in files, which are of deal_versions; deals are sorted. It
// skips the files of other markets. It reads keys only, of the row groups that may have one of the deals.
func (l *Lake) Contents(ctx context.Context, mem memory.Allocator, files []lake.File, feed api.Feed, deals []int64) (*Contents, error) {
	c := &Contents{lake: l, mem: mem, feed: feed}
	for _, f := range files {
		number, group := int32(len(c.files)), -1
		c.files = append(c.files, f)
		err := parquet.ScanDeals(ctx, l.store, mem, &f, feed.Market, []string{"kind", "deal_id", "version"}, deals, &group, func(rec arrow.Record) error {
			for row := range int(rec.NumRows()) {
				key, ok := c.keyAt(rec, row)
				if _, wanted := slices.BinarySearch(deals, key.DealID); ok && wanted {
					c.index = append(c.index, location{key, number, int32(group)})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(c.index, func(a, b location) int { return a.key.compare(b.key) })
	return c, nil
}

// keyAt reads the key of a row. The record's first columns are kind, deal_id and version. ok is false for a deal of the
// market's other feed.
func (c *Contents) keyAt(rec arrow.Record, row int) (key VersionKey, ok bool) {
	if rec.Column(0).(*array.String).Value(row) != string(c.feed.Kind) {
		return key, false
	}
	return VersionKey{rec.Column(1).(*array.Int64).Value(row), rec.Column(2).(*array.Int32).Value(row)}, true
}

const payloadRows = 512 // in memory at once, wanted or not: some megabytes

// Read reads the payloads of versions. A version that the files lack, or contain without a payload, is absent from the
// result.
func (c *Contents) Read(ctx context.Context, keys []VersionKey) (map[VersionKey]Payload, error) {
	wanted := make(map[VersionKey]bool, len(keys))
	groups := make([][]int, len(c.files))
	for _, key := range keys {
		wanted[key] = true
		i, ok := slices.BinarySearchFunc(c.index, key, func(l location, k VersionKey) int { return l.key.compare(k) })
		if ok {
			file, group := c.index[i].file, int(c.index[i].group)
			groups[file] = append(groups[file], group)
		}
	}
	found := make(map[VersionKey]Payload, len(keys))
	for i, f := range c.files {
		if len(groups[i]) == 0 {
			continue
		}
		slices.Sort(groups[i])
		err := parquet.ScanLimited(ctx, c.lake.store, c.mem, f.Path, []string{"kind", "deal_id", "version", "payload", "run_id"}, payloadRows, parquet.OnlyGroups(slices.Compact(groups[i])), func(rec arrow.Record) error {
			for row := range int(rec.NumRows()) {
				if key, ok := c.keyAt(rec, row); ok && wanted[key] && rec.Column(3).IsValid(row) {
					found[key] = Payload{
						Bytes: []byte(rec.Column(3).(*array.String).Value(row)),
						RunID: strings.Clone(rec.Column(4).(*array.String).Value(row)),
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
