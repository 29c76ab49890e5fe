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
	// maxWalks is the largest number of walks of a list without updatedSince links.
	maxWalks = 5
	// changedMargin is how far before the first walk the sweeps of such a list begin. The instants of changes may come
	// from another clock than the Date header, and a change may become visible after its instant. A few more deals cost
	// nothing.
	changedMargin = 5 * time.Minute
)

// Snapshot describes a completed reading of a feed. The payloads are in the spool.
type Snapshot struct {
	Counts
	Feed         api.Feed
	Deals        int       // deals in the spool
	UpdatedSince string    // link from which a later sync continues, relative to the base if it is under the base; "" if the list offers none
	LastObserved time.Time // latest instant of observation, UTC
}

// Snapshot reads a feed into the spool, which should be empty, and returns after it is proved complete.
// docs/explanation/extraction.md has the argument. A list changes during a walk: a deal that is updated moves to the front, and the
// walk misses it. So, for lists in order of update, we keep the updatedSince link of an entry of the first page and
// sweep from it after the walk, again and again, until a sweep finds nothing new. Lists without such links are walked
// again until nothing is new. Bond expected lists that are still changing after maxWalks walks are then asked for their
// changes since the first walk. A list of one page is complete at once. New means what Spool.Put calls fresh.
//
// Errors name the feed, page and URL. IsForbiddenOrMissing detects a feed that is not part of the account.
// *UnsettledError means a list that changes too fast, *AuthError refused credentials. After an error the spool's
// content proves nothing.
func (c *Client) Snapshot(ctx context.Context, feed api.Feed, spool *Spool) (Snapshot, error) {
	return c.extract(ctx, feed, "walk", spool, (*job).snapshot)
}

// extract reads a feed with the function read, and fills in the rest of the Snapshot.
func (c *Client) extract(ctx context.Context, feed api.Feed, phase string, spool *Spool, read func(*job, context.Context, *Snapshot) error) (Snapshot, error) {
	if spool.Feed() != feed {
		return Snapshot{}, fmt.Errorf("%s: got a spool for %s, want one for the feed itself", feed, spool.Feed())
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
	j.log.Info("feed read", "phase", phase, "deals", s.Deals, "pages", s.Pages, "sweeps", s.Sweeps, "requests", s.Requests, "bytes", s.Bytes)
	return s, nil
}

func (j *job) list() string { return j.client.cfg.Base.String() + j.feed.Path() }

func (j *job) relative(link string) string { return j.client.cfg.Base.Relative(link) }

// snapshot repeats walks and sweeps until one proves that the spool contains the list.
func (j *job) snapshot(ctx context.Context, s *Snapshot) error {
	last := 1 + j.client.cfg.MaxSweeps
	if !j.feed.HasUpdatedSince() {
		last = maxWalks + j.client.cfg.MaxSweeps
	}
	began := time.Time{} // of the first walk, by the server's clock; zero if unknown
	kept := ""           // the updatedSince link to sweep from; "": none yet, walk the complete list
	var before *scan
	for j.round = 1; ; j.round++ {
		start := j.start(kept, began)
		p, err := j.scan(ctx, start)
		if err != nil {
			return j.describeSweep(err, before)
		}
		s.LastObserved = latest(s.LastObserved, p.observed)
		if before == nil {
			began = p.dated
		}
		whole := j.phase == "walk"
		kept = j.linkAfter(p, kept)
		s.UpdatedSince = j.relative(kept)
		settled, err := j.isStable(ctx, start, whole, p, s)
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

// start returns the address where the round begins, and sets the phase. It is the kept link; or the list's changes
// since the first walk, for a list without links after maxWalks walks; or the beginning of the list.
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

// linkAfter returns the link to continue from after a scan: the scan's own, or else the one kept before. If a list is
// not in order of update, its links prove nothing: linkAfter returns "", and the list is walked again.
func (j *job) linkAfter(p *scan, before string) string {
	switch {
	case p.unordered:
		j.log.Warn("the list is not sorted by update, so its updatedSince links are not used")
		return ""
	case p.keep != "":
		return p.keep
	}
	return before
}

// isStable reports whether, after this scan, the spool contains the list as it was at one instant.
func (j *job) isStable(ctx context.Context, start string, whole bool, p *scan, s *Snapshot) (bool, error) {
	if whole && p.pages == 1 {
		return true, nil // the complete list came in one answer
	}
	if j.round == 1 || p.fresh > 0 {
		return false, nil
	}
	if p.pages == 1 {
		return true, nil
	}
	// Nothing new in several pages. That is a proof only if no entry moved to the front during the scan, which the
	// first page would show. But instants have whole seconds: a move in the newest entry's own second cannot be
	// seen, so that second must have passed.
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
	now := new(scan)
	if err := j.spoolPage(now, page); err != nil {
		return false, err
	}
	s.LastObserved = latest(s.LastObserved, now.observed)
	// The order proves something only for lists that are documented to be in order.
	return now.fresh == 0 && (!j.feed.HasUpdatedSince() || slices.Equal(now.opening, p.opening)), nil
}

// secondPassed reports whether the second of the newest entry was over when the scan's first page was answered. If not,
// it waits for a second, and the caller must scan again. If the server's clock has not advanced since the last wait,
// its market has not either, and the result is true.
func (j *job) secondPassed(ctx context.Context, p *scan) (bool, error) {
	if p.dated.IsZero() || p.dated.After(p.first) || p.dated.Equal(j.waitedAt) {
		return true, nil
	}
	j.waitedAt = p.dated
	return false, j.waiter(j.list())(ctx, time.Second, "the second of the newest entry must pass")
}

// describeSweep is describe, except that a refused changedFrom becomes an *UnsettledError.
func (j *job) describeSweep(err error, before *scan) error {
	if j.phase == "sweep" && !j.feed.HasUpdatedSince() && statusOf(err) == http.StatusBadRequest && failedPage(err) == 1 {
		return &UnsettledError{Feed: j.feed, Rounds: j.round - 1, Fresh: before.fresh, Took: before.took, Sweep: err}
	}
	return j.describe(err)
}

// describe adds the round to an error, and marks the answer to a feed's first request.
func (j *job) describe(err error) error {
	if j.round > 1 {
		return fmt.Errorf("%s %d: %w", j.phase, j.round, err)
	}
	if status := refusal(err); status != nil && failedPage(err) == 1 {
		status.opening = true
	}
	return err
}
