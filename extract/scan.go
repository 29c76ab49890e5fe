package extract

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"dealflow/schemas/api"
)

// maxRestarts is how often a walk is restarted whose cursor the server no longer accepts.
const maxRestarts = 3

// maxStale is how many pages in a row may show nothing new in a walk that began with an empty spool. A list that grows in front
// of a cursor that counts positions shows some entries again, but not this many pages.
const maxStale = 100

// scan is the result of one walk over a list, or over what an updatedSince link returns.
type scan struct {
	linkTracker
	pages    int
	fresh    int         // number of deals that are new, changed or newly unreadable
	empty    bool        // the spool was empty when the walk began
	stale    int         // pages since the last one with such a deal
	opening  []listEntry // entries of the first page
	observed time.Time   // latest instant of observation of all pages
	took     time.Duration
}

// listEntry is the identity of a record in a list, and when it was updated.
type listEntry struct {
	id    int64
	hasID bool
	since time.Time // zero: the record does not say
}

// scan walks from start to the end and spools what it reads. If the server no longer accepts one of its own cursors,
// scan restarts from start: a sweep from its kept link, a walk from the beginning of the list. Payloads that are
// already spooled do no harm; only what the complete last walk adds counts as fresh. A walk cannot continue from a
// later position: an updatedSince link bounds a list from below, so no link returns the older rest.
func (j *job) scan(ctx context.Context, start string) (*scan, error) {
	began := time.Now()
	for restart := 0; ; restart++ {
		p := &scan{empty: j.spool.isEmpty()}
		err := j.walk(ctx, start, func(l *listPage) error { return j.spoolPage(p, l) })
		if err == nil {
			p.took = time.Since(began)
			return p, nil
		}
		expired := statusOf(err) == http.StatusBadRequest || statusOf(err) == http.StatusGone
		switch {
		case !expired || failedPage(err) < 2:
			return nil, err
		case restart == maxRestarts:
			return nil, fmt.Errorf("the server refused its own cursor in each of %d walks: %w", restart+1, err)
		}
		j.tally.restarts.Add(1)
		j.log.Warn("the server refused its own cursor; reading again from the start", "error", err)
	}
}

// spoolPage spools the records of one page.
func (j *job) spoolPage(p *scan, l *listPage) error {
	p.pages = l.number
	if l.number == 1 {
		p.dated = l.dated
	}
	p.startPage()
	before := p.fresh
	j.spool.putPageDrift(l.page.Drift)
	// The record that is spooled last replaces the others of its deal, so the newest one is: the first of a page where the
	// list is in order of update.
	records := slices.All(l.records)
	if j.feed.HasUpdatedSince() {
		records = slices.Backward(l.records)
	}
	for _, record := range records {
		fresh, err := j.spool.putRecord(record, l.observed, l.url)
		if err != nil {
			return err
		}
		// A record without a readable id belongs to no deal, so the list can be complete without it. A server that
		// spells it differently in each answer would make the list look incomplete for ever.
		if fresh && record.head.HasID {
			p.fresh++
		}
	}
	resolve := func(href string) (string, error) { return j.resolve(l.url, href) }
	for i := range l.records {
		head := l.records[i].head
		updated, _ := api.UpdatedSinceTime(head.UpdatedSince)
		if l.number == 1 {
			p.opening = append(p.opening, listEntry{id: head.ID, hasID: head.HasID, since: updated.UTC()})
		}
		if err := p.consider(updated, head.UpdatedSince, resolve); err != nil {
			return err
		}
	}
	p.observed = latest(p.observed, l.observed)
	j.progress(0, "")
	if p.stale++; p.fresh > before {
		p.stale = 0
	}
	if p.empty && p.stale == maxStale {
		return fmt.Errorf("the last %d pages have no deal that the pages before them lack; the list seems to have no end", p.stale)
	}
	return nil
}

// putRecord spools one record, as a deal or as rejected.
func (s *Spool) putRecord(record listRecord, observed time.Time, url string) (fresh bool, err error) {
	var reject *api.Reject
	switch {
	case record.err == nil:
		return s.Put(record.head, record.raw, observed)
	case errors.As(record.err, &reject):
		return s.PutReject(Rejected{Raw: record.raw, Reject: reject, ID: record.head.ID, HasID: record.head.HasID, ObservedAt: observed, URL: url})
	}
	return false, record.err
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
