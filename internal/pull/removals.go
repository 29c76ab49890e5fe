package pull

import (
	"context"
	"fmt"
	"slices"

	"dealflow/extract"
	"dealflow/load"
	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// The removal guard (docs/explanation/extraction.md).
const (
	guardCount       = 10  // number of deals that may always vanish
	guardPercent     = 10  // percentage of a feed's deals that may vanish in one run
	maxConfirmations = 500 // number of a feed's deals that one run asks for by id
)

// heldError means that a feed is held until a person has looked at it.
type heldError struct{ why string }

func (e *heldError) Error() string {
	return e.why + "; look at the source, then run again with --accept-removals if it is right"
}

// resolveAbsent finds out what became of known deals that the complete snapshot lacks. If some records had no readable
// id, any deal may be among them, so nothing is removed.
func (r *run) resolveAbsent(ctx context.Context, f *feedRun) error {
	known := r.heads[f.Feed]
	listed := f.spool.IDs()
	absent := r.reallyAbsent(f, known)
	if f.unidentified {
		f.kept = append(f.kept, absent...)
		return nil
	}
	if len(absent) == 0 {
		return nil
	}
	if !r.AcceptRemovals {
		if err := guard(f.Feed, len(listed), len(absent), countCurrent(known)); err != nil {
			return err
		}
	}
	fates, err := r.Client.Confirm(ctx, f.Feed, absent, probes(listed), f.spool)
	if err != nil {
		return err
	}
	return r.removalsFrom(ctx, f, absent, fates)
}

// probes returns listed deals that are asked for by id as well: only if the API returns them can its by-id answers be
// believed. They are the first, the last, and one in between.
func probes(listed []int64) []int64 {
	if len(listed) < 3 {
		return listed
	}
	return []int64{listed[0], listed[len(listed)/2], listed[len(listed)-1]}
}

// reallyAbsent lists known deals that are neither in the spool nor among the rejected records. A deal whose record was
// rejected keeps its last version; so does a deal that another run has observed later.
func (r *run) reallyAbsent(f *feedRun, known lake.Heads) []int64 {
	absent := slices.DeleteFunc(transform.Absent(known, f.observations()), func(id int64) bool {
		if f.superseded[id] {
			f.kept = append(f.kept, id)
		}
		return f.superseded[id]
	})
	for _, q := range f.spool.Rejects() {
		if i, found := slices.BinarySearch(absent, q.ID); q.HasID && found {
			f.kept = append(f.kept, q.ID)
			absent = slices.Delete(absent, i, i+1)
		}
	}
	return absent
}

// countCurrent counts the deals that are not removed.
func countCurrent(known lake.Heads) int {
	n := 0
	for _, head := range known {
		if !head.Removed {
			n++
		}
	}
	return n
}

// guard returns a heldError if more deals of a feed vanished than is plausible. Expected deals vanish from their list
// when they price, so for them only an empty list and the number of requests count.
func guard(feed api.Feed, listed, absent, current int) error {
	switch {
	case listed == 0 && current > guardCount:
		return &heldError{fmt.Sprintf("the list is empty, where %d deals stood", current)}
	case feed.Kind == api.Priced && absent > guardCount && absent*100 > current*guardPercent:
		return &heldError{fmt.Sprintf("%d of %d deals vanished from the list", absent, current)}
	case absent > maxConfirmations:
		return &heldError{fmt.Sprintf("%d deals vanished from the list, too many to ask for one by one", absent)}
	}
	return nil
}

// removalsFrom turns the API's answers into removals.
func (r *run) removalsFrom(ctx context.Context, f *feedRun, absent []int64, fates map[int64]extract.Fate) error {
	known := r.heads[f.Feed]
	gone := map[int64]int32{}
	for _, id := range absent {
		if fates[id] == extract.Gone {
			gone[id] = known[id].Version
		}
	}
	last, err := r.lake.Payloads(ctx, r.Memory, f.Feed, gone)
	if err != nil {
		return err
	}
	now := r.clock.now()
	r.clock.observe(now)
	flattener := transform.NewFlattener(f.Feed, r.Base)
	for _, id := range absent {
		switch fates[id] {
		case extract.Gone:
			f.removals = append(f.removals, transform.Removal{ID: id, Reason: reasonOf(flattener, last[id]), ObservedAt: now})
		case extract.OutOfEntitlement:
			f.removals = append(f.removals, transform.Removal{ID: id, Reason: lake.ReasonOutOfEntitlement, ObservedAt: now})
		case extract.Standing:
			r.keep(f, id)
		}
	}
	return nil
}

// keep handles a deal that the API returned by id. If it cannot be read, it still exists: it keeps its last version.
func (r *run) keep(f *feedRun, id int64) {
	if entry, ok := f.spool.Entry(id); ok {
		r.clock.observe(entry.ObservedAt)
	} else {
		f.kept = append(f.kept, id)
	}
}

// reasonOf returns why a deal is gone: an expected deal whose last payload links to a priced deal has priced.
func reasonOf(f *transform.Flattener, last load.Payload) string {
	if _, err := f.Read(last.Bytes); err == nil && f.HasPricedDeal() {
		return lake.ReasonPriced
	}
	return lake.ReasonGone
}
