package extract

import (
	"context"
	"fmt"
	"net/http"

	"dealflow/schemas/api"
)

// Changes reads into the spool what a feed shows as updated since a saved link, which is Snapshot.UpdatedSince of the
// last reading. The spool should be empty. If since is "" (bond expected lists; a list that has offered no link yet),
// Changes reads the complete list. It is one scan and proves no completeness: the next call finds what changes during
// this one. A deal that is absent may still exist.
//
// The returned UpdatedSince is the link for the next call, chosen as in a snapshot, or since itself if no entry is old
// enough.
//
// Errors are those of Snapshot, except *UnsettledError. If the server no longer accepts the link, the error wraps a
// *StatusError and says what to do. A link out of the API's address is a *LinkError.
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
		if start, err = j.client.origin.absolute(since); err == nil {
			err = j.checkList(start)
		}
		if err != nil {
			return fmt.Errorf("saved updatedSince link: %w", err)
		}
	}
	p, err := j.scan(ctx, start)
	switch {
	case err != nil && since != "":
		return explainStale(err)
	case err != nil:
		return j.describe(err)
	}
	s.LastObserved = p.observed
	// An update after page one was read is newer than page one's first entry, and so newer than the
	// kept link: the next reading finds it. If no entry is old enough for a link, we keep since. It is
	// older than all that was read: the next reading finds later updates, and these entries again.
	if s.UpdatedSince = j.linkAfter(p, since); s.UpdatedSince != since {
		s.UpdatedSince = j.relative(s.UpdatedSince)
	}
	return nil
}

// explainStale adds what to do if the server no longer accepts a saved link.
func explainStale(err error) error {
	if failedPage(err) != 1 {
		return err
	}
	switch statusOf(err) {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusGone:
		return fmt.Errorf("saved updatedSince link: the server no longer accepts it; run `dealflow run`, which saves a new one: %w", err)
	}
	return err
}
