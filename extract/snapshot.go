package extract

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"time"

	"dealflow/schemas/api"
)

const (
	// overlap is how much older than a list's first entry the entry must be whose updatedSince link is
	// kept: the API tells whole seconds, and "since" may exclude its own second.
	overlap = 2 * time.Second
	// maxWalks bounds the walks of a list that has no updatedSince link.
	maxWalks = 5
	// maxRestarts bounds how often a walk is begun again whose cursor the server no longer takes.
	maxRestarts = 3
)

// Snapshot says how a feed was read completely. The payloads are in the spool.
type Snapshot struct {
	Counts
	Feed         api.Feed
	Deals        int       // deals in the spool
	UpdatedSince string    // link from which a later sync goes on, relative to the base where it lies under it; "" if the list offers none
	LastObserved time.Time // the latest instant of observation, UTC
	// Unidentified is the number of records whose id could not be read. If it is not 0, any deal may be
	// among them: the caller must not declare removals.
	Unidentified int
}

// Snapshot reads a feed into the spool, which should be empty, and returns once it is proved complete
// (API document, List behaviour 2 to 5). A list moves while it is walked: a deal that is updated jumps
// ahead of the reader and is missed. So, for lists in order of update, the updatedSince link of an
// entry of the first page is kept and followed after the walk, and again from there, until that brings
// nothing new. Lists without such links are walked again until nothing is new. A list of one page is
// read at once.
//
// Errors name the feed, page and URL. IsForbiddenOrMissing tells a feed that is not part of the
// account; *UnsettledError a list that moves too fast; *AuthError refused credentials. After an error
// the spool's content proves nothing.
func (c *Client) Snapshot(ctx context.Context, feed api.Feed, spool *Spool) (Snapshot, error) {
	if spool.Feed() != feed {
		return Snapshot{}, fmt.Errorf("%s: the spool is for %s", feed, spool.Feed())
	}
	j := c.job(feed, "walk")
	j.spool = spool
	before := j.tally.counts()
	s, err := j.snapshot(ctx)
	s.Feed, s.Counts, s.Deals = feed, j.tally.counts().minus(before), spool.Len()
	if err != nil {
		return s, fmt.Errorf("%s: %w", feed, err)
	}
	for _, r := range spool.Rejects() {
		if !r.HasID {
			s.Unidentified++
		}
	}
	j.log.Info("snapshot complete", "deals", s.Deals, "pages", s.Pages, "sweeps", s.Sweeps, "requests", s.Requests, "bytes", s.Bytes)
	return s, nil
}

func (j *job) snapshot(ctx context.Context) (s Snapshot, err error) {
	rounds := 1 + j.client.cfg.MaxSweeps
	if !j.feed.HasUpdatedSince() {
		rounds = min(rounds, maxWalks)
	}
	list := j.client.cfg.Base.String() + j.feed.Path()
	kept := "" // the updatedSince link to sweep from; "": there is none yet, walk the whole list
	for j.round = 1; ; j.round++ {
		start := list
		j.phase = "walk"
		if kept != "" {
			start, j.phase = kept, "sweep"
		}
		p, err := j.pass(ctx, start)
		if err != nil {
			return s, j.describe(err)
		}
		if p.observed.After(s.LastObserved) {
			s.LastObserved = p.observed
		}
		whole := kept == ""
		if p.keep != "" {
			kept = p.keep
			s.UpdatedSince = j.client.cfg.Base.Relative(kept)
		}
		settled, err := j.settled(ctx, start, whole, p)
		switch {
		case err != nil:
			return s, j.describe(err)
		case settled:
			return s, nil
		case j.round >= rounds:
			return s, &UnsettledError{Feed: j.feed, Rounds: j.round, Fresh: p.fresh, Took: p.took}
		}
		j.tally.sweeps.Add(1)
		j.log.Debug("sweeping", "round", j.round, "fresh", p.fresh, "url", kept)
	}
}

// settled says whether, after this pass, the spool holds the list as it stood at one instant.
func (j *job) settled(ctx context.Context, start string, whole bool, p *pass) (bool, error) {
	if whole && p.pages == 1 {
		return true, nil // the whole list came in one answer
	}
	if j.round == 1 || p.fresh > 0 {
		return false, nil
	}
	if p.pages == 1 || !j.feed.HasUpdatedSince() {
		return true, nil
	}
	// Nothing new in several pages: it holds if none jumped ahead meanwhile, which the first page would
	// show.
	j.phase = "check"
	again, err := j.fetchFirst(ctx, start)
	if err != nil {
		return false, err
	}
	defer again.answer.release()
	return digest(again.page.Records) == p.opening, nil
}

// describe says in which round something failed, and marks the answer to a feed's very first request.
func (j *job) describe(err error) error {
	if j.round > 1 {
		return fmt.Errorf("%s %d: %w", j.phase, j.round, err)
	}
	if status := refusal(err); status != nil && failedPage(err) == 1 {
		status.opening = true
	}
	return err
}

// pass is what one walk over a list, or over what an updatedSince link gives, has brought.
type pass struct {
	keeper
	pages    int
	fresh    int               // deals new or changed, records newly rejected
	opening  [sha256.Size]byte // of the first page's records
	observed time.Time         // of the last page
	took     time.Duration
}

// pass walks from start to the end and spools what it finds. Where the server no longer takes a cursor
// of its own, it begins again: what is already spooled does no harm.
func (j *job) pass(ctx context.Context, start string) (*pass, error) {
	began, fresh := time.Now(), 0
	for restart := 0; ; restart++ {
		p := &pass{fresh: fresh}
		err := j.walk(ctx, start, func(l *leaf) error { return j.take(p, l) })
		if err == nil {
			p.took = time.Since(began)
			return p, nil
		}
		expired := statusOf(err) == http.StatusBadRequest || statusOf(err) == http.StatusGone
		if !expired || failedPage(err) < 2 || restart >= maxRestarts {
			return nil, err
		}
		fresh = p.fresh
		j.log.Warn("the cursor is no longer taken, walking again", "error", err)
	}
}

// take spools the records of one page.
func (j *job) take(p *pass, l *leaf) error {
	p.pages = l.number
	if l.number == 1 {
		p.opening = digest(l.page.Records)
	}
	if l.observed.After(p.observed) {
		p.observed = l.observed
	}
	for _, record := range l.page.Records {
		fresh, head, err := j.spool.take(record, l.observed, l.url)
		if err != nil {
			return err
		}
		if fresh {
			p.fresh++
		}
		if head.UpdatedSince == "" || p.keep != "" {
			continue
		}
		if err := p.consider(head.UpdatedSince, func(href string) (string, error) { return j.client.origin.resolve(l.url, href) }); err != nil {
			return err
		}
	}
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

// keeper finds the link to keep in a pass: that of the newest entry that is older than the first one
// by the overlap. Whatever is updated after the first page was read is newer than its first entry, so
// following the link finds it.
type keeper struct {
	first time.Time // of the first entry that has a readable link
	keep  string    // absolute; "" until found
}

// consider looks at the next entry's link.
func (k *keeper) consider(href string, resolve func(string) (string, error)) (err error) {
	at, ok := api.UpdatedSinceTime(href)
	switch {
	case !ok:
	case k.first.IsZero():
		k.first = at
	case !at.After(k.first.Add(-overlap)):
		k.keep, err = resolve(href)
	}
	return err
}

// digest is a hash over a page's records, by which two readings of it are compared.
func digest(records [][]byte) (sum [sha256.Size]byte) {
	hash := sha256.New()
	for _, record := range records {
		hash.Write(binary.AppendUvarint(nil, uint64(len(record))))
		hash.Write(record)
	}
	hash.Sum(sum[:0])
	return sum
}
