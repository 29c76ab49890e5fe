package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// listPage is one page of a list. Its owner calls answer.release; page's records are then invalid.
type listPage struct {
	number   int    // 1 for the walk's first page
	url      string // as requested
	page     api.Page
	observed time.Time
	dated    time.Time // by the server's clock; observed if there is no Date header
	records  []listRecord
	answer   *answer // owns the bytes of the page's records
}

// listRecord is a record of a list, and what api.ReadRecordID says of it.
type listRecord struct {
	raw  []byte
	head api.RecordID
	err  error
}

// brokenAnswers is how many answers in a row may have broken records, different ones each time, before the last one is
// taken as it is.
const brokenAnswers = 3

// fetch gets one list page. If records in it are no JSON or no UTF-8, they may have been damaged on the way, so the page
// is requested again: until none is broken, or two answers in a row have the same broken records, which are the API's
// own then. Without that, a fault of a proxy would put sound deals into quarantine.
func (j *job) fetch(ctx context.Context, link string) (*listPage, error) {
	var before [][]byte
	for answers := 1; ; answers++ {
		l, err := j.fetchOnce(ctx, link)
		if err != nil {
			return nil, err
		}
		broken := l.broken()
		if len(broken) == 0 || answers == brokenAnswers || slices.EqualFunc(broken, before, bytes.Equal) {
			j.tally.pages.Add(1)
			j.log.Debug("page", "url", link, "records", len(l.records), "bytes", l.answer.body.Len())
			return l, nil
		}
		before = nil
		for _, record := range broken {
			before = append(before, bytes.Clone(record))
		}
		l.answer.release()
		j.tally.retries.Add(1)
		j.log.Info("page with broken records is requested again", "url", link, "broken", len(broken))
	}
}

// broken returns the records that may have been damaged on the way.
func (l *listPage) broken() (records [][]byte) {
	for i := range l.records {
		var reject *api.Reject
		if errors.As(l.records[i].err, &reject) && (reject.Reason == api.RejectInvalidJSON || reject.Reason == api.RejectInvalidUTF8) {
			records = append(records, l.records[i].raw)
		}
	}
	return records
}

// fetchOnce gets one list page and reads the heads of its records.
func (j *job) fetchOnce(ctx context.Context, link string) (*listPage, error) {
	var page api.Page
	answer, err := j.get(ctx, link, func(body []byte) (err error) {
		page, err = api.SplitPage(body, j.feed)
		return err
	})
	if err != nil {
		return nil, err
	}
	observed, err := j.client.observed(answer)
	if err != nil {
		answer.release()
		return nil, fmt.Errorf("GET %s: %w", link, err)
	}
	dated, err := answer.date()
	if err != nil {
		dated = observed
	}
	records := make([]listRecord, len(page.Records))
	for i, raw := range page.Records {
		head, err := api.ReadRecordID(raw, j.feed)
		records[i] = listRecord{raw: raw, head: head, err: err}
	}
	return &listPage{url: link, page: page, observed: observed, dated: dated, records: records, answer: answer}, nil
}

// get sends a GET request with the token and returns the answer. If check rejects the body, the response counts as
// corrupted in transit and the request is retried.
//
// After a 401 the request is sent again with a new token: at once after the first, because a token may end at any time,
// and then as after any other failure. If no token of this client was ever accepted, the last 401 is an *AuthError.
func (j *job) get(ctx context.Context, link string, check func(body []byte) error) (got *answer, err error) {
	stale, need := "", int64(0)
	err = j.repeat(ctx, "GET "+link, func(ctx context.Context) error {
		token, err := j.client.tokens.get(ctx, stale)
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
		if err != nil {
			return &LinkError{Link: link, Reason: "not a valid URL for a request"}
		}
		token.SetAuthHeader(request)
		a, err := j.send(ctx, request, &need)
		if err != nil {
			return err
		}
		j.client.tokens.record(a.status)
		if err := j.classifyResponse(request, a); err != nil {
			a.release()
			if a.status == http.StatusUnauthorized {
				err = &retryable{err: err, free: stale == ""}
				stale = token.AccessToken
			}
			return err
		}
		if err := check(a.body.Bytes()); err != nil {
			a.release()
			return &retryable{err: fmt.Errorf("GET %s: the response is not valid: %w", link, err)}
		}
		got = a
		return nil
	})
	if statusOf(err) == http.StatusUnauthorized {
		err = j.client.tokens.refuse(ctx, err)
	}
	return got, err
}

// classifyResponse returns nil for 200, a *retryable with a *StatusError if a retry may help, and the *StatusError
// itself if not. schemas/api/openapi.yaml documents the statuses.
func (j *job) classifyResponse(request *http.Request, a *answer) error {
	if a.status == http.StatusOK {
		return nil
	}
	status := &StatusError{Op: request.Method, URL: request.URL.String(), Status: a.status}
	status.ErrorID, status.Message = j.client.explanation(a.body.Bytes())
	status.form = api.ErrorFormOf(a.header.Get("Content-Type"), a.body.Bytes())
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	status.isHTML = media == "text/html"
	after, ordered := retryAfter(a.header)
	status.RetryAfter = after
	switch {
	case a.status == http.StatusTooManyRequests, a.status == http.StatusServiceUnavailable && ordered:
		return &retryable{err: status, hold: true, after: after, ordered: ordered, slower: a.status == http.StatusTooManyRequests}
	case a.status >= http.StatusInternalServerError, a.status == http.StatusRequestTimeout:
		return &retryable{err: status}
	case (a.status == http.StatusForbidden || a.status == http.StatusNotFound) && (a.cut || api.IsDamagedJSON(a.header.Get("Content-Type"), a.body.Bytes())):
		return &retryable{err: status} // only a complete body says whether the answer is the API's own
	case status.maybeProxy():
		status.Hint = "the answer has not the form of the API's errors, so it may be that of a proxy or a firewall on the way"
	case a.status == http.StatusForbidden:
		status.Hint = "the account is not entitled to see it"
	}
	return status
}

// explanation reads errorId and message from an error's body, in the API's form or in OAuth's.
func (c *Client) explanation(body []byte) (id, message string) {
	var said struct {
		api.ErrorBody
		OAuth       string `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(body, &said) != nil {
		return "", ""
	}
	message = said.Message
	if message == "" {
		message = strings.TrimSpace(said.OAuth + " " + said.Description)
	}
	return c.redact(said.ErrorID), c.redact(message)
}

// withPageSize adds pageSize to the address of a walk's first page, without re-encoding the rest of it.
func (j *job) withPageSize(link string) string {
	c := j.client
	c.mu.Lock()
	sizeless := c.sizeless[j.feed]
	c.mu.Unlock()
	if sizeless || c.cfg.PageSize < 0 || strings.Contains(link, "pageSize=") {
		return link
	}
	separator := "?"
	if strings.Contains(link, "?") {
		separator = "&"
	}
	return link + separator + "pageSize=" + strconv.Itoa(c.cfg.PageSize)
}

// fetchFirst gets a walk's first page, with the configured page size if the server accepts it.
func (j *job) fetchFirst(ctx context.Context, link string) (*listPage, error) {
	wished := j.withPageSize(link)
	first, err := j.fetch(ctx, wished)
	if wished == link || statusOf(err) != http.StatusBadRequest {
		return first, err
	}
	first, plainErr := j.fetch(ctx, link)
	if plainErr != nil {
		return nil, plainErr
	}
	j.log.Info("the server does not accept pageSize; continuing without it", "url", wished)
	j.client.mu.Lock()
	j.client.sizeless[j.feed] = true
	j.client.mu.Unlock()
	return first, nil
}

// refusal returns the API's response to a GET request that err wraps. It returns nil for any other error, such as one
// about the token.
func refusal(err error) *StatusError {
	var denied *AuthError
	var status *StatusError
	if errors.As(err, &denied) || !errors.As(err, &status) || status.Op != http.MethodGet {
		return nil
	}
	return status
}

// statusOf returns the HTTP status of the response that refusal finds; 0 if there is none.
func statusOf(err error) int {
	if status := refusal(err); status != nil {
		return status.Status
	}
	return 0
}
