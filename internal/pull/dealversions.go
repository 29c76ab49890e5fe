package pull

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"dealflow/load/parquet"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// writeVersions writes history/deal_versions: one file per market, with the new versions of its feeds. It writes up to
// Workers markets at once.
func (r *run) writeVersions(ctx context.Context, feeds []*feedRun, known lake.Instant) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(r.Workers)
	for _, service := range api.Services() {
		for _, market := range api.Markets(service) {
			marketFeeds := slices.DeleteFunc(slices.Clone(feeds), func(f *feedRun) bool { return f.Feed.Market != market })
			group.Go(func() error { return r.writeMarketVersions(ctx, market, marketFeeds, known) })
		}
	}
	return group.Wait()
}

func (r *run) writeMarketVersions(ctx context.Context, market api.Market, feeds []*feedRun, known lake.Instant) (err error) {
	batches := transform.NewVersionBatches(r.Memory)
	defer batches.Release()
	out := parquet.Output{Create: func() (*parquet.Writer, error) { return r.session.History(lake.DealVersions, market) }}
	defer func() { err = errors.Join(err, out.Abort()) }()
	flush := func() error {
		batch := batches.Take()
		defer batch.Record.Release()
		return out.Write(batch)
	}
	for _, f := range feeds {
		err := r.feedVersions(ctx, f, known, func(v *transform.DealVersion) error {
			batches.Append(v)
			if batches.Bytes() < parquet.RowGroupBytes {
				return nil
			}
			return flush()
		})
		if err != nil {
			return err
		}
	}
	if err := flush(); err != nil {
		return err
	}
	return out.Finish(ctx)
}

// feedVersions yields the new versions of a feed in deal_id order. A version is valid during the call only.
func (r *run) feedVersions(ctx context.Context, f *feedRun, known lake.Instant, yield func(*transform.DealVersion) error) error {
	var buf []byte
	for i := range f.decisions.Deals {
		d := &f.decisions.Deals[i]
		if d.Change() == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		v := transform.DealVersion{Feed: f.Feed, DealID: d.ID, Version: d.Latest.Version, Change: d.Change(), KnownAt: known.Time, RunID: r.RunID}
		if removal, removed := f.decisions.Removals[d.ID]; removed {
			v.Reason, v.ObservedAt = removal.Reason, removal.ObservedAt
		} else {
			var err error
			if buf, err = f.spool.Payload(d.ID, buf); err != nil {
				return err
			}
			entry, _ := f.spool.Entry(d.ID)
			v.SourceUpdatedAt, _ = api.UpdatedSinceTime(entry.UpdatedSince)
			v.ObservedAt, v.UpdatedSince = entry.ObservedAt, r.Base.Relative(entry.UpdatedSince)
			v.ContentHash, v.PayloadHash, v.Payload = d.Latest.ContentHash, d.Latest.PayloadHash, buf
		}
		if err := yield(&v); err != nil {
			return err
		}
	}
	return nil
}
