package longlake

import (
	"context"

	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/serve"
	"dealflow/transform"
)

// feed is the state of one feed between nights. One goroutine at a time uses it.
type feed struct {
	feed      api.Feed
	base      api.Base
	latest    lake.Latest
	deals     observations           // of the last night
	drift     map[int64][]lake.Drift // of the current deals that have any
	canonical *transform.Canonicalizer
	flattener *transform.Flattener

	// Of the night:
	added []newVersion // by deal_id
	run   lake.FeedRun
}

// newVersion is a version that the night adds.
type newVersion struct {
	id      int64
	version int32
	change  string
	reason  string // of a removal
	latest  lake.LatestVersion
}

func newFeed(named api.Feed, base api.Base) *feed {
	return &feed{
		feed: named, base: base, latest: lake.Latest{}, deals: newObservations(), drift: map[int64][]lake.Drift{},
		canonical: transform.NewCanonicalizer(base), flattener: transform.NewFlattener(named, base),
	}
}

// night decides the versions of the observed deals and writes their rows.
func (f *feed) night(ctx context.Context, run *load.Transaction, night Night, records []serve.Record) error {
	f.added = nil
	f.run = lake.FeedRun{
		Feed: f.feed, Outcome: lake.OutcomeDone, BaseURL: f.base.String(), UpdatedSince: f.updatedSince(records),
		StartedAt: lake.At(night.Observed), FinishedAt: lake.At(night.KnownAt), Deals: int64(len(records)),
	}
	f.deals.observe(records)
	removals, err := f.removals(night)
	if err != nil {
		return err
	}
	if err := f.decide(removals); err != nil {
		return err
	}
	if err := f.writeRows(ctx, run, night); err != nil {
		return err
	}
	f.run.Drift = f.sumDrift()
	return nil
}

// decide numbers the new versions of the deals that were observed or removed.
func (f *feed) decide(removals []transform.Removal) error {
	decisions, err := transform.Decide(f.latest, &f.deals, removals, f.canonical, true)
	if err != nil {
		return err
	}
	for _, reject := range decisions.Rejects {
		return reject // the market has no unreadable records
	}
	for i := range decisions.Deals {
		d := &decisions.Deals[i]
		f.latest[d.ID] = d.Latest
		switch d.Change() {
		case lake.Added:
			f.run.Added++
		case lake.Changed:
			f.run.Changed++
		case lake.Reappeared:
			f.run.Reappeared++
		case lake.Removed:
			f.run.Removed++
			f.run.Confirmations++
			f.added = append(f.added, newVersion{id: d.ID, version: d.Latest.Version, change: d.Change(), reason: decisions.Removals[d.ID].Reason})
			f.deals.forget(d.ID)
			delete(f.drift, d.ID)
			continue
		default:
			f.run.Unchanged++
			continue
		}
		f.added = append(f.added, newVersion{id: d.ID, version: d.Latest.Version, change: d.Change(), latest: d.Latest})
	}
	return nil
}

// removals lists the deals that the API no longer returns by id. An API would answer with the market's state, so that
// is read directly.
func (f *feed) removals(night Night) ([]transform.Removal, error) {
	var removals []transform.Removal
	for _, id := range transform.Absent(f.latest, &f.deals) {
		reason, err := f.reason(id)
		if err != nil {
			return nil, err
		}
		removals = append(removals, transform.Removal{ID: id, Reason: reason, ObservedAt: night.Observed})
	}
	return removals, nil
}

// reason returns why a deal was removed: it has priced if its last payload links to a priced deal.
func (f *feed) reason(id int64) (string, error) {
	payload, err := f.deals.Payload(id, nil)
	if err != nil {
		return "", err
	}
	if _, err := f.flattener.Read(payload); err != nil {
		return "", err
	}
	if f.flattener.HasPricedDeal() {
		return lake.ReasonPriced, nil
	}
	return lake.ReasonGone, nil
}
