package extract

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"dealflow/schemas/api"
)

const (
	// maxWalks bounds the walks of a list that has no updatedSince link.
	maxWalks = 5
	// changedMargin is how far before the first walk the changes begin that sweeps of such a list ask
	// for: the instants of changes may come from another clock than the Date header, and a change may
	// be seen later than it is dated. A few deals more cost nothing.
	changedMargin = 5 * time.Minute
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
// (API document, List behaviour 2 to 5; the argument is in docs/explanation/extraction.md). A list moves while it is
// walked: a deal that is updated jumps ahead of the reader and is missed. So, for lists in order of
// update, the updatedSince link of an entry of the first page is kept and followed after the walk, and
// again from there, until that brings nothing new. Lists without such links are walked again until
// nothing is new; bond expected lists that have not settled then are asked for their changes since
// the first walk. A list of one page is read at once. New is what the spool calls fresh.
//
// Errors name the feed, page and URL. IsForbiddenOrMissing tells a feed that is not part of the
// account; *UnsettledError a list that moves too fast; *AuthError refused credentials. After an error
// the spool's content proves nothing.
func (c *Client) Snapshot(ctx context.Context, feed api.Feed, spool *Spool) (Snapshot, error) {
	return c.extract(ctx, feed, "walk", spool, (*job).snapshot)
}

// extract runs one way of reading a feed and says what it brought.
func (c *Client) extract(ctx context.Context, feed api.Feed, phase string, spool *Spool, read func(*job, context.Context, *Snapshot) error) (Snapshot, error) {
	if spool.Feed() != feed {
		return Snapshot{}, fmt.Errorf("%s: the spool is for %s", feed, spool.Feed())
	}
	j := c.job(feed, phase)
	j.spool = spool
	before := j.tally.counts()
	var s Snapshot
	err := read(j, ctx, &s)
	s.Feed, s.Counts, s.Deals = feed, j.tally.counts().minus(before), spool.Len()
	if err != nil {
		return s, fmt.Errorf("%s: %w", feed, err)
	}
	for _, r := range spool.Rejects() {
		if !r.HasID {
			s.Unidentified++
		}
	}
	j.log.Info("feed read", "phase", phase, "deals", s.Deals, "pages", s.Pages, "sweeps", s.Sweeps, "requests", s.Requests, "bytes", s.Bytes)
	return s, nil
}

func (j *job) list() string { return j.client.cfg.Base.String() + j.feed.Path() }

func (j *job) relative(link string) string { return j.client.cfg.Base.Relative(link) }

// snapshot goes round after round until one shows that the spool holds the list.
func (j *job) snapshot(ctx context.Context, s *Snapshot) error {
	last := 1 + j.client.cfg.MaxSweeps
	if !j.feed.HasUpdatedSince() {
		last = maxWalks + j.client.cfg.MaxSweeps
	}
	began := time.Time{} // by the server's clock, where it tells
	kept := ""           // the updatedSince link to sweep from; "": there is none yet, walk the whole list
	var before *pass
	for j.round = 1; ; j.round++ {
		start := j.start(kept, began)
		p, err := j.pass(ctx, start)
		if err != nil {
			return j.unsweepable(err, before)
		}
		s.LastObserved = latest(s.LastObserved, p.observed)
		if before == nil {
			began = p.dated
		}
		whole := j.phase == "walk"
		kept = j.keep(p, kept)
		s.UpdatedSince = j.relative(kept)
		settled, err := j.settled(ctx, start, whole, p, s)
		switch {
		case err != nil:
			return j.describe(err)
		case settled:
			return nil
		case j.round >= last:
			return &UnsettledError{Feed: j.feed, Rounds: j.round, Fresh: p.fresh, Took: p.took}
		}
		j.tally.sweeps.Add(1)
		j.log.Debug("another round", "round", j.round, "fresh", p.fresh, "kept", kept)
		before = p
	}
}

// start is where the round begins, and names its phase: at the kept link; at what has changed since the
// first walk, where a list without such links has not settled in maxWalks walks; or at the head of the
// list.
func (j *job) start(kept string, began time.Time) string {
	switch {
	case kept != "":
		j.phase = "sweep"
		return kept
	case !j.feed.HasUpdatedSince() && j.round > maxWalks:
		j.phase = "sweep"
		return j.list() + "?changedFrom=" + began.Add(-changedMargin).UTC().Format(time.RFC3339)
	}
	j.phase = "walk"
	return j.list()
}

// keep gives the link to go on from after a pass: its own, or else the one kept before. In a list that
// is not in order of update a link proves nothing: none is kept, and the list is walked again.
func (j *job) keep(p *pass, before string) string {
	switch {
	case p.rises:
		j.log.Warn("the list is not in order of update, so its updatedSince links are not used")
		return ""
	case p.keep != "":
		return p.keep
	}
	return before
}

// settled says whether, after this pass, the spool holds the list as it stood at one instant.
func (j *job) settled(ctx context.Context, start string, whole bool, p *pass, s *Snapshot) (bool, error) {
	if whole && p.pages == 1 {
		return true, nil // the whole list came in one answer
	}
	if j.round == 1 || p.fresh > 0 {
		return false, nil
	}
	if p.pages == 1 {
		return true, nil
	}
	// Nothing new in several pages: it holds if none jumped ahead meanwhile, which the first page would
	// show. But entries tell whole seconds: what jumps ahead in the newest entry's own second cannot be told
	// from it, so that second must have passed.
	if passed, err := j.secondPassed(ctx, p); err != nil || !passed {
		return false, err
	}
	j.phase = "check"
	page, err := j.fetchFirst(ctx, start)
	if err != nil {
		return false, err
	}
	defer page.answer.release()
	page.number = 1
	now := new(pass)
	if err := j.take(now, page); err != nil {
		return false, err
	}
	s.LastObserved = latest(s.LastObserved, now.observed)
	// The order says something only where it is stated.
	return now.fresh == 0 && (!j.feed.HasUpdatedSince() || slices.Equal(now.opening, p.opening)), nil
}

// secondPassed says whether the second of a pass's newest entry was over when its first page was
// answered. If not, it waits for a second, after which the caller makes another pass. A clock of the
// server that stood still meanwhile is that of a market that stands still.
func (j *job) secondPassed(ctx context.Context, p *pass) (bool, error) {
	if p.dated.IsZero() || p.dated.After(p.first) || p.dated.Equal(j.waitedAt) {
		return true, nil
	}
	j.waitedAt = p.dated
	return false, j.waiter(j.list())(ctx, time.Second, "for the list's newest second to pass")
}

// unsweepable says that a list did not settle, where a refused changedFrom is the trouble.
func (j *job) unsweepable(err error, before *pass) error {
	if j.phase == "sweep" && !j.feed.HasUpdatedSince() && statusOf(err) == http.StatusBadRequest && failedPage(err) == 1 {
		return &UnsettledError{Feed: j.feed, Rounds: j.round - 1, Fresh: before.fresh, Took: before.took, Sweep: err}
	}
	return j.describe(err)
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
