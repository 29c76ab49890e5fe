package maintain

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"dealflow/load"
	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
)

// storedVersion is a version with a payload, as in deal_versions.
type storedVersion struct {
	DealID  int64
	Version int32
	RunID   string // the run that added it
	Payload []byte
}

// versions calls each for the versions of a feed that have a payload, by deal and version. The copies are of
// deal_versions, at most compactFiles of them; they are read at once. A payload whose SHA-256 is not its payload_hash
// is an error. The version that each receives is valid during the call only.
func (c *copies) versions(ctx context.Context, feed api.Feed, each func(*storedVersion) error) error {
	columns := lake.PickColumns(lake.DealVersionColumns(), "kind", "deal_id", "version", "run_id", "payload_hash", "payload")
	return c.each(ctx, feed.Market, feed.Kind, columns, func(r mergedRow) error {
		cell := func(column int) arrow.Array { return r.record.Column(r.from[column]) }
		if cell(5).IsNull(r.row) {
			return nil // a removal
		}
		payload := []byte(cell(5).(*array.String).Value(r.row))
		sum := sha256.Sum256(payload)
		if hash := cell(4).(*array.FixedSizeBinary); hash.IsNull(r.row) || string(hash.Value(r.row)) != string(sum[:]) {
			return fmt.Errorf("%s deal %d version %d: the payload's SHA-256 differs from payload_hash; run `dealflow verify --read-data`", feed, r.key.DealID, r.key.Version)
		}
		return each(&storedVersion{
			DealID: r.key.DealID, Version: r.key.Version, RunID: cell(3).(*array.String).Value(r.row), Payload: payload,
		})
	})
}

// payloads is load.Lake.Payloads, read from the copies. They must be all files of deal_versions of the feed's market.
func (c *copies) payloads(ctx context.Context, feed api.Feed, versions map[int64]int32) (map[int64]load.Payload, error) {
	return c.lake.Payloads(ctx, c.mem, feed, versions)
}

// currentVersions returns the version of each deal of a feed that was current as of an instant. The copies must be all
// files of deal_versions of the feed's market.
func (c *copies) currentVersions(ctx context.Context, feed api.Feed, instant lake.Instant) (map[int64]int32, error) {
	newest := map[int64]int32{}
	removed := map[int64]int32{} // the newest removal
	for _, f := range c.files {
		err := parquet.Scan(ctx, c.store, c.mem, f.Path, []string{"kind", "deal_id", "version", "known_at", "change"}, parquet.GroupsOf(&f, feed.Market, nil), func(record arrow.Record) error {
			for row := range int(record.NumRows()) {
				known := int64(record.Column(3).(*array.Timestamp).Value(row))
				if known > instant.UnixMicro() || record.Column(0).(*array.String).Value(row) != string(feed.Kind) {
					continue
				}
				id, version := record.Column(1).(*array.Int64).Value(row), record.Column(2).(*array.Int32).Value(row)
				newest[id] = max(newest[id], version)
				if record.Column(4).(*array.String).Value(row) == lake.Removed {
					removed[id] = max(removed[id], version)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for id, version := range removed {
		if newest[id] == version {
			delete(newest, id)
		}
	}
	return newest, nil
}
