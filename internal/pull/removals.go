package pull

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"dealflow/extract"
	"dealflow/load"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// resolveAbsent finds out what became of known deals that the complete snapshot lacks. A deal is removed only on
// evidence, or if the user accepts removals; any other deal is kept.
func (r *run) resolveAbsent(ctx context.Context, f *feedRun) error {
	a := r.absence(f)
	if len(a.fresh)+len(a.again)+len(a.standing) == 0 {
		return nil
	}
	q, err := r.question(ctx, f, a)
	if err != nil {
		return err
	}
	confirmed, err := r.Client.Confirm(ctx, f.Feed, q, f.spool)
	if err != nil {
		return err
	}
	if !r.AcceptRemovals {
		if err := a.guardEmpty(confirmed); err != nil {
			return err
		}
	}
	removals, err := r.removalsFrom(ctx, f, a, confirmed)
	if err != nil {
		return err
	}
	if !r.AcceptRemovals {
		warning, err := r.guardLeaving(ctx, f, a, removals)
		if err != nil {
			return err
		}
		if warning != "" {
			f.warnings = append(f.warnings, warning)
		}
	}
	f.removals = removals
	r.keepOthers(f, a, confirmed)
	return nil
}

// absence lists the current deals that the complete snapshot lacks.
func (r *run) absence(f *feedRun) *absence {
	known := r.latest[f.Feed]
	unproved, standing := r.lake.Log().Absent(f.Feed)
	a := &absence{feed: f.Feed, day: r.day, listed: f.listed}
	for _, id := range r.reallyAbsent(f, known) {
		switch {
		case contains(unproved, id):
			a.again = append(a.again, id)
		case contains(standing, id):
			a.standing = append(a.standing, id)
		default:
			a.fresh = append(a.fresh, id)
		}
	}
	a.known = countCurrent(known) - len(a.again) - len(a.standing)
	return a
}

// contains says whether a sorted list has a deal.
func contains(sorted []int64, id int64) bool {
	_, found := slices.BinarySearch(sorted, id)
	return found
}

// question says which absent deals are requested by id, and which deals show that the answers can be believed. It
// returns a heldError if the guard holds the feed without any request.
func (r *run) question(ctx context.Context, f *feedRun, a *absence) (extract.Question, error) {
	q := extract.Question{IDs: a.fresh, Again: slices.Concat(a.again, a.standing)}
	if !r.AcceptRemovals {
		if err := a.guard(); err != nil {
			return q, err
		}
		turn := r.lake.Log().Snapshots(f.Feed)
		q.Again = slices.Concat(inTurn(a.again, turn, maxRepeated), inTurn(a.standing, turn, maxConfirmations))
	}
	if a.listed > 0 {
		q.Shown = []extract.Shown{{Feed: f.Feed, IDs: f.probes}}
		return q, nil
	}
	shown, empty, err := r.neighbours(ctx, f.Feed)
	if err != nil {
		return q, err
	}
	if empty != nil && len(a.fresh) > 0 && !r.AcceptRemovals {
		return q, a.held("the list is empty, but %d deals are current, and so is that of %s", a.known, empty)
	}
	q.Shown = shown
	return q, nil
}

// inTurn returns the deals that are requested again in this run, no more than most: the next ones after each snapshot, and
// all of them in turn.
func inTurn(ids []int64, snapshots, most int) []int64 {
	if len(ids) <= most {
		return ids
	}
	start := snapshots * most % len(ids)
	return slices.Concat(ids[start:], ids[:start])[:most]
}

// probes returns listed deals that are asked for by id as well: only if the API returns them can its by-id answers be
// believed. They are the first, the last, and one in between.
func probes(listed []int64) []int64 {
	if len(listed) < 3 {
		return listed
	}
	return []int64{listed[0], listed[len(listed)/2], listed[len(listed)-1]}
}

// listedIDs returns the deals of a list, also those that cannot be read, by deal_id. A record without a readable id is
// no deal.
func listedIDs(spool *extract.Spool) []int64 {
	ids := spool.IDs()
	for _, q := range spool.Rejects() {
		if q.HasID {
			ids = append(ids, q.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// reallyAbsent lists known deals that are neither in the spool nor among the rejected records. A deal whose record was
// rejected keeps its last version; so does a deal that another run has observed later.
func (r *run) reallyAbsent(f *feedRun, known lake.Latest) []int64 {
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
func countCurrent(known lake.Latest) int {
	n := 0
	for _, latest := range known {
		if !latest.Removed {
			n++
		}
	}
	return n
}

// accepts says whether an answer removes its deal: by evidence, or because the user accepts removals. The user accepts
// no answers of an API that denies the deals that it lists.
func (r *run) accepts(a *absence, confirmed *extract.Confirmation, id int64) bool {
	said := confirmed.Answers[id]
	if said.Says != extract.Gone && said.Says != extract.OutOfEntitlement {
		return false
	}
	return said.Proved || r.AcceptRemovals && (confirmed.Believed || a.listed == 0)
}

// removalsFrom turns the API's answers into removals, by deal_id.
func (r *run) removalsFrom(ctx context.Context, f *feedRun, a *absence, confirmed *extract.Confirmation) ([]transform.Removal, error) {
	known := r.latest[f.Feed]
	gone := map[int64]int32{}
	for id, said := range confirmed.Answers {
		if said.Says == extract.Gone && r.accepts(a, confirmed, id) {
			gone[id] = known[id].Version
		}
	}
	last, err := r.lake.Payloads(ctx, r.Memory, f.Feed, gone)
	if err != nil {
		return nil, err
	}
	now := r.clock.Now()
	r.clock.Observe(now)
	flattener := transform.NewFlattener(f.Feed, r.Base)
	var removals []transform.Removal
	for _, id := range slices.Sorted(maps.Keys(confirmed.Answers)) {
		if !r.accepts(a, confirmed, id) {
			continue
		}
		reason := lake.ReasonOutOfEntitlement
		if confirmed.Answers[id].Says == extract.Gone {
			reason = reasonOf(flattener, last[id])
		}
		removals = append(removals, transform.Removal{ID: id, Reason: reason, ObservedAt: now})
	}
	return removals, nil
}

// keepOthers keeps the absent deals that are not removed, and lists them: those that the API returned, also in an earlier run
// since which it was not asked or gave no answer, and those without evidence.
func (r *run) keepOthers(f *feedRun, a *absence, confirmed *extract.Confirmation) {
	for _, id := range slices.Concat(a.fresh, a.again, a.standing) {
		says := confirmed.Answers[id].Says
		switch {
		case says == extract.Present:
			r.keep(f, id)
			f.byID[id] = r.clock.Now()
			f.StandingAbsent = append(f.StandingAbsent, id)
		case (says == "" || says == extract.NoAnswer) && contains(a.standing, id):
			f.kept = append(f.kept, id)
			f.StandingAbsent = append(f.StandingAbsent, id)
		case !r.accepts(a, confirmed, id):
			f.kept = append(f.kept, id)
			f.UnprovedAbsent = append(f.UnprovedAbsent, id)
		}
	}
	slices.Sort(f.UnprovedAbsent)
	slices.Sort(f.StandingAbsent)
}

// stillAbsent adds to what a run that decides again says of absent deals those that it has asked for before: the API has returned them by id, so
// they look as if the list had shown them. For deals that were observed before the instant reread, at which another run began to read the
// complete feed, that run's list counts.
func (r *run) stillAbsent(f *feedRun, reread time.Time) {
	unproved, standing := r.lake.Log().Absent(f.Feed)
	for _, id := range listedIDs(f.spool) {
		at, isByID := f.byID[id]
		if entry, isRead := f.spool.Entry(id); isRead {
			at = entry.ObservedAt
		}
		switch isTheirs := at.Before(reread); {
		case !isTheirs && isByID, isTheirs && contains(standing, id):
			f.StandingAbsent = append(f.StandingAbsent, id)
		case isTheirs && contains(unproved, id):
			f.UnprovedAbsent = append(f.UnprovedAbsent, id)
		}
	}
	slices.Sort(f.UnprovedAbsent)
	slices.Sort(f.StandingAbsent)
	f.StandingAbsent = slices.Compact(f.StandingAbsent) // of those that were asked for again just now
}

// keep handles a deal that the API returned by id. If it cannot be read, it still exists: it keeps its last version.
func (r *run) keep(f *feedRun, id int64) {
	if entry, ok := f.spool.Entry(id); ok {
		r.clock.Observe(entry.ObservedAt)
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

// unprovedWarning returns the text of the warning about deals that are kept without evidence; "" for none.
func unprovedWarning(f *lake.FeedRun, day string) string {
	n := len(f.UnprovedAbsent)
	if n == 0 || f.Outcome != lake.OutcomeDone {
		return ""
	}
	return fmt.Sprintf("%s: the list lacks %d deals, and the API gives no evidence that they are gone, so they are kept: deals %s; if they are gone, %s", f.Feed, n, firstOf(f.UnprovedAbsent), RemovalCommand(day, f.Feed))
}
