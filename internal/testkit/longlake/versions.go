package longlake

import (
	"context"
	"errors"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"dealflow/load"
	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// writeVersions writes a market's file of history/deal_versions: the night's new versions of its feeds.
func writeVersions(ctx context.Context, run *load.Transaction, market api.Market, feeds []*feed, night Night) (err error) {
	batches := transform.NewVersionBatches(memory.DefaultAllocator)
	defer batches.Release()
	out := parquet.Output{Create: func() (*parquet.Writer, error) { return run.History(lake.DealVersions, market) }}
	defer func() { err = errors.Join(err, out.Abort()) }()
	flush := func() error {
		batch := batches.Take()
		defer batch.Record.Release()
		return out.Write(batch)
	}
	for _, f := range feeds {
		var payload []byte
		for _, n := range f.added {
			if err := ctx.Err(); err != nil {
				return err
			}
			version, err := f.version(n, night, payload)
			if err != nil {
				return err
			}
			batches.Append(version)
			payload = version.Payload
			if batches.Bytes() < parquet.RowGroupBytes {
				continue
			}
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return out.Finish(ctx)
}

// version is a row of deal_versions. Its payload uses buf.
func (f *feed) version(n newVersion, night Night, buf []byte) (*transform.DealVersion, error) {
	v := &transform.DealVersion{
		Feed: f.feed, DealID: n.id, Version: n.version, Change: n.change, Reason: n.reason,
		KnownAt: night.KnownAt, ObservedAt: night.Observed, RunID: night.RunID,
		ContentHash: n.latest.ContentHash, PayloadHash: n.latest.PayloadHash,
	}
	if n.change == lake.Removed {
		return v, nil
	}
	var err error
	if v.Payload, err = f.deals.Payload(n.id, buf); err != nil {
		return nil, err
	}
	record, err := api.ReadRecordID(v.Payload, f.feed)
	if err != nil {
		return nil, err
	}
	v.UpdatedSince = f.base.Relative(record.UpdatedSince)
	v.SourceUpdatedAt, _ = api.UpdatedSinceTime(record.UpdatedSince)
	return v, nil
}
