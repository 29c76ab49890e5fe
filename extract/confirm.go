package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/schemas/api"
)

// Fate is the API's answer by id about a deal that its list does not show.
type Fate string

// The fates of a deal that a list does not show.
const (
	Standing         Fate = "standing"           // 200: the deal exists, and its payload is in the spool
	Gone             Fate = "gone"               // 404
	OutOfEntitlement Fate = "out_of_entitlement" // 403: a Free Trial account no longer sees the deal (docs/reference/api-choices.md)
)

// confirmers is the largest number of concurrent by-id requests per feed.
const confirmers = 4

// Confirm requests by id the deals that a complete snapshot lacks, and returns the fate of each. It puts deals that
// still exist into the spool. probes are deals that the list shows: by-id answers are believed only if one of the
// probes answers 200. There are several because a deal may disappear between list and request. Without probes this
// check is left out. A status other than 200, 403 and 404 is an error for the feed. The caller decides whether to
// confirm, and what follows from a fate.
func (c *Client) Confirm(ctx context.Context, feed api.Feed, ids, probes []int64, spool *Spool) (map[int64]Fate, error) {
	j := c.job(feed, "confirm")
	j.spool = spool
	fates := make(map[int64]Fate, len(ids))
	if len(ids) == 0 {
		return fates, nil
	}
	if err := j.checkProbes(ctx, probes); err != nil {
		return nil, fmt.Errorf("%s: %w", feed, err)
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(confirmers)
	for _, id := range ids {
		group.Go(func() error {
			fate, err := j.requestByID(ctx, id, spool)
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

// checkProbes requests listed deals until one answers 200. It fails if none does.
func (j *job) checkProbes(ctx context.Context, probes []int64) error {
	var said []string
	for _, id := range probes {
		fate, err := j.requestByID(ctx, id, nil)
		if err != nil {
			return fmt.Errorf("probe deal %d: %w", id, err)
		}
		if fate == Standing {
			return nil
		}
		said = append(said, fmt.Sprintf("deal %d is %s", id, fate))
	}
	if said == nil {
		return nil
	}
	return fmt.Errorf("the list shows deals of which the API says otherwise by id (%s): by-id answers cannot be believed", strings.Join(said, ", "))
}

// namelessAnswers is how many answers without an id are taken for the deal's own record. Such a record cannot be read,
// but the deal exists.
const namelessAnswers = 3

// requestByID gets one deal by id and puts it into the spool. If into is nil, it only returns the fate.
func (j *job) requestByID(ctx context.Context, id int64, into *Spool) (Fate, error) {
	link := j.client.cfg.Base.String() + j.feed.DealPath(id)
	nameless := 0
	answer, err := j.get(ctx, link, func(body []byte) error {
		head, err := api.ReadHead(body, j.feed)
		var reject *api.Reject
		switch {
		case errors.As(err, &reject) && (reject.Reason == api.RejectInvalidJSON || reject.Reason == api.RejectNotObject):
			return err // an answer cut short, or a page of some proxy
		case head.HasID && head.ID != id:
			return fmt.Errorf("it is about another deal, %d", head.ID)
		case head.HasID:
			return nil
		}
		if nameless++; nameless < namelessAnswers {
			return err
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
	if into == nil {
		return Standing, nil
	}
	observed, err := j.client.observed(answer)
	if err != nil {
		return "", fmt.Errorf("GET %s: %w", link, err)
	}
	err = into.putAnswer(bytes.TrimSpace(answer.body.Bytes()), id, observed, link)
	j.progress(0, "")
	return Standing, err
}

// putAnswer spools the answer to a request by id. If the record has no readable id, the requested id is used.
func (s *Spool) putAnswer(record []byte, id int64, observed time.Time, url string) error {
	head, err := api.ReadHead(record, s.feed)
	var reject *api.Reject
	if !head.HasID && errors.As(err, &reject) {
		_, err = s.PutReject(Rejected{Raw: record, Reject: reject, ID: id, HasID: true, ObservedAt: observed, URL: url})
		return err
	}
	_, _, err = s.putRecord(record, observed, url)
	return err
}
