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

// storedVersion is a version with a payload, as deal_versions holds it.
type storedVersion struct {
	DealID  int64
	Version int32
	RunID   string // the run that brought it
	Payload []byte
}

// versions calls each for the versions of a feed that have a payload, by deal and version. The copies are
// of deal_versions, compactFiles of them at most; they are read side by side. A payload that has not the
// hash beside it is an error. What each gets is good during the call only.
func (c *copies) versions(ctx context.Context, feed api.Feed, each func(*storedVersion) error) error {
	columns := lake.PickColumns(lake.DealVersionColumns(), "kind", "deal_id", "version", "run_id", "payload_hash", "payload")
	return c.each(ctx, feed.Kind, columns, func(at merged) error {
		cell := func(column int) arrow.Array { return at.record.Column(at.from[column]) }
		if cell(5).IsNull(at.row) {
			return nil // a removal
		}
		payload := []byte(cell(5).(*array.String).Value(at.row))
		sum := sha256.Sum256(payload)
		if hash := cell(4).(*array.FixedSizeBinary); hash.IsNull(at.row) || string(hash.Value(at.row)) != string(sum[:]) {
			return fmt.Errorf("%s deal %d version %d: the payload is not the one that was received (its hash differs); run `dealflow verify --read-data`", feed, at.key.DealID, at.key.Version)
		}
		return each(&storedVersion{
			DealID: at.key.DealID, Version: at.key.Version, RunID: cell(3).(*array.String).Value(at.row), Payload: payload,
		})
	})
}

// payloads is load.Lake.Payloads from copies of all files of deal_versions of the feed's market.
func (c *copies) payloads(ctx context.Context, feed api.Feed, versions map[int64]int32) (map[int64]load.Payload, error) {
	return c.lake.Payloads(ctx, c.mem, feed, versions)
}

// standing gives the version of each deal of a feed that stood at an instant, from copies of all files of
// deal_versions of the feed's market.
func (c *copies) standing(ctx context.Context, feed api.Feed, at lake.Instant) (map[int64]int32, error) {
	newest := map[int64]int32{}
	removed := map[int64]int32{} // the newest removal
	for _, f := range c.files {
		err := parquet.Scan(ctx, c.store, c.mem, f.Path, []string{"kind", "deal_id", "version", "known_at", "change"}, nil, func(record arrow.Record) error {
			for row := range int(record.NumRows()) {
				known := int64(record.Column(3).(*array.Timestamp).Value(row))
				if known > at.UnixMicro() || record.Column(0).(*array.String).Value(row) != string(feed.Kind) {
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
