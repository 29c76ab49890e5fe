package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dealflow/schemas/api"
)

// AnswerByID is the API's answer by id about a deal that its list does not show.
type AnswerByID string

// The answers of a deal that a list does not show.
const (
	Present          AnswerByID = "standing"           // 200: the deal exists, and its payload is in the spool
	Gone             AnswerByID = "gone"               // 404
	OutOfEntitlement AnswerByID = "out_of_entitlement" // 403: a Free Trial account no longer sees the deal (docs/reference/api-choices.md)
	NoAnswer         AnswerByID = "no_answer"          // the request about a deal of Question.Again failed
)

// Question says which deals Confirm requests by id, and which deals show that the answers can be believed.
type Question struct {
	IDs   []int64 // deals that the list does not show
	Again []int64 // more of them, of which earlier runs found no evidence: a failed request about one is no error
	Shown []Shown // deals of this feed, or of others of its service
}

// Shown is deals that the list of a feed shows in this run. They are several because a deal may disappear between list
// and request.
type Shown struct {
	Feed api.Feed
	IDs  []int64
}

// Answer is what the API said about one deal.
type Answer struct {
	Says AnswerByID
	// Proved means that the answer is evidence: 200, or the API's own 404 or 403 (docs/explanation/extraction.md).
	Proved bool
}

// Confirmation is the answers to a Question, by deal.
type Confirmation struct {
	Answers  map[int64]Answer
	Believed bool // a deal that a list shows was returned by id, before the other answers and after any refusal
}

// confirmers is the largest number of concurrent by-id requests per feed.
const confirmers = 4

// Confirm requests by id the deals that a complete snapshot lacks, and returns the answer of each. It puts deals that
// still exist into the spool. A 404 or 403 is evidence only if deals that a list shows are answered with 200, before
// and after, and the body is the API's own. Without Question.Shown no refusal is evidence. A status other than 200, 403
// and 404 is an error for the feed. The caller decides whether to confirm, and what follows from an answer.
func (c *Client) Confirm(ctx context.Context, feed api.Feed, q Question, spool *Spool) (*Confirmation, error) {
	j := c.job(feed, "confirm")
	j.spool = spool
	if len(q.IDs)+len(q.Again) == 0 {
		return &Confirmation{Answers: map[int64]Answer{}}, nil
	}
	before, err := j.showsByID(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", feed, err)
	}
	replies, err := j.requestAll(ctx, q)
	if err != nil {
		return nil, err
	}
	confirmed := &Confirmation{Answers: make(map[int64]Answer, len(replies)), Believed: before}
	refused := map[int64]idReply{}
	for id, said := range replies {
		confirmed.Answers[id] = Answer{Says: said.says, Proved: said.says == Present}
		if said.says == Gone || said.says == OutOfEntitlement {
			refused[id] = said
		}
	}
	if !before || len(refused) == 0 {
		return confirmed, nil
	}
	// An API that lost its data, or that a proxy hides, may have done so since.
	if confirmed.Believed, err = j.showsByID(ctx, q); err != nil {
		return nil, fmt.Errorf("%s: %w", feed, err)
	}
	if !confirmed.Believed {
		return confirmed, nil
	}
	proved, err := j.prove(ctx, refused, func(id int64) bool {
		_, shown := spool.Entry(id)
		_, asked := replies[id]
		return shown || asked
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", feed, err)
	}
	for id := range proved {
		confirmed.Answers[id] = Answer{Says: refused[id].says, Proved: proved[id]}
	}
	return confirmed, nil
}

// requestAll requests all deals of a question.
func (j *job) requestAll(ctx context.Context, q Question) (map[int64]idReply, error) {
	replies := make(map[int64]idReply, len(q.IDs)+len(q.Again))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(confirmers)
	request := func(id int64, again bool) {
		group.Go(func() error {
			said, err := j.requestByID(ctx, id, j.spool)
			switch {
			case err != nil && again && !endsFeed(ctx, err):
				j.log.Warn("a deal without evidence was asked for again, and the request failed", "deal", id, "error", err)
				said = idReply{says: NoAnswer}
			case err != nil:
				return fmt.Errorf("%s: deal %d: %w", j.feed, id, err)
			}
			mu.Lock()
			defer mu.Unlock()
			replies[id] = said
			return nil
		})
	}
	for _, id := range q.IDs {
		request(id, false)
	}
	for _, id := range q.Again {
		request(id, true)
	}
	return replies, group.Wait()
}

// endsFeed says whether an error says nothing about the deal that was requested: the run ends, or the credentials are
// refused.
func endsFeed(ctx context.Context, err error) bool {
	var auth *AuthError
	return ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &auth)
}

// showsByID requests deals that lists show until one is answered with 200. It returns false if none is. A failed
// request is an error only if the question has deals that are asked for the first time.
func (j *job) showsByID(ctx context.Context, q Question) (bool, error) {
	for _, shown := range q.Shown {
		other := j.client.job(shown.Feed, j.phase)
		other.tally = j.tally
		for _, id := range shown.IDs {
			said, err := other.requestByID(ctx, id, nil)
			switch {
			case err != nil && len(q.IDs) == 0 && !endsFeed(ctx, err):
				return false, nil
			case err != nil:
				return false, fmt.Errorf("%s: deal %d, which the list shows: %w", shown.Feed, id, err)
			case said.says == Present:
				return true, nil
			}
			j.log.Warn("the list shows a deal, but the API says otherwise by id", "list", shown.Feed.String(), "deal", id, "answer", string(said.says))
		}
	}
	return false, nil
}

// namelessAnswers is how many answers without an id are taken for the deal's own record. Such a record cannot be read,
// but the deal exists.
const namelessAnswers = 3

// idReply is the API's answer to one request by id.
type idReply struct {
	says AnswerByID
	form api.ErrorForm // of a 404 or 403
}

// requestByID gets one deal by id and puts it into the spool. If into is nil, it only returns the answer. An answer that is no
// JSON is requested again; if it looks complete and has the same bytes twice, it is the API's own, as in a list: the deal
// exists, and its record cannot be read.
func (j *job) requestByID(ctx context.Context, id int64, into *Spool) (idReply, error) {
	link := j.client.cfg.Base.String() + j.feed.DealPath(id)
	nameless := 0
	var broken []byte // the last answer that was no JSON and looked complete
	answer, err := j.get(ctx, link, func(body []byte) error {
		head, err := api.ReadRecordID(body, j.feed)
		var reject *api.Reject
		switch {
		case errors.As(err, &reject) && (reject.Reason == api.RejectInvalidJSON || reject.Reason == api.RejectNotObject):
			if looksComplete(body) {
				if bytes.Equal(body, broken) && (!head.HasID || head.ID == id) {
					return nil
				}
				broken = bytes.Clone(body)
			}
			return err // an answer cut short, or a page of some proxy
		case head.HasID && head.ID != id:
			return fmt.Errorf("got deal %d, want deal %d", head.ID, id)
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
		return idReply{says: Gone, form: refusal(err).form}, nil
	case http.StatusForbidden:
		return idReply{says: OutOfEntitlement, form: refusal(err).form}, nil
	}
	if err != nil {
		return idReply{}, err
	}
	defer answer.release()
	if into == nil {
		return idReply{says: Present}, nil
	}
	observed, err := j.client.observed(answer)
	if err != nil {
		return idReply{}, fmt.Errorf("GET %s: %w", link, err)
	}
	err = into.putAnswer(bytes.TrimSpace(answer.body.Bytes()), id, observed, link)
	j.progress(0, "")
	return idReply{says: Present}, err
}

// looksComplete says whether an answer that is no JSON begins and ends as an object does.
func looksComplete(body []byte) bool {
	body = bytes.TrimSpace(body)
	return bytes.HasPrefix(body, []byte("{")) && bytes.HasSuffix(body, []byte("}"))
}

// putAnswer spools the answer to a request by id. If the record has no readable id, the requested id is used.
func (s *Spool) putAnswer(record []byte, id int64, observed time.Time, url string) error {
	head, err := api.ReadRecordID(record, s.feed)
	var reject *api.Reject
	if !head.HasID && errors.As(err, &reject) {
		_, err = s.PutReject(Rejected{Raw: record, Reject: reject, ID: id, HasID: true, ObservedAt: observed, URL: url})
		return err
	}
	_, err = s.putRecord(listRecord{raw: record, head: head, err: err}, observed, url)
	return err
}
