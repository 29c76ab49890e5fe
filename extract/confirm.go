package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"golang.org/x/sync/errgroup"

	"dealflow/schemas/api"
)

// Fate is what the API answers when asked by id for a deal that its list does not show.
type Fate string

// The fates of a deal that a list does not show.
const (
	Standing         Fate = "standing"           // 200: it is still there, its payload is in the spool
	Gone             Fate = "gone"               // 404
	OutOfEntitlement Fate = "out_of_entitlement" // 403: a Free Trial account no longer sees it (API document, Limits)
)

// confirmers is the number of by-id requests under way at once, per feed.
const confirmers = 4

// Confirm asks for deals by id that a complete snapshot lacks, and gives the fate of each. Deals that
// still stand go into the spool. probe is the id of a deal that the list shows: by-id answers are
// believed only if it answers 200; 0 leaves that out. An answer other than 200, 403 and 404 is an
// error for the feed. Whether to ask at all, and what follows, is the caller's to decide.
func (c *Client) Confirm(ctx context.Context, feed api.Feed, ids []int64, probe int64, spool *Spool) (map[int64]Fate, error) {
	j := c.job(feed, "confirm")
	j.spool = spool
	fates := make(map[int64]Fate, len(ids))
	if len(ids) == 0 {
		return fates, nil
	}
	if probe != 0 {
		if fate, err := j.ask(ctx, probe, nil); err != nil {
			return nil, fmt.Errorf("%s: probe deal %d: %w", feed, probe, err)
		} else if fate != Standing {
			return nil, fmt.Errorf("%s: deal %d is in the list but by id the API says %s: by-id answers cannot be believed", feed, probe, fate)
		}
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(confirmers)
	for _, id := range ids {
		group.Go(func() error {
			fate, err := j.ask(ctx, id, spool)
			if err != nil {
				return fmt.Errorf("%s: deal %d: %w", feed, id, err)
			}
			mu.Lock()
			defer mu.Unlock()
			fates[id] = fate
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return fates, nil
}

// ask gets one deal by id and spools it; into nil: it is only asked for.
func (j *job) ask(ctx context.Context, id int64, into *Spool) (Fate, error) {
	link := j.client.cfg.Base.String() + j.feed.DealPath(id)
	answer, err := j.get(ctx, link, func(body []byte) error {
		_, err := api.ReadHead(body, j.feed)
		var reject *api.Reject
		if errors.As(err, &reject) && (reject.Reason == api.RejectInvalidJSON || reject.Reason == api.RejectNotObject) {
			return err // an answer cut short, or a page of some proxy
		}
		return nil
	})
	j.tally.confirmations.Add(1)
	switch statusOf(err) {
	case http.StatusNotFound:
		return Gone, nil
	case http.StatusForbidden:
		return OutOfEntitlement, nil
	}
	if err != nil {
		return "", err
	}
	defer answer.release()
	record := bytes.TrimSpace(answer.body.Bytes())
	if head, err := api.ReadHead(record, j.feed); !head.HasID {
		return "", fmt.Errorf("GET %s: %w", link, err)
	} else if head.ID != id {
		return "", fmt.Errorf("GET %s: the answer is about another deal, %d", link, head.ID)
	}
	if into == nil {
		return Standing, nil
	}
	observed, err := j.client.observed(answer)
	if err != nil {
		return "", fmt.Errorf("GET %s: %w", link, err)
	}
	_, _, err = into.take(record, observed, link)
	j.progress(0, "")
	return Standing, err
}
