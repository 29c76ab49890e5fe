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

// VersionKey names a version of one feed's deals.
type VersionKey struct {
	DealID  int64
	Version int32
}

// Contents finds payloads of a feed's versions in files of deal_versions. It knows where each version
// lies, 32 bytes for each. It is not safe for concurrent use.
type Contents struct {
	lake  *Lake
	mem   memory.Allocator
	feed  api.Feed
	files []lake.File
	at    []place // sorted by key
}

// place is where a version lies.
type place struct {
	key         VersionKey
	file, group int32
}

func (k VersionKey) compare(o VersionKey) int {
	return cmp.Or(cmp.Compare(k.DealID, o.DealID), cmp.Compare(k.Version, o.Version))
}

// Contents looks where the versions of a feed lie in files, which are of deal_versions; those of other
// markets are passed over. Only keys are read.
func (l *Lake) Contents(ctx context.Context, mem memory.Allocator, files []lake.File, feed api.Feed) (*Contents, error) {
	c := &Contents{lake: l, mem: mem, feed: feed}
	for _, f := range files {
		if f.Partition["market"] != string(feed.Market) {
			continue
		}
		number := int32(len(c.files))
		c.files = append(c.files, f)
		group := -1
		err := parquet.Scan(ctx, l.store, mem, f.Path, []string{"kind", "deal_id", "version"}, parquet.AllGroups(&group), func(rec arrow.Record) error {
			for row := range int(rec.NumRows()) {
				if key, ok := c.keyAt(rec, row); ok {
					c.at = append(c.at, place{key, number, int32(group)})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(c.at, func(a, b place) int { return a.key.compare(b.key) })
	return c, nil
}

// keyAt reads the key of a row whose first columns are kind, deal_id and version; ok is false for a deal
// of the market's other feed.
func (c *Contents) keyAt(rec arrow.Record, row int) (key VersionKey, ok bool) {
	if rec.Column(0).(*array.String).Value(row) != string(c.feed.Kind) {
		return key, false
	}
	return VersionKey{rec.Column(1).(*array.Int64).Value(row), rec.Column(2).(*array.Int32).Value(row)}, true
}

// Read fetches the payloads of some versions. What history lacks, or has without a payload, is not in the
// result.
func (c *Contents) Read(ctx context.Context, keys []VersionKey) (map[VersionKey]Payload, error) {
	wanted := make(map[VersionKey]bool, len(keys))
	groups := make([][]int, len(c.files))
	for _, key := range keys {
		wanted[key] = true
		i, ok := slices.BinarySearchFunc(c.at, key, func(p place, k VersionKey) int { return p.key.compare(k) })
		if ok {
			file, group := c.at[i].file, int(c.at[i].group)
			groups[file] = append(groups[file], group)
		}
	}
	found := make(map[VersionKey]Payload, len(keys))
	for i, f := range c.files {
		if len(groups[i]) == 0 {
			continue
		}
		slices.Sort(groups[i])
		err := parquet.Scan(ctx, c.lake.store, c.mem, f.Path, []string{"kind", "deal_id", "version", "payload", "run_id"}, parquet.OnlyGroups(slices.Compact(groups[i])), func(rec arrow.Record) error {
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
