package extract

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"dealflow/schemas/api"
)

// maxRestarts bounds how often a walk is begun again whose cursor the server no longer takes.
const maxRestarts = 3

// pass is what one walk over a list, or over what an updatedSince link gives, has brought.
type pass struct {
	keeper
	pages    int
	fresh    int       // deals new or changed, or newly unreadable
	opening  []mark    // of the first page
	observed time.Time // the latest of all pages
	took     time.Duration
}

// mark is what stands at one place of a list: which record, and when it was updated.
type mark struct {
	id    int64
	hasID bool
	since time.Time // zero: the record does not say
}

// pass walks from start to the end and spools what it finds. Where the server no longer takes a cursor
// of its own, it begins again from start: a sweep from its kept link, a walk from the head of the list.
// What is already spooled does no harm, and only what the whole new pass brings counts as fresh. A walk
// cannot go on from a later place: an updatedSince link bounds a list from below, so none asks for the
// older rest that is still to be read.
func (j *job) pass(ctx context.Context, start string) (*pass, error) {
	began := time.Now()
	for restart := 0; ; restart++ {
		p := new(pass)
		err := j.walk(ctx, start, func(l *leaf) error { return j.take(p, l) })
		if err == nil {
			p.took = time.Since(began)
			return p, nil
		}
		expired := statusOf(err) == http.StatusBadRequest || statusOf(err) == http.StatusGone
		switch {
		case !expired || failedPage(err) < 2:
			return nil, err
		case restart == maxRestarts:
			return nil, fmt.Errorf("the server stopped taking its own cursor in %d walks: %w", restart+1, err)
		}
		j.tally.restarts.Add(1)
		j.log.Warn("the cursor is no longer taken, walking again", "error", err)
	}
}

// take spools the records of one page.
func (j *job) take(p *pass, l *leaf) error {
	p.pages = l.number
	if l.number == 1 {
		p.dated = l.dated
	}
	p.page()
	resolve := func(href string) (string, error) { return j.client.resolve(l.url, href) }
	for _, record := range l.page.Records {
		fresh, head, err := j.spool.take(record, l.observed, l.url)
		if err != nil {
			return err
		}
		// A record without a readable id is no deal's: the list may be complete without it, and a server that
		// spells it anew in each answer would never have told all.
		if fresh && head.HasID {
			p.fresh++
		}
		at, _ := api.UpdatedSinceTime(head.UpdatedSince)
		if l.number == 1 {
			p.opening = append(p.opening, mark{id: head.ID, hasID: head.HasID, since: at.UTC()})
		}
		if err := p.consider(at, head.UpdatedSince, resolve); err != nil {
			return err
		}
	}
	p.observed = latest(p.observed, l.observed)
	j.progress(0, "")
	return nil
}

// take spools one record, as a deal or as rejected.
func (s *Spool) take(record []byte, observed time.Time, url string) (fresh bool, head api.Head, err error) {
	head, err = api.ReadHead(record, s.feed)
	var reject *api.Reject
	switch {
	case err == nil:
		fresh, err = s.Put(head, record, observed)
	case errors.As(err, &reject):
		fresh, err = s.PutReject(Rejected{Raw: record, Reject: reject, ID: head.ID, HasID: head.HasID, ObservedAt: observed, URL: url})
	}
	return fresh, head, err
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
