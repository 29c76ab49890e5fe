package extract

import (
	"context"
	"fmt"
	"net/http"

	"dealflow/schemas/api"
)

// Changes reads into the spool, which should be empty, what a feed shows as updated since a saved link:
// Snapshot.UpdatedSince of the last reading. since == "" (bond expected lists; a list that has offered
// no link yet) reads the whole list. It is one pass, not a proof of completeness: what moves while it
// reads is found by the next one, and absence says nothing.
//
// The UpdatedSince that it gives is the link for the next call, by the same rule as in a snapshot, or
// since itself where no entry is old enough.
//
// Errors are those of Snapshot, without *UnsettledError. A link that the server no longer takes is a
// *StatusError in an error that says what to do; one that leaves the API's address is a *LinkError.
func (c *Client) Changes(ctx context.Context, feed api.Feed, since string, spool *Spool) (Snapshot, error) {
	return c.extract(ctx, feed, "changes", spool, func(j *job, ctx context.Context, s *Snapshot) error {
		return j.changes(ctx, since, s)
	})
}

func (j *job) changes(ctx context.Context, since string, s *Snapshot) error {
	j.round = 1
	start := j.list()
	if since != "" {
		var err error
		if start, err = j.client.origin.absolute(since); err != nil {
			return fmt.Errorf("saved updatedSince link: %w", err)
		}
	}
	p, err := j.pass(ctx, start)
	switch {
	case err != nil && since != "":
		return stale(err)
	case err != nil:
		return j.describe(err)
	}
	s.LastObserved = p.observed
	// Whatever is updated after page one was read is newer than page one's first entry, and so than the
	// kept link: the next reading finds it. Where no entry is old enough for a link, since itself is
	// older than all that was read and all that comes: the next reading finds that, and this again.
	if s.UpdatedSince = j.keep(p, since); s.UpdatedSince != since {
		s.UpdatedSince = j.relative(s.UpdatedSince)
	}
	return nil
}

// stale says what to do about a saved link that the server no longer takes.
func stale(err error) error {
	if failedPage(err) != 1 {
		return err
	}
	switch statusOf(err) {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusGone:
		return fmt.Errorf("the server no longer takes the saved updatedSince link, a nightly `dealflow run` gives a new one: %w", err)
	}
	return err
}
